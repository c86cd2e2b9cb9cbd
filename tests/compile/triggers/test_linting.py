"""Linting triggers: each problem is reported once, and sound triggers have none."""

from __future__ import annotations

import time
from typing import Any

import pytest

from deia.compile.triggers.build_artefact import Payload, compile_triggers
from deia.compile.triggers.linting import SLOW, killers, lint_triggers
from deia.firing import Reference
from deia.knowledge import Case, Clause, Trigger
from deia.records import Turn
from deia.settings import DEFAULTS
from deia.watch.gate.artefact import Artefact

SETTINGS = DEFAULTS.by_name()


def make(ident: str, *clauses: tuple[str, Any], **fields: Any) -> Trigger:
    given: dict[str, Any] = {
        "id": ident, "title": "T", "urgency": "high", "message": "M.", "who": ("user", "assistant", "tool_call"),
        "documents": (Reference(id="lesson", mode="full_context"),), "path": "triggers/t.yaml", "line": 1,
        "any": tuple(Clause(kind=kind, value=value, line=7) for kind, value in clauses),
    }  # fmt: skip
    return Trigger(**{**given, **fields})


def case(trigger: str, said: str, *, fires: bool) -> Case:
    return Case(trigger=trigger, fires=fires, turns=(Turn(role="user", text=said),))


def found(*triggers: Trigger, cases: tuple[Case, ...] = (), clock: Any = time.perf_counter) -> list[tuple[str, int]]:
    lesson = Payload(id="lesson", path="", title="", summary="", text="")
    data, ungated = compile_triggers(triggers, {"lesson": lesson}, settings=SETTINGS, identity={})
    problems = lint_triggers(Artefact(data), triggers, cases, ungated=ungated, clock=clock)
    return [(problem.code, problem.line) for problem in problems if cases or problem.code != "no-cases"]


def test_a_sound_trigger_has_no_problem() -> None:
    cases = (case("t", "I'll sell the shop", fires=True), case("t", "don't sell the shop", fires=False))
    assert found(make("t", ("phrase", "sell shop"), ("command", "shopctl sell")), cases=cases) == []


@pytest.mark.parametrize(
    ("trigger", "code", "line"),
    [
        (make("t", ("phrase", "sell shop"), who=("tool_result",)), "unreachable-trigger", 1),
        (make("t", ("error", "no shop"), who=("tool_call",)), "unreachable-trigger", 1),
        (make("t", all=(Clause(kind="phrase", value="sell"), Clause(kind="write", value=("a.md",)))),
         "unreachable-trigger", 1),
        (make("t", ("phrase", "sell"), all=(Clause(kind="tool", value={"name": "x", "input": {}}),)),
         "unreachable-trigger", 1),
        (make("t", ("command", "sell"), who=("tool_call",), stance=("asked",)), "unreachable-trigger", 1),
        (make("t", ("phrase", "sell shop"), ("command", "sell"), who=("tool_call",)), "unreachable-clause", 7),
        (make("t", ("pattern", r"\d+")), "ungated-trigger", 1),
    ],
)  # fmt: skip
def test_what_nothing_can_fire_or_every_turn_pays_for_is_told(trigger: Trigger, code: str, line: int) -> None:
    assert found(trigger) == [(code, line)]


def test_a_trigger_without_cases_has_one_finding_that_says_so() -> None:
    one, two = make("one", ("meaning", ("sell the old shop",))), make("two", ("phrase", "rent shop"))
    cases = (case("two", "I'll rent the shop", fires=True), case("two", "don't rent the shop", fires=False))
    assert found(one, two, cases=cases) == [("no-cases", 1)]


def test_an_exemplar_that_names_no_act_is_told_with_its_line() -> None:
    exemplars = ("sell the old shop", "the old shop")
    assert found(make("t", ("meaning", exemplars))) == [("unreadable-exemplar", 7)]


def test_one_of_a_layer_below_overlaps_only_where_it_shows_the_same_documents() -> None:
    other = make("below", ("phrase", "sell shop"), documents=(Reference(id="other", mode="full_context"),))
    same = make("below", ("phrase", "sell shop"))
    own = make("own", ("phrase", "sell shop"))
    cases = tuple(case(ident, said, fires=not said.startswith("don't")) for ident in ("own", "below")
                  for said in ("I'll sell the shop", "don't sell the shop"))  # fmt: skip
    lessons = {name: Payload(id=name, path="", title="", summary="", text="") for name in ("lesson", "other")}
    codes = []
    for below in (other, same):
        data, _ = compile_triggers((own, below), lessons, settings=SETTINGS, identity={})
        problems = lint_triggers(Artefact(data), (own,), cases, ungated=(), clock=time.perf_counter)
        codes.append([problem.code for problem in problems])
    assert codes == [[], ["overlapping-triggers"]]


def test_triggers_that_fire_on_each_others_cases_overlap() -> None:
    one, two = make("one", ("phrase", "sell … shop")), make("two", ("phrase", "{sell|buy} … shop"))
    near = (case("one", "don't sell the shop", fires=False), case("two", "don't sell the shop", fires=False))
    both = (*near, case("one", "I'll sell the shop", fires=True), case("two", "I'll sell our shop", fires=True))
    assert found(one, two, cases=both) == [("overlapping-triggers", 1)]
    apart = (*near, case("one", "I'll sell the shop", fires=True), case("two", "I'll buy our shop", fires=True))
    assert found(one, two, cases=apart) == []


@pytest.mark.parametrize("silent", [(), ("hello",), ("hello", "how are you?")])
def test_cases_that_stay_silent_far_off_prove_nothing(silent: tuple[str, ...]) -> None:
    cases = (case("t", "I'll sell the shop", fires=True), *(case("t", said, fires=False) for said in silent))
    assert found(make("t", ("phrase", "sell shop")), cases=cases) == [("no-near-miss", 1)]


def test_a_pattern_that_is_slow_every_time_is_told() -> None:
    ticks = iter(range(10**6))
    assert found(make("t", ("pattern", r"\bnuke\b")), clock=lambda: next(ticks) * SLOW * 2) == [("slow-pattern", 1)]


def test_patterns_of_the_safe_subset_are_quick_on_hard_text() -> None:
    assert found(make("t", ("pattern", r"\bsell\b[a-z ]{0,40}shop\w*!"))) == []
    assert all(len(text) == 600 for text in killers(r"\bsell\b"))


def test_a_deprecated_trigger_is_left_alone() -> None:
    assert found(make("t", ("phrase", "sell"), who=("tool_result",), status="deprecated")) == []
