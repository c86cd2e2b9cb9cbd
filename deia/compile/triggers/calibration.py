"""Calibrate `meaning` clauses: find, for each exemplar, how close a sentence must come to match it.

A threshold is above all pieces of ordinary talk. If a trigger has cases of other acts that must stay silent, it is
where the fewest of the trigger's cases come out wrong. Cases that stance, `unless` or context already silence are left
out: similarity cannot tell doing from mentioning, and a higher threshold would only lose sentences that are meant.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from math import ceil

from deia import __version__, files
from deia.compile.manifest import Calibration
from deia.compile.triggers.background_talk import ABOVE, LEAST, floors_of, nominating
from deia.compile.triggers.build_artefact import compile_triggers
from deia.compile.triggers.exemplars import LEAST_WEIGHT, NOT_CLOSE, SHARE, meaning_clause, vectors_source
from deia.compile.triggers.synonyms import synonym_classes
from deia.compile.triggers.word_bags import bags
from deia.compile.triggers.word_forms import forms_source
from deia.folders import PACKAGE
from deia.knowledge import Case, Clause, Trigger
from deia.settings import DEFAULTS
from deia.typed_json import read_record
from deia.watch.authoring.case_runner import run_case
from deia.watch.clauses.similarity import places
from deia.watch.compiled_trigger import StoredExemplar
from deia.watch.gate.artefact import Artefact
from deia.watch.turn.parsed_turn import Reading

SHIPPED = f"{PACKAGE}/models/starter.thresholds"  # made by tools/starter_thresholds.py
CONFIDENCE = 0.95
SPEAKERS = frozenset(("user", "assistant"))


def shipped() -> tuple[Calibration, ...]:
    """Return the results for the starter commons that came with deia."""
    lines = (files.read(SHIPPED) or b"").decode("utf-8", "replace").splitlines()
    return tuple(read_record(Calibration, json.loads(line)) for line in lines)


def calibrated(
    triggers: Sequence[Trigger], cases: Sequence[Case], known: Iterable[Calibration] = ()
) -> tuple[Calibration, ...]:
    """Return the calibration of every `meaning` clause of these triggers by their cases.

    A result that was `known` before is reused if nothing that it depends on changed.

    Raises:
        ArtefactError: the word vectors or the background that came with deia are missing.
    """
    own: dict[str, list[Case]] = {}
    for case in cases:
        if case.turns and case.turns[-1].role in SPEAKERS:
            own.setdefault(case.trigger, []).append(case)
    before = {result.print: result for result in known}
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
    """Return a hash of everything that a result depends on, except for the code, for which the version stands."""
    judged = (trigger.id, trigger.who, trigger.stance, trigger.context, trigger.unless, trigger.repeat)
    required = [(other.kind, repr(other.value)) for other in trigger.all]
    stories = [(case.fires, [turn.values() for turn in case.turns], tuple(case.cwd_files)) for case in cases]
    made = (
        __version__, vectors_source(), forms_source(), *map(list, synonym_classes()), len(bags()), SHARE, LEAST_WEIGHT,
        LEAST,
    )  # fmt: skip
    whole = repr((judged, clause.value, required, trigger.earlier is None, stories, made))
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _calibrated(trigger: Trigger, clause: Clause, cases: Sequence[Case]) -> Calibration:
    lowered = meaning_clause(tuple(map(str, clause.value))).clause
    pieces = nominating(lowered.meaning)
    floors = floors_of(pieces)
    artefact = _alone(trigger, clause, [0.0] * len(floors))
    scored = [(case.fires, _scores_in(case, artefact)) for case in cases if _comes_out_right(case, artefact)]
    thresholds = tuple(
        ceil(min(_best(floor, own), NOT_CLOSE) * 1000) / 1000
        for floor, own in zip(floors, _by_exemplar(scored, lowered.meaning.exemplars), strict=True)
    )
    artefact.trigger(0).any[0].meaning.thresholds = list(thresholds)
    firing = [case for case in cases if case.fires]
    alarms = [
        {number for number, score in scores.items() if score >= least}
        for scores, least in zip(pieces, thresholds, strict=True)
    ]
    return Calibration(
        trigger=trigger.id,
        clause=lowered.source,
        exemplars=len(floors),
        thresholds=thresholds,
        fires=sum(_comes_out_right(case, artefact) for case in firing),
        cases=len(firing),
        worded=len({number for scores in pieces for number in scores}),
        alarms=len({number for numbers in alarms for number in numbers}),
        background=len(bags()),
    )


def _by_exemplar(
    scored: Sequence[tuple[bool, Mapping[str, float]]], exemplars: Sequence[StoredExemplar]
) -> list[list[tuple[bool, float]]]:
    """Return the cases of each exemplar, with its scores: silent ones near it, and firing ones nearest to it."""
    cases = []
    for text, *_ in exemplars:
        own = [(fires, scores) for fires, scores in scored if text in scores]
        cases.append(
            [(fires, scores[text]) for fires, scores in own if not fires or scores[text] == max(scores.values())]
        )
    return cases


def _best(floor: float, scored: Sequence[tuple[bool, float]]) -> float:
    """Return the threshold, not below the floor, with which the fewest cases come out wrong; of equals, the highest."""

    def wrong(threshold: float) -> int:
        """Return how many cases a threshold gets wrong."""
        return sum((score >= threshold) != fires for fires, score in scored)

    candidates = [floor, *(score + ABOVE for fires, score in scored if not fires and score + ABOVE > floor)]
    return min(candidates, key=lambda threshold: (wrong(threshold), -threshold))


def _comes_out_right(case: Case, artefact: Artefact) -> bool:
    return run_case(artefact, case, now=0.0).holds == case.fires


def _alone(trigger: Trigger, clause: Clause, thresholds: Sequence[float]) -> Artefact:
    """Return the artefact of a trigger with only this clause, besides those of its `all`."""
    alone = trigger.but(any=(clause,), all=tuple(other for other in trigger.all if other != clause))
    settings = DEFAULTS.by_name()
    known = {(trigger.id, " | ".join(clause.value)): thresholds}
    data, _ = compile_triggers([alone], {}, settings=settings, identity={}, thresholds=known)
    return Artefact(data)


def _scores_in(case: Case, artefact: Artefact) -> dict[str, float]:
    """Return the exemplars that a case comes near, with their highest scores."""
    meaning = artefact.trigger(0).any[0].meaning
    scores: dict[str, float] = {}
    for place in (place for turn in case.turns for place in places(meaning, Reading(turn))):
        scores[place.exemplar] = max(place.score, scores.get(place.exemplar, 0.0))
    return scores


# --- report ---


def rate_below(alarms: int, tries: int) -> float:
    """Return the upper 95 % confidence limit of the false-alarm rate (Clopper and Pearson 1934, one-sided)."""
    low, high = alarms / max(tries, 1), 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _at_most(alarms, tries, middle) > 1 - CONFIDENCE else (low, middle)
    return high


def _at_most(alarms: int, tries: int, rate: float) -> float:
    """Return the probability of at most so many alarms at a given rate, by the binomial distribution."""
    total, term = 0.0, (1 - rate) ** tries
    for number in range(alarms + 1):
        total += term
        term *= (tries - number) / (number + 1) * rate / max(1 - rate, 1e-12)
    return total


def report(results: Sequence[Calibration]) -> list[str]:
    """Return the lines that report a calibration: one on all clauses, and one for each that matches no case."""
    if not results:
        return []
    thresholds = sorted(least for result in results for least in result.thresholds)
    alarms, tries = sum(result.alarms for result in results), sum(result.background for result in results)
    worst, pieces = max(result.alarms for result in results), results[0].background
    line = (
        f"{len(results)} `meaning` clause{_plural(results)}, {len(thresholds)} exemplar{_plural(thresholds)}:"
        f" thresholds {thresholds[0]:.2f} to {thresholds[-1]:.2f}. By themselves they recognise"
        f" {sum(result.fires for result in results)} of {sum(result.cases for result in results)} spoken cases."
        f" Of {pieces:,} pieces of ordinary talk, a single clause matches at most {worst} (below"
        f" {1000 * rate_below(worst, pieces):.1f} in 1,000 with 95 % confidence), all clauses together"
        f" {alarms} of {tries:,}."
    )
    idle = [result for result in results if not result.fires]
    return [line, *(f"  {result.trigger}: no case that should fire is close enough" for result in idle)]


def _plural(things: Sequence[object]) -> str:
    return "" if len(things) == 1 else "s"
