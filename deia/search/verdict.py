"""Whether the best document answers a question: what can be seen of that, and what was learned from it.

Two probabilities, by logistic regression over the same observations: that a question belongs to this commons at all,
by which "nothing here fits" is said, and that the best document answers it, which names the confidence. Pure; it
refuses to look at anything but the ranking and the question.
"""

from __future__ import annotations

from math import exp, log, sqrt

from deia.match.fuzzy import SHORT
from deia.records import TYPE_CHECKING, Record
from deia.search.question import CORRECTED_COUNTS, CORRECTED_SHORT_COUNTS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from deia.search.question import Question, Term
    from deia.search.rank import Ranked

SEEN = 20  # documents of the ranking that the observations look at
ALL = 0.95  # of a question's information
MOST_A_WORD = 2.2  # of a word's information that BM25 can give it: k1 + 1
OBSERVED = (
    "covered", "whole", "touched", "unknown", "corrected", "words", "length", "likeness", "nearest", "contrast",
    "margin", "both", "size", "long_likeness", "long_covered",
)  # fmt: skip


class Verdict(Record):
    """How sure an answer may be."""

    belongs: float  # the probability that the commons is about such things
    answers: float  # the probability that the best document is the one
    found: bool
    confidence: str = "low"


def judge(observed: Sequence[float], learned: Mapping[str, Any]) -> Verdict:
    """Give the verdict on a ranking; a document that holds all that was asked is never kept back."""
    belongs, answers = (_probability(observed, learned[name]) for name in ("belongs", "answers"))
    levels: Sequence[float] = learned["levels"]
    named = next((name for least, name in zip(levels, ("high", "medium"), strict=True) if answers >= least), "low")
    return Verdict(
        belongs=belongs, answers=answers, found=belongs >= learned["least"] or observed[0] >= ALL, confidence=named
    )


def _probability(observed: Sequence[float], weights: Sequence[float]) -> float:
    total = weights[0] + sum([weight * value for weight, value in zip(weights[1:], observed, strict=True)])
    return 1 / (1 + exp(-max(-60.0, min(60.0, total))))


def observe(
    asked: Question,
    ranked: Sequence[Ranked],
    held: Mapping[int, Mapping[int, Collection[str]]],
    *,
    passages: int,
) -> list[float]:
    """Give what can be seen, in the order of OBSERVED.

    `held` are the stems of documents, passage by passage; `passages` is how many the commons has, since among many
    something is near by chance.
    """
    parts = [term for term in asked.terms if term.part]
    if not ranked or not parts:
        return [0.0] * len(OBSERVED)
    first, *others = ranked[:SEEN]
    covered = coverage(asked, held.get(first.number, {}))
    likely = [each.likeness for each in others] or [0.0]
    most = sum(term.information for term in parts if term.stem) * MOST_A_WORD
    whole = sum(sqrt(term.information) for term in parts) or 1.0
    return [
        covered,
        covered / sqrt(len(parts)),
        max([covered, *(coverage(asked, found) for found in held.values())]),
        sum(sqrt(term.information) for term in parts if not term.stem) / whole,
        sum(sqrt(term.information) for term in parts if term.corrected) / whole,
        min(1.0, first.words / most) if most else 0.0,
        log(len(parts)),
        first.likeness,
        max([first.likeness, *likely]),
        first.likeness - sum(likely) / len(likely),
        first.score - (others[0].score if others else 0.0),
        covered * first.likeness,
        log(1 + passages),
        log(len(parts)) * first.likeness,
        log(len(parts)) * covered,
    ]


def coverage(asked: Question, passages: Mapping[int, Collection[str]]) -> float:
    """Give the share of a question's information that a document holds, from 0 to 1.

    It is the mean for the whole document and for its best passage, because a long document holds a little of
    everything. Each word weighs the root of its inverse document frequency, so that "the site is down" hangs on
    what is rare in it and one unknown word does not outweigh three known ones (measured on three sets: the root
    separates questions that belong there from others a little better than the frequency itself, and than counting).
    A corrected word counts in part.
    """
    together = {stem for held in passages.values() for stem in held}
    best = max((_share(asked, held) for held in passages.values()), default=0.0)
    return (_share(asked, together) + best) / 2


def _share(asked: Question, held: Collection[str]) -> float:
    parts = [term for term in asked.terms if term.part]
    whole = sum(sqrt(term.information) for term in parts)
    return sum(sqrt(term.information) * _trust(term) for term in parts if term.stem in held) / whole if whole else 0.0


def _trust(term: Term) -> float:
    if not term.corrected:
        return 1.0
    return CORRECTED_SHORT_COUNTS if len(term.asked) <= SHORT else CORRECTED_COUNTS
