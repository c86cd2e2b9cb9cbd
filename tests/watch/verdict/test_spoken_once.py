"""One trigger a sentence, the best; and a long text that comes again brings up nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.records import Turn
from deia.watch.memory.log import RESET, LogEntry, log_line
from deia.watch.memory.recall import InMemoryLog
from deia.watch.watcher import Surroundings, watch

if TYPE_CHECKING:
    from collections.abc import Callable

    from deia.watch.gate.artefact import Artefact
    from tests.watch.conftest import Build, Make

SAID = "I'll sell the whole shop."
PLAN = f"{SAID} {'Then we go on with something else. ' * 8}"


def fired(artefact: Artefact, *turns: Turn) -> list[list[str]]:
    log, around = InMemoryLog(), Surroundings(now=0.0)
    return [[one.trigger for one in watch(artefact, turn, log, lambda: around).firings] for turn in turns]


def assistant(text: str) -> Turn:
    return Turn(role="assistant", text=text)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"urgency": "critical"}, {"urgency": "high", "action": "hold"}),
        ({"action": "warn"}, {"action": "note"}),
        ({"any": "sell whole shop"}, {"any": "sell"}),
    ],
)
def test_the_best_speaks_for_its_sentence(
    make: Make, build: Build, better: dict[str, str], worse: dict[str, str]
) -> None:
    triggers = []
    for name, fields in (("a-worse", worse), ("better", better)):
        phrase = fields.get("any", "sell whole shop")
        triggers.append(make(("phrase", phrase), id=name, **{key: fields[key] for key in fields if key != "any"}))
    artefact = build(*triggers)
    assert fired(artefact, assistant(SAID)) == [["better"]]
    (verdict,) = [
        one
        for one in watch(artefact, assistant(SAID), InMemoryLog(), lambda: Surroundings(now=0.0)).verdicts
        if one.trigger == "a-worse"
    ]
    assert (verdict.stage, verdict.detail) == ("sentence", "better speaks for it")


def test_a_trigger_that_was_outdone_still_speaks_of_the_call_and_of_nothing_else(
    make: Make, build: Build, call: Callable[[str], Turn]
) -> None:
    worse = make(("phrase", "sell shop"), ("command", "shopctl sell"), id="worse", urgency="medium")
    artefact = build(make(("phrase", "sell whole shop"), id="better"), worse)
    turns = assistant(SAID), assistant("I'll sell the shop."), call("shopctl sell")
    assert fired(artefact, *turns) == [["better"], [], ["worse"]]


def test_another_sentence_and_a_call_have_triggers_of_their_own(
    make: Make, build: Build, call: Callable[[str], Turn]
) -> None:
    shop = make(("phrase", "sell shop"), ("command", "shopctl sell"), id="shop")
    all_of_it = make(("phrase", "sell whole shop"), ("phrase", "burn barn"), ("command", "shopctl …"), id="whole")
    artefact = build(shop, all_of_it)
    assert fired(artefact, assistant("I'll sell my shop. I'll burn the barn.")) == [["shop", "whole"]]
    assert fired(artefact, call("shopctl sell")) == [["shop", "whole"]]


def test_a_case_tests_its_own_trigger_alone(make: Make, build: Build) -> None:
    artefact = build(make(("phrase", "sell shop"), id="a"), make(("phrase", "sell shop"), id="b"))
    found = watch(artefact, assistant(SAID), InMemoryLog(), lambda: Surroundings(now=0.0, bounded=False)).firings
    assert [one.trigger for one in found] == ["a", "b"]


def test_a_long_text_that_comes_again_brings_up_nothing_even_after_a_compaction(make: Make, build: Build) -> None:
    artefact = build(make(("phrase", "sell … shop"), repeat=0.0))
    assert fired(artefact, assistant(PLAN), assistant(PLAN), assistant(f"{PLAN} Now.")) == [["t"], [], ["t"]]
    assert fired(artefact, assistant(SAID), assistant(SAID)) == [["t"], ["t"]], "a short one may be meant again"
    log = InMemoryLog()
    watch(artefact, assistant(PLAN), log, lambda: Surroundings(now=0.0))
    log.append(log_line(LogEntry(event=RESET)))
    assert not watch(artefact, assistant(PLAN), log, lambda: Surroundings(now=0.0)).firings


def test_the_same_order_to_two_sub_agents_is_told_of_once(make: Make, build: Build) -> None:
    artefact = build(make(("phrase", "sell … shop"), repeat=0.0))
    order = Turn(role="tool_call", text="", tool="Task", tool_input={"prompt": PLAN})
    assert fired(artefact, order, order) == [["t"], []]
