"""A replay fires what live watching fires, turn by turn, and counts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.triggers.statements import ALWAYS
from deia.knowledge import Clause, Earlier
from deia.records import Turn
from deia.watch.authoring.replay import Count, Example, PlacedTurn, Replay, Tally, replay
from deia.watch.memory.recall import InMemoryLog
from deia.watch.watcher import Surroundings, watch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.firing import Firing
    from deia.watch.gate.artefact import Artefact
    from tests.watch.conftest import Build, Make

SAYINGS = (
    "I'll delete the site now", "don't delete the site", "we use netlify here", "let me rename the project", "hello",
    "should we remove the site?", "```\ndelete the site\n```", "I will delete the site on netlify",
    "we have a code freeze", "the freeze is over", "I'll wipe it", "we're on the production box",
)  # fmt: skip
ANSWERS = ("yes", "no", "go ahead")  # of a person
LISTS = ("- delete the site", "- delete the site\n- remove the other site")
FREEZE = Earlier(
    any=(Clause(kind="phrase", value="code freeze"),), until=(Clause(kind="phrase", value="freeze … over"),)
)
QUESTION = "I'll delete the site now. Ok?"
COMMANDS = ("shopctl site:delete x", "shopctl site:delete y", "echo shopctl site:delete", "ls")


def turn_of(said: str) -> Turn:
    if said in COMMANDS:
        return Turn(role="tool_call", text=said, tool="Bash", tool_input={"command": said})
    if said in ANSWERS:
        return Turn(role="user", text=said)
    if said.startswith("- "):
        tasks = [{"content": one, "status": "pending"} for one in said.split("\n")]
        return Turn(role="tool_call", text="", tool="TodoWrite", tool_input={"todos": tasks})
    return Turn(role="assistant", text=said)


@pytest.fixture(scope="module")
def artefact(make: Make, build: Build) -> Artefact:
    return build(
        make(("phrase", "{delete|remove} … site"), id="often", repeat=0.0, action="warn"),
        make(("phrase", "delete … site"), id="once", action="warn", urgency="critical"),
        make(("phrase", "rename … project"), id="there", context=("netlify",)),
        make(("command", "shopctl site:delete"), id="held", action="hold"),
        make(("command", "shopctl site:delete"), id="held-always", action="hold", repeat=0.0),
        make(("command", "shopctl site:delete"), id="later", repeat=0.0, earlier=FREEZE),
        make(("phrase", "wipe {site|project|<it>}"), id="pointing", repeat=0.0),
        marks=ALWAYS,
    )


def live(artefact: Artefact, turns: Sequence[Turn]) -> list[tuple[str, ...]]:
    return [tuple(one.trigger for one in firings) for firings in live_firings(artefact, turns)]


def live_firings(artefact: Artefact, turns: Sequence[Turn]) -> list[tuple[Firing, ...]]:
    log = InMemoryLog()
    around = Surroundings(now=0.0)
    return [watch(artefact, turn, log, lambda: around).firings for turn in turns]


@given(st.lists(st.sampled_from([*SAYINGS, QUESTION, *COMMANDS, *ANSWERS, *LISTS]), max_size=40))
@settings(max_examples=60, deadline=None)
def test_a_replay_fires_what_watching_fires_turn_by_turn(artefact: Artefact, said: list[str]) -> None:
    turns = [turn_of(text) for text in said]
    again = Replay(artefact)
    assert [again.judge(turn) for turn in turns] == live_firings(artefact, turns)


def test_the_comparison_holds_a_freeze_a_pronoun_a_yes_and_a_list(artefact: Artefact) -> None:
    said = ["we have a code freeze", COMMANDS[0], "I'll wipe it", QUESTION, "yes", COMMANDS[1], LISTS[0], LISTS[1]]
    assert live(artefact, [turn_of(text) for text in said]) == [
        (), ("held", "held-always", "later"), (), ("once",), ("once",),
        ("held", "held-always", "later"), ("often",), ("often",),
    ]  # fmt: skip


def test_every_stage_of_the_conversation_is_in_that_comparison(artefact: Artefact) -> None:
    turns = [turn_of(text) for text in (SAYINGS[0], SAYINGS[0], SAYINGS[2], SAYINGS[3], COMMANDS[0], COMMANDS[0])]
    assert live(artefact, turns) == [
        ("once",), ("often",), (), ("there",), ("held", "held-always"), (),
    ]  # fmt: skip


def placed(*texts: str) -> list[PlacedTurn]:
    return [
        PlacedTurn(turn=turn_of(text).but(index=at), order=(1, at), place=f"f:{at}") for at, text in enumerate(texts, 1)
    ]


def test_firings_are_counted_with_the_first_examples_and_where_they_are(artefact: Artefact) -> None:
    tally = Tally(1)
    replay(placed("hello", SAYINGS[0], SAYINGS[0], SAYINGS[0]), [Replay(artefact)], tally)
    assert (tally.turns, tally.after.fired) == (4, {"often": 2, "once": 1})
    (example,) = tally.after.examples["once"]
    assert (example.place, example.role, example.text) == ("f:2", "assistant", "I'll delete the site now")
    assert 'phrase "delete the site"' in example.because
    assert tally.before.fired == tally.gained.fired == tally.lost.fired == {}


def test_an_older_set_shows_what_is_new_and_what_is_gone(make: Make, build: Build) -> None:
    both = make(("phrase", "delete … site"), id="both")
    newer = build(both, make(("command", "shopctl site:delete"), id="new"))
    older = build(both, make(("phrase", "rename … project"), id="old"))
    tally = Tally(5)
    replay(placed(SAYINGS[0], COMMANDS[0], SAYINGS[3]), [Replay(newer), Replay(older)], tally)
    assert tally.after.fired == {"both": 1, "new": 1}
    assert tally.before.fired == {"both": 1, "old": 1}
    assert (tally.gained.fired, tally.lost.fired) == ({"new": 1}, {"old": 1})
    assert tally.lost.examples["old"][0].place == "f:3"


def test_merged_counts_keep_the_first_examples_whatever_the_order_of_merging() -> None:
    counts = []
    for number in (3, 1, 2):
        count = Count(2)
        count.add("t", Example(order=(number, 0), place=str(number), role="user", text="", because=""))
        counts.append(count)
    whole = Count(2)
    for count in counts:
        whole.merge(count)
    assert whole.fired == {"t": 3}
    assert [example.place for example in whole.examples["t"]] == ["1", "2"]
