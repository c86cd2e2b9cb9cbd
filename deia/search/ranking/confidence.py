"""Whether the best document answers a question: what can be seen of that, and what was learned from it.

Two probabilities, by logistic regression over the same observations: that a question belongs to this commons at all,
by which "nothing here fits" is said, and that the best document answers it, which names the confidence. Pure; it
refuses to look at anything but the ranking and the question.
"""

from __future__ import annotations

from math import exp, log, sqrt

from deia.match.spelling import SHORT
from deia.records import TYPE_CHECKING, Record
from deia.search.question.literals import literal_terms
from deia.search.question.terms import CORRECTED_COUNTS, CORRECTED_SHORT_COUNTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from deia.search.question.terms import Question, Term
    from deia.search.ranking.rank import Ranked

SEEN = 20  # documents of the ranking that the observations look at
ALL = 0.95  # of a question's information
MOST_A_WORD = 2.2  # of a word's information that BM25 can give it: k1 + 1
LITERAL_COUNTS = 0.15  # of a word that is the asker's own, where the document lacks it; 0 and .15 measured alike
MOST_AT_HOME = 6.0  # nats that one word can say for a commons, or against it
GIVEN = 1.7  # a filter is a word that every document holds: the root of 3 nats, the information of one in twenty
OBSERVED = (
    "covered", "whole", "touched", "unknown", "corrected", "words", "length", "likeness", "nearest", "contrast",
    "margin", "both", "size", "long_likeness", "long_covered", "akin", "akin_squared", "long_akin",
    "at_home", "at_home_among_many",
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
    found = any(observed) and (belongs >= learned["least"] or observed[0] >= ALL)
    return Verdict(belongs=belongs, answers=answers, found=found, confidence=named)


def _probability(observed: Sequence[float], weights: Sequence[float]) -> float:
    total = weights[0] + sum([weight * value for weight, value in zip(weights[1:], observed, strict=True)])
    return 1 / (1 + exp(-max(-60.0, min(60.0, total))))


def observe(
    asked: Question,
    ranked: Sequence[Ranked],
    held: Mapping[int, Mapping[int, Collection[str]]],
    *,
    passages: int,
    given: int = 0,
    akin: float = 0.0,
    usual: Mapping[str, float] | None = None,
) -> list[float]:
    """Give what can be seen, in the order of OBSERVED.

    `held` are the stems of documents, passage by passage; `passages` is how many were ranked, since among many
    something is near by chance; `given` are the filters that somebody set, and that each of them passed; `akin` is
    how like the question is to the commons on the whole (deia.search.ranking.affinity); `usual` how much its stems tell
    elsewhere, in passages as long (deia.search.ranking.word_usage).
    """
    parts = [term for term in asked.terms if term.part]
    if not ranked or not parts:
        return [0.0] * len(OBSERVED)
    first, *others = ranked[:SEEN]
    own = literal_terms(asked.text)
    best = held.get(first.number, {})
    together = _together(best)
    counts = [LITERAL_COUNTS if term.asked in own and term.stem not in together else 1.0 for term in parts]
    weights = [count * sqrt(term.information) for count, term in zip(counts, parts, strict=True)]
    whole, words = sum(weights) or 1.0, max(1.0, sum(counts) + given)
    covered = coverage(asked, best, own=own, given=given)
    likely = [each.likeness for each in others] or [0.0]
    home = _at_home(zip(counts, parts, strict=True), usual or {}) / sqrt(sum(counts) or 1.0)
    most = MOST_A_WORD * sum(count * term.information for count, term in zip(counts, parts, strict=True) if term.stem)
    return [
        covered,
        covered / sqrt(words),
        max([covered, *(coverage(asked, found, own=own, given=given) for found in held.values())]),
        sum(weight for weight, term in zip(weights, parts, strict=True) if not term.stem) / whole,
        sum(weight for weight, term in zip(weights, parts, strict=True) if term.corrected) / whole,
        min(1.0, first.words / most) if most else 0.0,
        log(words),
        first.likeness,
        max([first.likeness, *likely]),
        first.likeness - sum(likely) / len(likely),
        first.score - (others[0].score if others else 0.0),
        covered * first.likeness,
        log(1 + passages),
        log(words) * first.likeness,
        log(words) * covered,
        akin,
        akin * akin,
        log(words) * akin,
        home,
        log(1 + passages) * home,
    ]


def _at_home(counted: Iterable[tuple[float, Term]], usual: Mapping[str, float]) -> float:
    """Give how much more often the commons says a question's words than software is described with them, in nats.

    A word's information is the logarithm of how few of the passages hold it, so that its difference to the same of
    other texts is that of a ratio of likelihoods. Words that nobody here uses do not count: `unknown` tells of them.
    """
    return sum(
        count * max(-MOST_AT_HOME, min(MOST_AT_HOME, usual[term.stem] - term.information))
        for count, term in counted
        if term.stem in usual
    )


def coverage(
    asked: Question, passages: Mapping[int, Collection[str]], *, own: Collection[str] = (), given: int = 0
) -> float:
    """Give the share of a question's information that a document holds, from 0 to 1.

    It is the mean for the whole document and for its best passage, because a long document holds a little of
    everything. Each word weighs the root of its inverse document frequency, so that "the site is down" hangs on
    what is rare in it and one unknown word does not outweigh three known ones (measured on three sets: the root
    separates questions that belong there from others a little better than the frequency itself, and than counting).
    A corrected word counts in part; `own` words, the asker's, weigh little where the document lacks them.
    """
    together = _together(passages)
    parts = [
        (sqrt(term.information) * (LITERAL_COUNTS if term.asked in own and term.stem not in together else 1.0), term)
        for term in asked.terms
        if term.part
    ]
    whole = sum(weight for weight, _ in parts)
    if not whole:
        return 0.0
    every = _held(parts, together)
    best = max((_held(parts, held) for held in passages.values()), default=0.0)
    return ((every + best) / 2 + GIVEN * given) / (whole + GIVEN * given)


def _together(passages: Mapping[int, Collection[str]]) -> set[str]:
    return {stem for held in passages.values() for stem in held}


def _held(parts: Sequence[tuple[float, Term]], held: Collection[str]) -> float:
    return sum(weight * _trust(term) for weight, term in parts if term.stem in held)


def _trust(term: Term) -> float:
    if not term.corrected:
        return 1.0
    return CORRECTED_SHORT_COUNTS if len(term.asked) <= SHORT else CORRECTED_COUNTS
