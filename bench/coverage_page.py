"""What the starter commons covers, by topic, and how it did on labelled data.

    python bench/coverage_page.py [FOLDER] [--write]

Writes docs/COVERAGE.md, or prints it. The counts come from the starter itself; tests/starter/test_coverage.py checks
that they are up to date. FOLDER holds the labelled sets that bench/accuracy.py reads; without it, the measured part of
the page stays as it is.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from deia.commons.index.load_commons import load_commons
from deia.folders import STARTER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deia.commons.index.load_commons import Commons
    from deia.knowledge import Trigger

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "COVERAGE.md"
RECORD = ROOT / "tools" / "document_commands.tsv"
MEASURED = "## On labelled data\n"
ACTIONS = ("note", "warn", "ask", "hold")
FIRST = 5  # documents among which the answer must be
# The cluster that a topic of the labelled sets belongs to; what is not here is shown under its own name.
CLUSTER_OF = {
    "git_force_push": "git", "git_discard": "git", "git_history": "git", "repo_admin": "git", "rm_rf": "files",
    "db_drop": "databases", "db_write_unguarded": "databases", "deploy_prod": "hosting",
    "env_overwrite": "security", "hosting_project_delete": "hosting", "secret_exposure": "security",
    "permission_security": "security", "dependency_force": "packages", "package_publish": "packages",
    "test_disable": "agents", "live_side_effects": "agents", "encoding_windows": "files", "git": "git",
    "find": "files", "rules-rm": "files", "device": "files", "edge-cases": "files", "deferred-assignment": "files",
    "parsing-helpers": "files",
}  # fmt: skip


class Topic(NamedTuple):
    """The counts of a topic."""

    documents: int
    triggers: Sequence[Trigger]
    fires: int
    silent: int
    questions: int

    def row(self, name: str) -> str:
        """Return its row of the table."""
        actions = Counter(str(trigger.action) for trigger in self.triggers)
        counts = " | ".join(str(actions[action]) for action in ACTIONS)
        return (
            f"| {name} | {self.documents} | {len(self.triggers)} | {counts} | {self.fires} | {self.silent} | "
            f"{self.questions} |"
        )


def owners(commons: Commons) -> dict[str, str]:
    """Return the cluster that owns each document: the first that lists it as a whole."""
    return {entry.id: entry.clusters[0] for entry in commons.entries}


def by_cluster(commons: Commons) -> dict[str, Topic]:
    """Count documents, triggers, cases and questions by cluster; a trigger belongs to that of its first document."""
    owner = owners(commons)
    home = {trigger.id: owner[trigger.documents[0].id] for trigger in commons.triggers}
    found = {}
    for name in [cluster.id for cluster in commons.clusters]:
        cases = [case for case in commons.cases if home.get(case.trigger) == name]
        asked = [pattern for pattern in commons.query_patterns if owner[pattern.common_docs[0]] == name]
        found[name] = Topic(
            documents=sum(place == name for place in owner.values()),
            triggers=[trigger for trigger in commons.triggers if home[trigger.id] == name],
            fires=sum(case.fires for case in cases),
            silent=sum(not case.fires for case in cases),
            questions=sum(len(pattern.natural_language) for pattern in asked),
        )
    return found


def clauses(trigger: Trigger) -> set[str]:
    """Return the kinds of clauses of a trigger."""
    return {clause.kind for clause in (*trigger.any, *trigger.all)}


def counted(commons: Commons) -> str:
    """Return the part of the page that follows from the starter alone."""
    topics = by_cluster(commons)
    kinds = Counter(kind for trigger in commons.triggers for kind in clauses(trigger))
    platforms = Counter(name for entry in commons.entries for name in entry.platforms)
    triggers_of: Counter[str] = Counter()
    entries = {entry.id: entry for entry in commons.entries}
    for trigger in commons.triggers:
        triggers_of.update({name for each in trigger.documents for name in entries[each.id].platforms})
    every = Topic(
        documents=len(commons.entries),
        triggers=commons.triggers,
        fires=sum(case.fires for case in commons.cases),
        silent=sum(not case.fires for case in commons.cases),
        questions=sum(len(each.natural_language) for each in commons.query_patterns),
    )
    return COUNTED.format(
        topics="\n".join(topic.row(name) for name, topic in topics.items()),
        every=every.row("**all**"),
        kinds=", ".join(f"{name} in {-count}" for count, name in sorted((-kinds[name], name) for name in kinds)),
        platforms="\n".join(
            f"| {name} | {platforms[name]} | {triggers_of[name]} |"
            for name in sorted(platforms, key=lambda name: (-platforms[name], name))
        ),
        commands=commands(),
        concepts=len(commons.concepts),
    )  # fmt: skip


def commands() -> str:
    """Return what happened to the commands in the documents, from the record that tools/document_commands.py keeps."""
    rows = [line.split("\t") for line in RECORD.read_text(encoding="utf-8").splitlines()[1:]]
    counts = Counter(row[2] for row in rows)
    return (
        f"The documents contain {len(rows)} commands. {counts['ran']} ran unchanged, in a temporary folder; "
        f"{counts['refused']} were understood by their program, which lacked something there (a file, a branch); "
        f"{counts['read']} were parsed by the client of a cloud or a cluster, which knew every option and then found "
        f"neither network nor account; {counts['not run']} were not started: they need a network, another system, or "
        "rights over the machine. The last line of each document names the commands that were only parsed or not "
        "started."
    )


def measured(folder: Path) -> str:
    """Measure the starter on labelled sets and on its own questions."""
    import accuracy  # noqa: PLC0415 - beside this file when it is run; a test of the counts has no need of it

    from deia.librarian import Librarian  # noqa: PLC0415 - as above

    librarian = Librarian(STARTER, ledger=False)
    artefact = librarian.open_artefact()
    sets = (
        accuracy.commands(artefact, folder / "commands" / "command_cases.jsonl"),
        accuracy.turns(artefact, accuracy.labelled(folder, "positives.jsonl"), wanted=True, label=""),
        accuracy.turns(artefact, accuracy.labelled(folder, "hard_negatives.jsonl"), wanted=False, label=""),
    )
    totals: dict[str, Counter[str]] = {}
    named: dict[str, set[str]] = {}
    for one in sets:
        for topic, counts in one.topics.items():
            short = topic.rpartition(", ")[2]
            cluster = CLUSTER_OF.get(short, short)
            totals.setdefault(cluster, Counter()).update(counts)
            named.setdefault(cluster, set()).add(short)
    commons = load_commons(STARTER)
    found = questions(commons, librarian)
    rows = []
    for name in [cluster.id for cluster in commons.clusters]:
        counts, hits = totals.get(name, Counter()), found[name]
        rows.append(
            f"| {name} | {_of(counts['caught'], counts['missed'])} | {_of(counts['false alarm'], counts['silent'])} | "
            f"{hits['first']} | {hits['among']} of {hits['asked']} | {', '.join(sorted(named.get(name, ())))} |"
        )
    return MEASURED + TABLE + "\n".join(rows) + "\n"


def questions(commons: Commons, librarian: object) -> Mapping[str, Counter[str]]:
    """Ask every question of the index, and count at which place its document came, by cluster."""
    owner = owners(commons)
    found: dict[str, Counter[str]] = {cluster.id: Counter() for cluster in commons.clusters}
    for pattern in commons.query_patterns:
        counts = found[owner[pattern.common_docs[0]]]
        for question in pattern.natural_language:
            ids = [each.id for each in librarian.query(question, limit=FIRST).documents]  # type: ignore[attr-defined]
            counts["asked"] += 1
            counts["first"] += bool(ids) and ids[0] in pattern.common_docs
            counts["among"] += bool(set(ids) & set(pattern.common_docs))
    return found


def _of(good: int, bad: int) -> str:
    return f"{good} of {good + bad}" if good + bad else "no rows"


TABLE = """
By cluster, on the development halves of the labelled sets (described in `bench/accuracy.py`): how many of the rows that
deserve a warning were caught; how many of the others were false alarms; and for how many of the questions in the index
the right document came first, or among the first five.

| cluster | caught | false alarms | first | among five | topics of the sets |
|---|---|---|---|---|---|
"""

COUNTED = """# What the starter commons covers

Made by `python bench/coverage_page.py FOLDER --write`. The counts are taken from the starter, the measured part from
labelled sets that are not part of this project.

## By cluster

A trigger counts in the cluster of its first document. Cases are conversations in which it must fire, or stay silent.

| cluster | documents | triggers | note | warn | ask | hold | cases: fire | silent | questions |
|---|---|---|---|---|---|---|---|---|---|
{topics}
{every}

Kinds of clauses, by the triggers that have them: {kinds}.

{concepts} concepts name other words and abbreviations for one thing.

## By platform

| platform | documents | triggers that show one |
|---|---|---|
{platforms}

## Commands in the documents

{commands}

"""


def kept() -> str:
    """Return the measured part of the page as it is."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    return MEASURED + text.split(MEASURED)[1] if MEASURED in text else ""


def main() -> None:
    """Make the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    text = counted(load_commons(STARTER)) + (measured(given.folder) if given.folder else kept())
    if given.write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
