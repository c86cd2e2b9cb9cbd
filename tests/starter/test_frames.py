"""Each command that a starter trigger is written for fires only the most specific trigger.

The commands are made from the triggers' templates, with every alternative filled in.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import combinations, islice, product
from typing import TYPE_CHECKING

import pytest

from deia.records import Turn
from deia.watch.clauses.folder_signs import files_among, signs_among
from deia.watch.memory.recall import InMemoryLog
from deia.watch.watcher import Surroundings, watch
from tests.starter.starter_commons import COMMONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deia.watch.gate.artefact import Artefact

pytestmark = pytest.mark.slow

MOST_OF_ONE = 16  # alternatives of one template that are tried
PLACES = {
    "<root>": "/", "<home>": "~", "<parent>": "..", "<whole>": ".", "<repository>": ".git", "<variable>": "$X/*",
    "<outside>": "/srv/www", "<backups>": "/srv/backups", "<source>": "src",
    "<data>": "uploads", "<shared>": "${TMPDIR}", "<scratch>": "dist",
    "<found>": "{}", "<unknown>": "$D", "<other>": "notes",
}  # fmt: skip
# Pairs that speak together, and why that is meant or cannot be said in the language.
TOGETHER = {
    ("database-drop", "database-drop-production"): "a name that only looks like production",
    ("docker-prune", "docker-volumes-removed"): "all volumes of a list",
    ("env-file-overwrite", "environment-printed"): "two facts: the file is replaced, and secrets are printed into it",
    ("git-branch-force-delete", "own-backup-deleted"): "a name that begins like a backup's",
    ("git-directory-delete", "repository-folder-removed"): "./.git is also a folder's .git; one asks, one notes",
    ("git-force-push-shared", "push-straight-to-production"): "two facts: forced, and live at once",
    ("git-tag-delete", "own-backup-deleted"): "a name that begins like a backup's",
    ("helm-release-secret-deleted", "kubectl-delete-object"): "the template's star is no release",
    ("lockfile-deleted", "lockfile-hand-edit"): "deleting a file is also a way of writing it",
    ("rm-home-or-root", "secure-erase"): "two facts: everything, and past any undeletion",
    ("rm-kept-data", "secure-erase"): "two facts: kept data, and past any undeletion",
    ("rm-outside", "secure-erase"): "two facts: outside, and past any undeletion",
    ("rm-whole-source", "secure-erase"): "two facts: sources, and past any undeletion",
    ("state-lock-off", "terraform-destroy"): "two facts: the lock, and what it guards",
    ("state-lock-off", "terraform-state-surgery"): "two facts: the lock, and what it guards",
}


def written_out(template: str) -> Iterator[str]:
    """Return the commands that a template expands to."""
    parts = re.split(r"(\{[^{}]*\})", template)
    choices = [part[1:-1].split("|") if part.startswith("{") and "|" in part else [part] for part in parts]
    for chosen in islice(product(*choices), MOST_OF_ONE):
        command = "".join(chosen).replace("…", "")
        for place, example in PLACES.items():
            command = command.replace(place, example)
        yield " ".join(command.replace("*", "x").split())


def fired(artefact: Artefact, command: str) -> list[str]:
    """Return the ids of the triggers that fire on a command."""
    around = Surroundings(now=0.0, folder=signs_among(()), exists=files_among(()), bounded=False)
    turn = Turn(role="tool_call", text=command, tool="Bash", tool_input={"command": command})
    heard = watch(artefact, turn, InMemoryLog(), lambda: around)
    return sorted({verdict.trigger for verdict in heard.verdicts if verdict.stage == "fires"})


def test_a_command_is_spoken_of_once(artefact: Artefact) -> None:
    templates = {
        str(clause.value)
        for trigger in COMMONS.triggers
        for clause in (*trigger.any, *trigger.all)
        if clause.kind == "command"
    }
    every = {command for template in templates for command in written_out(template)}
    assert len(every) > 1_500
    pairs = defaultdict(list)
    for command in sorted(every):
        for pair in combinations(fired(artefact, command), 2):
            pairs[pair].append(command)
    assert {pair: commands[:3] for pair, commands in pairs.items() if pair not in TOGETHER} == {}
    assert set(TOGETHER) - set(pairs) == set(), "these no longer speak together; take them out of the table"


@pytest.mark.parametrize(
    ("command", "trigger"),
    [
        ("kubectl drain node-3 --ignore-daemonsets", "kubernetes-node-drained"),
        ("kubectl drain node-3 --ignore-daemonsets --force", "kubernetes-drain-forced"),
        ("gh api -X DELETE repos/acme/shop/branches/main/protection", "branch-protection-deleted"),
        ("gh issue close 15", "hosted-record-change"),
        ("gcloud storage buckets delete gs://shop-assets", "s3-bucket-delete"),
        ("az vm delete -n vm1", "cloud-stack-destroy"),
        ("az cosmosdb sql database delete -n a", "managed-database-delete"),
        ("gcloud dns record-sets delete www.example.com. --type=A --zone=main", "dns-record-change"),
        ("kubectl -n shop delete secret/sh.helm.release.v1.web.v42", "helm-release-secret-deleted"),
        ("sudo ufw allow 6379", "service-open-to-all"),
        ("aws iam delete-user --user-name sam", "identity-deleted"),
        ("git branch -D backup/main-before-rebase", "own-backup-deleted"),
        ("vercel env pull .env.local --environment=production", "env-pull-overwrites"),
    ],
)
def test_the_most_exact_trigger_speaks_alone(artefact: Artefact, command: str, trigger: str) -> None:
    assert fired(artefact, command) == [trigger]
