"""How likely it is that an answer's sentences really answer the question.

It is the product of two probabilities: that the documents are about the subject at all, as a search judges it, and
that the sentences then answer. The second is a logistic regression over features of the sentences and passages, which
`bench/answers.py --learn` learned from questions whose evidence was there or had been taken out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import exp, log
from operator import mul

from deia.answers.aspects import Aspect, share, stems_in
from deia.answers.gathering import Evidence
from deia.answers.synthesis import Cited
from deia.search.ranking.confidence import ALL

# Weights with the cosines of word vectors, and without: other models have other scales. Each begins with the bias.
WITH_MEANING = (-5.13, 0.1, -3.57, 3.7, 0.06, -0.85, 4.72, 0.14, 2.34)
BY_WORDS = (-3.26, 0.24, -3.35, 0.08, -0.62, 4.51, 0.23, 2.39)
MEASURED = "static"  # the tier of the cosines
LEAST = 0.2  # below this probability, the answer is that the documents do not say
IS_SAID = 0.5  # the least probability that a document is about the subject if its sentences have all of the question
UNRELATED = 0.1  # the least probability that the documents are about the subject, even if a search finds nothing
SUREST = 0.99  # the highest probability of a search's verdict, whose odds count; 1 - SUREST is the lowest
NEAR = 3  # how many words apart two words of a question may be in a sentence to count as said together


def observed(evidence: Evidence, cited: Sequence[Cited]) -> list[float]:
    """Return the features from which the probability is computed."""
    by_document: dict[str, frozenset[str]] = {}
    for sentence in cited:
        by_document[sentence.passage.key[0]] = by_document.get(sentence.passage.key[0], frozenset()) | sentence.stems
    together = _said_together(evidence.aspects, cited)
    score = max((passage.score for passage in evidence.passages), default=0.0)
    alone = min(max(evidence.answers, 1 - SUREST), SUREST)
    return [
        log(max(1, len(evidence.aspects))),
        together,
        max((passage.likeness for passage in evidence.passages), default=0.0),
        max((share(evidence.aspects, stems) for stems in by_document.values()), default=0.0),
        score,
        together * score,
        log(alone / (1 - alone)),
        share(evidence.aspects, frozenset().union(*(passage.stems for passage in evidence.passages))),
    ]


def probability(evidence: Evidence, cited: Sequence[Cited]) -> float:
    """Return the probability that the sentences answer the question."""
    if not cited:
        return 0.0
    values = observed(evidence, cited)
    said = values[3]  # by one document
    tiers = [passage.asked.meaning.tier for passage in evidence.passages if passage.likeness]
    weights: tuple[float, ...] = WITH_MEANING
    if not tiers or any(tier is None or tier.name != MEASURED for tier in tiers):
        weights, values = BY_WORDS, [*values[:2], *values[3:]]
    total = weights[0] + sum(map(mul, weights[1:], values))
    sure = 1 / (1 + exp(-max(-30.0, min(30.0, total))))
    least = IS_SAID if said >= ALL else UNRELATED
    return round(sure * max(evidence.belongs, least), 3)


def _said_together(aspects: Sequence[Aspect], cited: Sequence[Cited]) -> float:
    """Return the share of a question's neighbouring words that are near each other in a sentence, by weight.

    Of a question of one word it is whether a passage that is quoted says that, if only in its title.
    """
    if len(aspects) == 1:
        return max((aspects[0].covered(sentence.passage.stems) for sentence in cited), default=0.0)
    places_by_sentence = [_places(sentence) for sentence in cited]
    whole = together = 0.0
    for left, right in pairwise(aspects):
        weight = min(left.weight, right.weight)
        whole += weight
        together += weight * any(_are_near(left, right, places) for places in places_by_sentence)
    return together / (whole or 1.0)


def _places(sentence: Cited) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for at, stem in enumerate(stems_in(sentence.passage.asked.catalog.keyword, sentence.quotation.text)):
        places.setdefault(stem, []).append(at)
    return places


def _are_near(left: Aspect, right: Aspect, places: Mapping[str, Sequence[int]]) -> bool:
    left_places = [at for stem in left.stems for at in places.get(stem, ())]
    right_places = [at for stem in right.stems for at in places.get(stem, ())]
    return any(0 < abs(left_place - right_place) <= NEAR for left_place in left_places for right_place in right_places)
