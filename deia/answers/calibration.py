"""How likely it is that an answer's sentences really answer the question.

A logistic regression over what the sentences and passages say of the question, learned by `bench/answers.py --learn`
on questions whose evidence was there or had been taken out.
"""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING

from deia.answers.aspects import share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.answers.gathering import Evidence
    from deia.answers.synthesis import Cited

WEIGHTS = (-5.46, 0.84, -1.72, 3.15, 2.69, 2.97, 1.05, 0.54, 0.05, -0.53)
LEAST = 0.2  # below this probability, the answer is that the documents do not say


def observed(evidence: Evidence, cited: Sequence[Cited]) -> list[float]:
    """Return what the probability is judged by."""
    aspects = evidence.aspects
    if not aspects or not cited:
        return [0.0] * (len(WEIGHTS) - 1)
    known = [aspect for aspect in aspects if aspect.stems]
    whole = sum(aspect.weight for aspect in aspects) or 1.0
    said = sum(map(max, zip(*(one.coverage for one in cited), strict=True)))
    squares = sum(aspect.weight**2 for aspect in aspects) or 1.0
    stems = frozenset[str]().union(*(one.stems for one in cited))
    rare = sum(aspect.weight**2 * aspect.covered(stems) for aspect in aspects) / squares
    sentence = max(share(aspects, one.stems) for one in cited)
    passage = max(share(aspects, one.stems) for one in evidence.passages)
    words = log(len(aspects))
    return [
        said,
        rare,
        sentence,
        passage,
        1 - sum(aspect.weight for aspect in known) / whole,
        words,
        words * said,
        words * sentence,
        words * passage,
    ]


def probability(evidence: Evidence, cited: Sequence[Cited]) -> float:
    """Return the probability that the sentences answer the question."""
    if not cited:
        return 0.0
    total = WEIGHTS[0] + sum(map(float.__mul__, WEIGHTS[1:], observed(evidence, cited)))
    return round(1 / (1 + exp(-max(-30.0, min(30.0, total)))), 3)
