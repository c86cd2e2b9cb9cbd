"""How close to its exemplars a sentence must come: found for each exemplar of a `meaning` clause, never typed by hand.

The thresholds lie above all pieces of ordinary talk. Where a trigger has cases of other acts that
are done and must stay silent, they lie where the fewest of its cases come out wrong. A case that stance, `unless` or
context silence already does not count: similarity cannot tell doing from mentioning, and would only lose what is meant.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Any

from deia import __version__, files
from deia.compile.manifest import Calibration, calibration
from deia.compile.triggers.background_talk import ABOVE, LEAST, floors_of, nominating
from deia.compile.triggers.build_artefact import compile_triggers
from deia.compile.triggers.exemplars import LEAST_WEIGHT, NOT_CLOSE, SHARE, meaning_clause, vectors_source
from deia.compile.triggers.synonyms import ACTS, THINGS
from deia.compile.triggers.word_bags import bags
from deia.compile.triggers.word_forms import forms_source
from deia.folders import PACKAGE
from deia.knowledge import Case, Clause, Trigger
from deia.settings import DEFAULTS
from deia.watch.authoring.case_runner import run_case
from deia.watch.clauses.exemplar_words import meaning_of
from deia.watch.clauses.similarity import places
from deia.watch.gate.artefact import Artefact
from deia.watch.turn.parsed_turn import Reading

SHIPPED = f"{PACKAGE}/models/starter.thresholds"  # made by tools/starter_thresholds.py
CONFIDENCE = 0.95
SPEAKERS = frozenset(("user", "assistant"))


def shipped() -> tuple[Calibration, ...]:
    """Give what the `meaning` clauses of the starter commons came to when deia was made."""
    lines = (files.read(SHIPPED) or b"").decode("utf-8", "replace").splitlines()
    return tuple(calibration(json.loads(line)) for line in lines)


def calibrated(
    triggers: Sequence[Trigger], cases: Sequence[Case], known: Iterable[Calibration] = ()
) -> tuple[Calibration, ...]:
    """Find the thresholds of every `meaning` clause of some triggers by their cases, and tell what each reaches.

    What was `known` before is taken over where nothing changed that it depends on.

    Raises:
        ArtefactError: the word vectors or the background that came with deia are missing.
    """
    own: dict[str, list[Case]] = {}
    for case in cases:
        if case.turns and case.turns[-1].role in SPEAKERS:
            own.setdefault(case.trigger, []).append(case)
    before = {one.print: one for one in known}
    return tuple(
        _known(trigger, clause, own.get(trigger.id, ()), before)
        for trigger in triggers
        if trigger.status != "deprecated"
        for clause in (*trigger.any, *trigger.all)
        if clause.kind == "meaning"
    )


def _known(trigger: Trigger, clause: Clause, cases: Sequence[Case], before: Mapping[str, Calibration]) -> Calibration:
    own = _print(trigger, clause, cases)
    return before[own] if own in before else _calibrated(trigger, clause, cases).but(print=own)


def _print(trigger: Trigger, clause: Clause, cases: Sequence[Case]) -> str:
    """Name all that the thresholds of a clause depend on, the code besides that of this version aside."""
    judged = (trigger.id, trigger.who, trigger.stance, trigger.context, trigger.unless, trigger.repeat)
    others = [(one.kind, repr(one.value)) for one in trigger.all]
    told = [(case.fires, [turn.values() for turn in case.turns], tuple(case.cwd_files)) for case in cases]
    made = (__version__, vectors_source(), forms_source(), ACTS, THINGS, len(bags()), SHARE, LEAST_WEIGHT, LEAST)
    whole = repr((judged, clause.value, others, trigger.earlier is None, told, made))
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _calibrated(trigger: Trigger, clause: Clause, cases: Sequence[Case]) -> Calibration:
    lowered, _ = meaning_clause(tuple(map(str, clause.value)))
    pieces = nominating(lowered)
    floors = floors_of(pieces)
    artefact = _alone(trigger, clause, [0.0] * len(floors))
    scored = [(case.fires, _scores_in(case, artefact)) for case in cases if _fires(case, artefact)]
    thresholds = tuple(
        ceil(min(_best(floor, own), NOT_CLOSE) * 1000) / 1000
        for floor, own in zip(floors, _shared(scored, lowered["v"]["e"]), strict=True)
    )
    meaning_of(artefact.trigger(0)["any"][0])["t"] = list(thresholds)
    fires = [case for case in cases if case.fires]
    close = [
        {number for number, score in held.items() if score >= least}
        for held, least in zip(pieces, thresholds, strict=True)
    ]
    return Calibration(
        trigger=trigger.id,
        clause=str(lowered["s"]),
        exemplars=len(floors),
        thresholds=thresholds,
        fires=sum(_fires(case, artefact) for case in fires),
        cases=len(fires),
        worded=len({number for held in pieces for number in held}),
        alarms=len({number for held in close for number in held}),
        background=len(bags()),
    )


def _shared(
    scored: Sequence[tuple[bool, Mapping[str, float]]], exemplars: Sequence[Any]
) -> list[list[tuple[bool, float]]]:
    """Give each exemplar its cases: those that must stay silent and it comes close to, those that it is closest to."""
    found = []
    for text, *_ in exemplars:
        own = [(fires, scores) for fires, scores in scored if text in scores]
        found.append(
            [(fires, scores[text]) for fires, scores in own if not fires or scores[text] == max(scores.values())]
        )
    return found


def _best(floor: float, scored: Sequence[tuple[bool, float]]) -> float:
    """Give the threshold from the floor on with which the fewest cases come out wrong; of equals, the highest."""

    def wrong(threshold: float) -> int:
        """Count the cases that a threshold gets wrong."""
        return sum((score >= threshold) != fires for fires, score in scored)

    tried = [floor, *(score + ABOVE for fires, score in scored if not fires and score + ABOVE > floor)]
    return min(tried, key=lambda threshold: (wrong(threshold), -threshold))


def _fires(case: Case, artefact: Artefact) -> bool:
    return run_case(artefact, case, now=0.0).holds == case.fires


def _alone(trigger: Trigger, clause: Clause, thresholds: Sequence[float]) -> Artefact:
    """Compile a trigger that has only this clause, besides those that must hold as well."""
    every = tuple(one for one in trigger.all if one != clause)
    alone = trigger.but(any=(clause,), all=every)
    settings = {name: value for name, value in DEFAULTS.values().items() if name != "sources"}
    known = {(trigger.id, " | ".join(clause.value)): thresholds}
    data, _ = compile_triggers([alone], {}, settings=settings, identity={}, thresholds=known)
    return Artefact(data)


def _scores_in(case: Case, artefact: Artefact) -> dict[str, float]:
    """Give the exemplars that a case comes near, and how close."""
    clause = artefact.trigger(0)["any"][0]
    found: dict[str, float] = {}
    for place in (place for turn in case.turns for place in places(clause, Reading(turn))):
        found[place.exemplar] = max(place.score, found.get(place.exemplar, 0.0))
    return found


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


def told(reached: Sequence[Calibration]) -> list[str]:
    """Give what the calibration came to: a line for all clauses, and one for each that reaches none of its cases."""
    if not reached:
        return []
    thresholds = sorted(least for one in reached for least in one.thresholds)
    alarms, tries = sum(one.alarms for one in reached), sum(one.background for one in reached)
    worst = max(one.alarms for one in reached)

    def plural(things: Sequence[object]) -> str:
        """Give the ending of a noun for so many things."""
        return "" if len(things) == 1 else "s"

    line = (
        f"{len(reached)} `meaning` clause{plural(reached)}, {len(thresholds)} exemplar{plural(thresholds)}: thresholds"
        f" {thresholds[0]:.2f} to {thresholds[-1]:.2f}; they reach {sum(one.fires for one in reached)} of"
        f" {sum(one.cases for one in reached)} spoken cases by themselves; of {reached[0].background:,} pieces of"
        f" ordinary talk at most {worst} hold the words of one clause and are as close (below"
        f" {1000 * rate_below(worst, reached[0].background):.1f} in 1,000 with 95 % confidence), of all clauses"
        f" {alarms} of {tries:,}"
    )
    idle = [one for one in reached if not one.fires]
    return [line, *(f"  {one.trigger}: no case that fires is close enough" for one in idle)]
