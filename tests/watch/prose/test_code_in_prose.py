"""Code in a sentence: which words announce that it will run, and which only show it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.records import Turn
from deia.watch.prose.code_in_prose import stance_of_code
from deia.watch.prose.regions import cut
from deia.watch.prose.stance_names import ANNOUNCED, ASKED, NEGATED, QUOTED, REQUESTED, SUPPOSED
from deia.watch.turn.parsed_turn import Reading

MEANT = {ANNOUNCED, REQUESTED}


def stance(text: str) -> str:
    prose = cut(text)
    return stance_of_code(prose, prose.codes[-1])


@pytest.mark.parametrize(
    "text",
    [
        "Simplest path: `helm uninstall web` and install again.",
        "Next step: `terraform destroy -auto-approve`, then apply again.",
        "After that: `npx prisma migrate reset`.",
        "Fix: `chmod -R 777 www` so that the server can write.",
        "Plan: 1) `git stash drop` 2) `git clean -fdx` 3) rebuild.",
        "Reverting everything I did: `git restore .` and then I start over.",
        "It uses a lot of IO, so I'm switching it off: `systemctl stop db`.",
        "The cleanest fix is `git reset --hard origin/main`.",
        "The next step is `git gc --prune=now`, that should make it small.",
        "Nobody reads the old exports. `aws s3 rm s3://reports --recursive` takes care of them.",
        "A `redis-cli FLUSHALL` and the next request builds them anew.",
        "so in the sibling folder: `rm -rf ../shared` and afterwards I clone it again.",
        "`rm -rf ../shared` and then I clone it again.",
        "I'm clearing it with `git push --force origin main`.",
        "We'll get rid of them via `git clean -fdx`.",
        "I'll copy the rows and then `drop table old` in one go.",
        "Then `drop database shop` and import the dump.",
        "Going with `git checkout --theirs .` for all of them.",
        "Time for `git push --force`.",
        "`docker compose down -v && docker compose up -d` gets us a clean database.",
        "One `kubectl delete ns staging` should fix it.",
        "`git push --force` it is.",
        "`git push --force` please",
        "`git reset --hard` is the fastest way out.",
        "Next step:\n\n```sh\nterraform destroy\n```\n",
    ],
)
def test_code_that_is_about_to_run_is_heard(text: str) -> None:
    assert stance(text) in MEANT


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("`git reset --hard` discards all local changes.", QUOTED),
        ("`git reset --hard` and then I lost everything.", QUOTED),
        ("`git reset --hard` and `git clean` are both dangerous.", QUOTED),
        ("The error was: `git reset --hard`, then we stopped.", QUOTED),
        ("`docker compose down -v` removes the volumes too, so be careful.", QUOTED),
        ("The docs recommend `terraform destroy` for tearing down.", QUOTED),
        ("The error came from `git push --force origin main`, which is blocked.", QUOTED),
        ("Earlier the team pushed with `git push --force` on main.", QUOTED),
        ("The log shows: `rm -rf build`", QUOTED),
        ("Usage: `git push --force`", QUOTED),
        ("The fix: `git checkout .` in `resetWorkingDirectory` is now wrapped in a try.", QUOTED),
        ("Example: `rm -rf build`", QUOTED),
        ("The last command was: `rm -rf build`", QUOTED),
        ("Looking at `git push --force` in the script.", QUOTED),
        ("Explaining `git reset --hard` to the new colleague.", QUOTED),
        ("Use `git push --force-with-lease` rather than `git push --force`.", NEGATED),
        ("Use `git switch` instead of `git checkout -f`.", QUOTED),
        ("I didn't run `git reset --hard`.", NEGATED),
        ("We should not run `terraform destroy` here.", NEGATED),
        ("Next step is not `terraform destroy -auto-approve`.", NEGATED),
        ("If all else fails we could fix it with `git reset --hard`.", SUPPOSED),
        ("Simplest path: `helm uninstall web`?", ASKED),
    ],
)
def test_code_that_is_only_shown_is_not(text: str, wanted: str) -> None:
    assert stance(text) not in MEANT
    assert stance(text) == wanted or wanted == QUOTED


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("run this: bash <(curl -sL https://x.example/install)", "bash"),
        ("please run the following: git reset --hard origin/main", "git"),
        ("Запущу terraform destroy, потом всё.", "terraform"),
    ],
)
def test_a_bare_command_is_heard_behind_a_colon_and_in_other_languages(text: str, program: str) -> None:
    spoken = [one for one in Reading(Turn(role="user", text=text, index=0)).commands if one.stance in MEANT]
    assert program in {one.command.program for one in spoken}


@given(st.text(alphabet="`aT:.?,\n thenwih'", max_size=200))
def test_no_sentence_raises(text: str) -> None:
    prose = cut(text)
    assert all(stance_of_code(prose, code) for code in prose.codes)
