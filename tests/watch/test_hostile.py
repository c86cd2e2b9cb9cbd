"""Hostile texts for every kind of clause: all are read to the end, in time that is linear in their length."""

from __future__ import annotations

import runpy
import time
from typing import TYPE_CHECKING, Any

import pytest

from deia.records import Turn
from deia.watch.memory.recall import InMemoryLog
from deia.watch.shell.nodes import Command
from deia.watch.shell.parse import parse_commands
from deia.watch.shell.templates import has_option
from deia.watch.turn.call_print import call_print
from deia.watch.watcher import Surroundings, watch
from tests.paths import ROOT

if TYPE_CHECKING:
    from deia.watch.gate.artefact import Artefact
    from tests.watch.conftest import Build, Make

TABLE = runpy.run_path(str(ROOT / "bench" / "hostile.py"), run_name="hostile")
OPENING = "shop delete away throw. site delete. force push. table a drop. env. commit without hooks. failed it"
CASES = [(f"{kind} {name}", make) for kind, name, make in TABLE["cases"](OPENING)]
SIZE = 6_000  # characters
AGAIN = 4  # times that both are measured once more
GROWTH = 2.6  # times, each time the text is twice as long: 2 for what is linear, and room for a machine that is busy


@pytest.fixture(scope="module")
def artefact(build: Build, make: Make) -> Artefact:
    """Return a trigger of each kind of clause."""
    everybody = ("user", "assistant", "tool_call", "tool_result")
    clauses: list[tuple[str, Any]] = [
        ("phrase", "delete … {site|whole shop} … now"), ("words", {"all": ["throw", "shop", "gone"]}),
        ("error", "error … failed … at last"), ("command", "git push --force … origin"), ("command", "rm -rf <root>"),
        ("command", "sudo rm *x*"), ("pattern", r"\bcommit (?:it )?without (?:the )?hooks\b"), ("sql", ["drop table"]),
        ("sql", ["delete without where"]), ("write", [".env", "**/.env.*"]),
        ("tool", {"name": "*delete*", "input": {"question": "*gone*"}}),
    ]  # fmt: skip
    return build(*(make(clause, id=f"t{at}", who=everybody) for at, clause in enumerate(clauses)))


def seconds(artefact: Artefact, turn: Turn) -> float:
    began = time.process_time()
    watch(artefact, turn, InMemoryLog(), lambda: Surroundings(now=0.0))
    return time.process_time() - began


@pytest.mark.slow
@pytest.mark.parametrize(("name", "turn_of"), CASES, ids=[name for name, _ in CASES])
def test_four_times_the_text_takes_about_four_times_as_long(artefact: Artefact, name: str, turn_of: Any) -> None:
    short, long = turn_of(SIZE), turn_of(4 * SIZE)
    least, most = (min(seconds(artefact, turn) for _ in range(2)) for turn in (short, long))
    for _ in range(AGAIN):  # something else may have had the processor's cache both times
        if most < max(least * GROWTH**2, 0.05):
            break
        least, most = min(least, seconds(artefact, short)), min(most, seconds(artefact, long))
    assert most < max(least * GROWTH**2, 0.05)


@pytest.mark.slow
def test_ten_megabytes_end(artefact: Artefact) -> None:
    for turn in TABLE["huge_turns"](OPENING, 10_000_000).values():
        assert seconds(artefact, turn) < 20  # a tenth of it is usual; what is not linear would take hours


def test_an_option_with_a_value_is_asked_of_a_command_that_has_no_arguments() -> None:
    assert not has_option("--output=json", [])
    assert not has_option("--output=json", ["--"])
    assert Command("git").arguments == ()


def test_a_tool_input_that_is_nested_too_deep_for_its_representation_is_told_from_another(artefact: Artefact) -> None:
    deep: Any = "delete the site now"
    for _ in range(3_000):
        deep = [deep]
    turn = Turn(role="tool_call", text="", tool="Agent", tool_input={"prompt": "delete the site now", "rest": deep})
    assert call_print(turn) != call_print(turn.but(tool_input={"prompt": "delete the shop now", "rest": deep}))
    assert seconds(artefact, turn) < 5


def test_a_thousand_commands_of_a_text_are_read_and_no_more() -> None:
    assert len(parse_commands("a;" * 5_000)) == 1_000


@pytest.mark.parametrize(
    "line",
    ["echo hi;" * 1_000 + "rm -rf /", "psql shop <<'E'\n" + "insert into a values (1);\n" * 3_000 + "drop table b;\nE"],
    ids=["commands", "statements"],
)
def test_what_counts_fires_behind_more_than_is_judged(artefact: Artefact, line: str) -> None:
    turn = Turn(role="tool_call", text=line, tool="Bash", tool_input={"command": line})
    assert watch(artefact, turn, InMemoryLog(), lambda: Surroundings(now=0.0)).firings


def test_a_statement_behind_thousands_fires_in_a_tool(artefact: Artefact) -> None:
    query = "insert into a values (1);\n" * 5_000 + "drop table b;"
    turn = Turn(role="tool_call", text="", tool="mcp__shop__run_sql", tool_input={"query": query})
    assert watch(artefact, turn, InMemoryLog(), lambda: Surroundings(now=0.0)).firings
