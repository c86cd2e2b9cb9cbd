"""Clauses on tools and their results: errors, paths that are about to change, calls of other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from deia.records import Turn
from deia.watch.clauses.confirm import MOST_MATCHES, confirm, written_paths
from deia.watch.turn.parsed_turn import Reading

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.watch.conftest import Build, Fires, Make


def used(tool: str, **given: Any) -> Turn:
    return Turn(role="tool_call", text="", tool=tool, tool_input=given)


def result(text: str, *, tool: str = "Bash", command: str = "", failed: bool = False) -> Turn:
    return Turn(
        role="tool_result", text=text, tool=tool, failed=failed, tool_input={"command": command} if command else None
    )


@pytest.mark.parametrize(
    ("turn", "fired"),
    [
        (result("Error: no space left on device"), True),
        (result("write: No space left on device", failed=True), True),
        (result("OSError: [Errno 28] No space left on device: '/tmp'"), True),
        (result("there is no space left on this page"), False),
        (result("no space is left. Error."), False),
        (result("Error: no space left", tool="Read"), False),
        (result("Error: no space left", command="cat notes.md"), False),
        (result("Error: no space left", command="cat notes.md | ./run"), True),
        (result("Error: no space left", tool="Read", failed=True), True),
        (Turn(role="user", text="I get `Error: no space left on device`"), True),
        (Turn(role="user", text='what does "no space left" mean?'), False),
        (Turn(role="assistant", text="Error: no space left on device"), False),
    ],
)
def test_an_error_counts_where_it_happened(make: Make, fires: Fires, turn: Turn, *, fired: bool) -> None:
    assert fires(make(("error", "no space left"), who=("tool_result",)), turn) is fired


@pytest.mark.parametrize(
    ("turn", "fired"),
    [
        (used("Write", file_path="/srv/app/.env", content="A=1"), True),
        (used("Edit", file_path=".env.production", old_string="a", new_string="b"), True),
        (used("Read", file_path="/srv/app/.env"), False),
        (used("Write", file_path="/srv/notes.md", content="put it in .env"), False),
        (used("apply_patch", input="*** Begin Patch\n*** Update File: app/.env\n@@\n+A=1"), True),
        (used("apply_patch", input="*** Begin Patch\n*** Update File: app/a.py\n@@\n+open('.env')"), False),
        (used("Bash", command="echo A=1 >> .env"), True),
        (used("Bash", command="sudo tee .env < x"), True),
        (used("Bash", command="cd app && rm -f .env"), True),
        (used("Bash", command="sed -i s/a/b/ .env"), True),
        (used("Bash", command="cat .env"), False),
        (used("Bash", command="cat < .env"), False),
        (used("Bash", command="git commit -m 'remove .env'"), False),
        (used("Write", file_path=7), False),
        (used("Write"), False),
    ],
)
def test_a_path_counts_when_it_is_about_to_change(make: Make, fires: Fires, turn: Turn, *, fired: bool) -> None:
    assert fires(make(("write", (".env*",))), turn) is fired


def test_no_path_is_written_by_somebody_who_speaks() -> None:
    assert list(written_paths(Reading(Turn(role="user", text="rm .env")))) == []


@pytest.mark.parametrize(
    ("turn", "fired"),
    [
        (used("mcp__db__drop_table", table="users"), True),
        (used("MCP__db__drop_all", table="USERS"), False),
        (used("mcp__db__drop_table", table="staging"), False),
        (used("mcp__db__drop_table"), False),
        (used("mcp__db__drop_table", table=["users"]), False),
        (used("db_drop", table="users"), False),
        (Turn(role="user", text="mcp__db__drop_table users"), False),
    ],
)
def test_a_tool_counts_by_its_name_and_input(make: Make, fires: Fires, turn: Turn, *, fired: bool) -> None:
    assert fires(make(("tool", {"name": "mcp__*__drop_*", "input": {"table": "user*"}})), turn) is fired


@pytest.mark.parametrize(
    ("said", "fired"),
    [
        ("we take the nuclear option now", True),
        ("NUCLEAR option", True),
        ("nuclear options", False),
        ("don't take the nuclear option. I'll take the nuclear option.", True),
        ("don't take the nuclear option", False),
        ("a" * 590 + " nuclear option", True),
        ("> nuclear option", False),
        ("```\nnuclear option\n```", False),
    ],
)
def test_a_pattern_is_searched_in_what_is_said(make: Make, fires: Fires, said: str, *, fired: bool) -> None:
    assert fires(make(("pattern", r"\bnuclear option\b")), said) is fired


def test_a_pattern_is_searched_in_commands_but_not_in_their_data(
    make: Make, fires: Fires, call: Callable[[str], Turn]
) -> None:
    trigger = make(("pattern", r"DROP\s+TABLE"))
    assert fires(trigger, call("psql -c 'drop table users'"))
    assert not fires(trigger, call("git commit -m 'drop table users'"))
    assert not fires(trigger, call("echo drop table users"))


def test_all_clauses_must_hold_and_one_of_any(make: Make, fires: Fires, call: Callable[[str], Turn]) -> None:
    trigger = make(("pattern", r"\bdrop\b"), ("pattern", r"\btruncate\b"), all=[("command", "psql")])
    assert fires(trigger, call("psql -c 'truncate users'"))
    assert not fires(trigger, call("psql -c 'select 1'"))
    assert not fires(trigger, call("mysql -e 'drop table users'"))


def test_the_old_form_needs_all_words_or_one_of_the_others(make: Make, fires: Fires) -> None:
    trigger = make(("words", {"all": ["netlify", "rebuild"], "any": ["start over"]}))
    assert fires(trigger, "we rebuild everything on Netlify")
    assert fires(trigger, "let's start over")
    assert not fires(trigger, "we rebuild everything")


def test_a_clause_gives_a_bounded_number_of_matches(make: Make, build: Build) -> None:
    artefact = build(make(("phrase", "sell shop")))
    reading = Reading(Turn(role="assistant", text="sell the shop. " * 1000))
    assert len(list(confirm(artefact.trigger(0).any[0], reading))) == MOST_MATCHES
