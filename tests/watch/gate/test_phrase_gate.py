"""The second gate for phrases drops only turns in which no phrase clause would match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.knowledge import Clause, Earlier
from deia.records import Turn
from deia.watch.clauses.confirm import confirm
from deia.watch.gate.pattern_gate import MOST_CUT, holding
from deia.watch.gate.word_gate import candidates, wait_in_vain
from deia.watch.memory.log import LogEntry, log_line
from deia.watch.turn.parsed_turn import Reading

if TYPE_CHECKING:
    from tests.watch.conftest import Build, Make

PIECES = (
    "sell",
    "sold",
    "sell the shop",
    "shop",
    "the",
    "it",
    "now",
    ". ",
    "\n\n",
    "`sell the shop`",
    '"x y"',
    "> ",
    "```\n",
    "and then we",
)
SAID = st.lists(st.sampled_from(PIECES), min_size=2, max_size=16).map(" ".join)
PHRASES = ("sell shop", "sell … shop", "{sell|give away} {|old} shop", "shop {now|it}", "sell <shop>")


def opened(artefact: Any, turn: Turn) -> list[int]:
    return list(candidates(artefact, turn, second_gate=holding)[0])


def test_no_phrase_that_stands_in_a_turn_is_turned_away(make: Make, build: Build) -> None:
    artefact = build(*(make(("phrase", phrase), id=f"t{number}") for number, phrase in enumerate(PHRASES)))
    seen = {"stood": 0, "turned away": 0}

    @settings(max_examples=100, deadline=None)
    @given(SAID, st.sampled_from(("user", "assistant")))
    def hold(text: str, role: Any) -> None:
        turn = Turn(role=role, text=text)
        standing = [
            number
            for number in range(len(PHRASES))
            if any(True for _ in confirm(artefact.trigger(number).any[0], Reading(turn)))
        ]
        found = opened(artefact, turn)
        assert set(standing) <= set(found)
        seen["stood"] += bool(standing)
        seen["turned away"] += len(found) < len(candidates(artefact, turn)[0])

    hold()
    assert min(seen.values()) > 5, "the test would say nothing"


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("Run it and look at the shop.", False),
        ("We sold shoes. Later on somebody may walk all the way down to the old shop and look.", False),
        ("Sell the shop.", True),
        ("`sell the old shop` is what the button says", False),
        ("Open the shop, then sell.", False),
        ("shop " * (MOST_CUT // 4) + " sell", True),
    ],
    ids=["one word", "far apart", "the phrase", "in code", "other order", "too long to cut"],
)
def test_words_that_do_not_make_the_phrase_open_nothing(make: Make, build: Build, text: str, *, opens: bool) -> None:
    artefact = build(make(("phrase", "sell shop")))
    assert bool(opened(artefact, Turn(role="user", text=text))) is opens


def test_a_turn_that_is_read_anyway_is_not_looked_through_twice(make: Make, build: Build) -> None:
    artefact = build(make(("phrase", "sell shop"), id="a"), make(("pattern", "zebra"), id="b"))
    turn = Turn(role="user", text="The shop has a zebra. Nobody will ever want to know what they sell.")
    assert list(candidates(artefact, turn, second_gate=lambda *_: set())[0]) == [0, 1]


def test_a_tool_call_that_says_nothing_is_not_read_for_a_phrase(make: Make, build: Build) -> None:
    artefact = build(make(("phrase", "sell shop"), who=("assistant", "tool_call")))
    said = {"command": "echo sell the shop", "file_path": "sell/the/shop", "prompt": "Sell the shop."}
    told = {name: opened(artefact, Turn(role="tool_call", text="", tool=name, tool_input=said))
            for name in ("Bash", "Write", "Read", "Task")}  # fmt: skip
    assert told == {"Bash": [], "Write": [], "Read": [], "Task": [0]}


def test_a_tool_clause_is_asked_of_calls_with_its_name_and_fields_alone(make: Make, build: Build) -> None:
    artefact = build(make(("tool", {"name": "*Edit*", "input": {"path": "*shop*"}}), who=("tool_call",)))
    calls = [
        ("MultiEdit", {"path": "a shop b"}), ("Write", {"path": "a shop b"}), ("Edit", {"place": "a shop b"}),
        ("Edit", {}),
    ]  # fmt: skip
    found = [opened(artefact, Turn(role="tool_call", text="", tool=tool, tool_input=given)) for tool, given in calls]
    assert found == [[0], [], [], []]


def test_a_mark_that_a_tool_call_sets_is_gated_by_its_name_and_fields_too(make: Make, build: Build) -> None:
    opened_page = Earlier(any=(Clause(kind="tool", value={"name": "mcp__*__navigate", "input": {"url": "https://*"}}),))
    artefact = build(make(("command", "git push"), who=("tool_call",), earlier=opened_page))
    call = Turn(role="tool_call", text="", tool="mcp__web__navigate", tool_input={"url": "https://example.com"})
    assert opened(artefact, call) == [1]


def test_a_trigger_that_waits_for_what_nobody_said_waits_in_vain(make: Make, build: Build) -> None:
    freeze = Earlier(any=(Clause(kind="phrase", value="code freeze"),))
    calls = ("tool_call", "user")
    artefact = build(
        make(("command", "git push"), id="a", who=calls, earlier=freeze),
        make(("command", "git pull"), id="b", who=calls),
    )
    push = Turn(role="tool_call", text="git push", tool="Bash")
    assert wait_in_vain(artefact, candidates(artefact, push)[0], b"")
    said, taken_back = (log_line(LogEntry(marks={"a": text})) for text in ("code freeze", ""))
    assert not wait_in_vain(artefact, candidates(artefact, push)[0], said)
    assert wait_in_vain(artefact, candidates(artefact, push)[0], said + taken_back)
    assert wait_in_vain(artefact, candidates(artefact, push)[0], log_line(LogEntry(marks={"b": "x"})))
    assert not wait_in_vain(artefact, candidates(artefact, push.but(text="git pull && git push"))[0], b"")
    announced = Turn(role="user", text="We have a code freeze, so run `git push` in no case.")
    assert not wait_in_vain(artefact, candidates(artefact, announced)[0], b"")
