"""How close to its exemplars a sentence must come: found for each `meaning` clause, never typed by hand.

A threshold lies above all but one in a thousand pieces of ordinary talk. Where a trigger has cases of other acts that
are done and must stay silent, it lies where the fewest of its cases come out wrong. A case that stance, `unless` or
context silence already does not count: similarity cannot tell doing from mentioning, and would only lose what is meant.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from deia.compile.background import ABOVE, closest, floor_of, holds_words
from deia.compile.bags import bags
from deia.compile.meaning import NOT_CLOSE, meaning_clause
from deia.compile.triggers import compile_triggers
from deia.records import Record
from deia.settings import DEFAULTS
from deia.watch.artefact import Artefact
from deia.watch.case_runner import run_case
from deia.watch.meaning import places
from deia.watch.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.knowledge import Case, Clause, Trigger

CONFIDENCE = 0.95
SPEAKERS = frozenset(("user", "assistant"))


class Reached(Record):
    """What the calibration of a `meaning` clause came to."""

    trigger: str
    clause: str
    exemplars: int
    threshold: float
    fires: int  # of the trigger's cases in which somebody speaks, those that the clause fires on by itself
    cases: int
    close: int  # pieces of ordinary talk that are as close, by their vectors
    alarms: int  # of these, those that also hold the words
    background: int


def calibrated(triggers: Sequence[Trigger], cases: Sequence[Case]) -> tuple[Reached, ...]:
    """Find the threshold of every `meaning` clause of some triggers by their cases, and tell what each reaches.

    Raises:
        ArtefactError: the word vectors or the background that came with deia are missing.
    """
    own: dict[str, list[Case]] = {}
    for case in cases:
        if case.turns and case.turns[-1].role in SPEAKERS:
            own.setdefault(case.trigger, []).append(case)
    return tuple(
        _calibrated(trigger, clause, own.get(trigger.id, ()))
        for trigger in triggers
        if trigger.status != "deprecated"
        for clause in (*trigger.any, *trigger.all)
        if clause.kind == "meaning"
    )


def _calibrated(trigger: Trigger, clause: Clause, cases: Sequence[Case]) -> Reached:
    lowered, _ = meaning_clause(tuple(map(str, clause.value)))
    background = closest(lowered)
    artefact = _alone(trigger, clause, 0.0)
    scored = [(case.fires, _closest_in(case, artefact)) for case in cases if _fires(case, artefact)]
    threshold = ceil(min(_best(floor_of(lowered), scored), NOT_CLOSE) * 1000) / 1000
    artefact, fires = _alone(trigger, clause, threshold), [case for case in cases if case.fires]
    close = [bag for bag, score in zip(bags(), background, strict=True) if score >= threshold]
    return Reached(
        trigger=trigger.id,
        clause=str(lowered["s"]),
        exemplars=len(lowered["v"]["e"]),
        threshold=threshold,
        fires=sum(_fires(case, artefact) for case in fires),
        cases=len(fires),
        close=len(close),
        alarms=sum(holds_words(lowered, bag) for bag in close),
        background=len(background),
    )


def _best(floor: float, scored: Sequence[tuple[bool, float]]) -> float:
    """Give the threshold from the floor on with which the fewest cases come out wrong; of equals, the highest."""

    def wrong(threshold: float) -> int:
        return sum((score >= threshold) != fires for fires, score in scored)

    tried = [floor, *(score + ABOVE for fires, score in scored if not fires and score + ABOVE > floor)]
    return min(tried, key=lambda threshold: (wrong(threshold), -threshold))


def _fires(case: Case, artefact: Artefact) -> bool:
    return run_case(artefact, case, now=0.0).holds == case.fires


def _alone(trigger: Trigger, clause: Clause, threshold: float) -> Artefact:
    """Compile a trigger that has only this clause, besides those that must hold as well."""
    every = tuple(one for one in trigger.all if one != clause)
    alone = trigger.but(any=(clause,), all=every)
    settings = {name: value for name, value in DEFAULTS.values().items() if name != "sources"}
    thresholds = {(trigger.id, " | ".join(clause.value)): threshold}
    data, _ = compile_triggers([alone], {}, settings=settings, identity={}, thresholds=thresholds)
    return Artefact(data)


def _closest_in(case: Case, artefact: Artefact) -> float:
    clause = artefact.trigger(0)["any"][0]
    return max((place.score for turn in case.turns for place in places(clause, Reading(turn))), default=0.0)


# --- telling ---


def rate_below(alarms: int, tries: int) -> float:
    """Give the false-alarm rate that is not exceeded with 95 % confidence (Clopper and Pearson 1934, one-sided)."""
    low, high = alarms / max(tries, 1), 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _at_most(alarms, tries, middle) > 1 - CONFIDENCE else (low, middle)
    return high


def _at_most(alarms: int, tries: int, rate: float) -> float:
    """Give the chance of at most so many alarms at a rate, by the binomial distribution."""
    total, term = 0.0, (1 - rate) ** tries
    for number in range(alarms + 1):
        total += term
        term *= (tries - number) / (number + 1) * rate / max(1 - rate, 1e-12)
    return total


def told(reached: Sequence[Reached]) -> list[str]:
    """Give what the calibration came to: a line for all clauses, and one for each that reaches none of its cases."""
    if not reached:
        return []
    thresholds = sorted(one.threshold for one in reached)
    alarms, tries = sum(one.alarms for one in reached), sum(one.background for one in reached)
    worst = max(one.close for one in reached)
    line = (
        f"{len(reached)} `meaning` clauses: thresholds {thresholds[0]:.2f} to {thresholds[-1]:.2f}; they reach"
        f" {sum(one.fires for one in reached)} of {sum(one.cases for one in reached)} spoken cases by themselves; of"
        f" {reached[0].background:,} pieces of ordinary talk at most {worst} are as close"
        f" (below {1000 * rate_below(worst, reached[0].background):.1f} in 1,000 with 95 % confidence), and with the"
        f" words {alarms} of {tries:,}"
    )
    idle = [one for one in reached if not one.fires]
    return [line, *(f"  {one.trigger}: no case that fires is close enough ({one.threshold:.2f})" for one in idle)]
