"""Verdicts: where a candidate stopped and why, and the order of those that fire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from deia.records import Turn
from deia.watch.memory.recall import InMemoryLog
from deia.watch.verdict.judge import Verdict
from deia.watch.watcher import Surroundings, watch

if TYPE_CHECKING:
    from deia.records import Role
    from tests.watch.conftest import Build, Make


def verdict(build: Build, trigger: Any, text: str, **around: Any) -> Verdict:
    turn = Turn(role="user", text=text)
    (one,) = watch(build(trigger), turn, InMemoryLog(), lambda: Surroundings(now=0.0, **around)).verdicts
    return one


@pytest.mark.parametrize(
    ("said", "stage", "detail"),
    [
        ("I will sell the shop", "fires", 'phrase "sell the shop" in user turn 1'),
        ("the shop sells shoes", "clause", "no clause matches"),
        ("don't sell the shop", "stance", 'phrase "sell the shop" is negated'),
        ("I will sell the shop, dry run or not", "stance", 'phrase "sell the shop" is dry run'),
        ("I will sell the shop to Ann", "unless", "'Ann' stands beside it"),
        ("I will sell the shop --later", "unless", "'--later' stands beside it"),
    ],
)
def test_each_stage_gives_its_reason(make: Make, build: Build, said: str, stage: str, detail: str) -> None:
    found = verdict(build, make(("phrase", "sell shop"), unless=("Ann", "--later", "...")), said)
    assert (found.stage, found.detail) == (stage, detail)


def test_an_unless_of_another_sentence_silences_nothing(make: Make, build: Build) -> None:
    assert (
        verdict(build, make(("phrase", "sell shop"), unless=("Ann",)), "Ask Ann. I will sell the shop.").stage
        == "fires"
    )


def test_an_unless_without_words_silences_nothing(make: Make, build: Build) -> None:
    assert verdict(build, make(("phrase", "sell shop"), unless=("…",)), "I will sell the shop").stage == "fires"


def test_a_context_is_looked_for_in_the_turn_and_then_in_the_folder(make: Make, build: Build) -> None:
    trigger = make(("phrase", "sell shop"), context=("netlify",))
    asked: list[list[str]] = []

    def folder(wanted: list[str]) -> str:
        asked.append(wanted)
        return "netlify"

    assert verdict(build, trigger, "I will sell the shop").detail == "none of netlify in sight"
    assert verdict(build, trigger, "I will sell the netlify shop", folder=folder).stage == "clause"
    assert verdict(build, trigger, "netlify. I will sell the shop", folder=folder).detail.endswith('context "netlify"')
    assert asked == []
    assert verdict(build, trigger, "I will sell the shop", folder=folder).detail.endswith(
        'context "netlify" in the folder'
    )
    assert asked == [["netlify"]]


def test_the_reason_is_one_short_line(make: Make, build: Build) -> None:
    found = verdict(
        build, make(("pattern", r"sell[^!]{0,300}shop")), "I will sell\n\x1b[2Jmy " + "very " * 40 + "old shop!"
    )
    assert found.firing is not None
    assert "\n" not in found.firing.because
    assert "\x1b" not in found.firing.because
    assert len(found.firing.because) < 160


def test_the_most_urgent_come_first_and_those_that_stopped_last(make: Make, build: Build) -> None:
    triggers = [
        make(("command", "shopctl sell"), id=urgency, urgency=urgency)
        for urgency in ("low", "critical", "medium", "high")
    ]
    stopped = make(("command", "shopctl sell"), id="a", context=("mars",))
    seen = watch(
        build(stopped, *triggers),
        Turn(role="tool_call", tool="Bash", text="shopctl sell"),
        InMemoryLog(),
        lambda: Surroundings(now=0.0),
    )
    assert [one.trigger for one in seen.verdicts] == ["critical", "high", "medium", "low", "a"]
    assert [one.trigger for one in seen.firings] == ["critical", "high", "medium", "low"]


def test_what_is_not_judged_does_not_look_around(make: Make, build: Build) -> None:
    def look() -> Surroundings:
        raise AssertionError("nobody asked")

    assert (
        watch(build(make(("phrase", "sell shop"))), Turn(role="user", text="hello"), InMemoryLog(), look).verdicts == ()
    )


@pytest.mark.parametrize(
    ("tool", "given", "action"),
    [
        ("AskUserQuestion", {"questions": [{"question": "Shall I sell the shop?"}]}, "warn"),
        ("TodoWrite", {"todos": [{"content": "Sell the shop", "status": "pending"}]}, "warn"),
        ("Task", {"prompt": "Please sell the shop."}, "warn"),
        ("mcp__shops__sell", {"description": "sell the shop"}, "hold"),
        ("Bash", {"command": "shopctl sell"}, "hold"),
    ],
)
def test_a_call_that_only_says_it_is_never_stopped(
    make: Make, build: Build, tool: str, given: dict[str, Any], action: str
) -> None:
    clauses = ("tool", {"name": "mcp__*__sell"}), ("command", "shopctl sell"), ("phrase", "sell shop")
    turn = Turn(role="tool_call", text="", tool=tool, tool_input=given)
    (firing,) = watch(build(make(*clauses, action="hold")), turn, InMemoryLog(), lambda: Surroundings(now=0.0)).firings
    assert firing.action == action


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("said", ["I'll sell the shop", "Run `shopctl sell` now", "$ shopctl sell"])
@pytest.mark.parametrize(("action", "most"), [("note", "note"), ("warn", "warn"), ("ask", "warn"), ("hold", "warn")])
def test_words_alone_are_never_held_or_asked_about(
    make: Make, build: Build, role: Role, said: str, action: str, most: str
) -> None:
    artefact = build(make(("phrase", "sell shop"), ("command", "shopctl sell"), action=action))
    (firing,) = watch(artefact, Turn(role=role, text=said), InMemoryLog(), lambda: Surroundings(now=0.0)).firings
    assert firing.action == most
