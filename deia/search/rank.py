"""From passages that words and meaning found to documents in order.

Both sides are brought to one scale and added with a weight that was learned (tools/tune_search.py). Pure: it reads no
file and no clock, and refuses to say whether the best document answers anything: that is `verdict`'s business.
"""

from __future__ import annotations

from operator import mul

from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Passage = tuple[int, int]  # a document's number, and the passage's place in it
    Hit = tuple[int, int, float]  # the same with a score

# A document's words are those of its best passage; a second adds a quarter, a third an eighth. Measured against the
# best alone: two points of nDCG@10 on long documents, nothing on short ones. Of its meaning the three best passages
# count, as a mean (a point on long documents), and in part what the document is about.
SHARES = (1.0, 0.25, 0.125, 0.0625)
LIKE_SHARES = (1.0, 0.5, 0.25)
ABOUT = 0.3
SCALE_OF = 100  # documents: the best and the hundredth best are 1 and 0 on the common scale
NEAR_BEST = 0.7  # of the best document's score: these answer the question too
MOST_PRIMARY = 3


class Ranked(Record):
    """A document with its score, what words and meaning each said of it, and the passage to show."""

    number: int
    score: float
    ordinal: int
    words: float = 0.0  # the keyword score
    likeness: float = 0.0  # the cosine of the best passage, and in part of the whole


class Likeness(Record):
    """How near passages and whole documents are to a question, as cosines."""

    passages: Mapping[Passage, float]
    documents: Mapping[int, float]


def rank(
    hits: Iterable[Hit], *, likeness: Likeness | None = None, meaning: float = 0.0, most: int = 10
) -> list[Ranked]:
    """Order documents, the best first and those with equal scores by number; `meaning` weighs the second side.

    Gives as many as `most`, and those whose score is no less than the last one's.
    """
    passages: dict[int, dict[int, float]] = {}
    for document, ordinal, score in hits:
        passages.setdefault(document, {})[ordinal] = score
    words = {
        document: _summed(found.values()) if len(found) > 1 else next(iter(found.values()))
        for document, found in passages.items()
    }
    if likeness is None:
        return [
            Ranked(number=document, score=score, ordinal=_best(passages[document], {}, 1.0, 0.0), words=words[document])
            for score, document in _leading(words, most)
        ]
    cosines: dict[int, dict[int, float]] = {}
    for (document, ordinal), cosine in likeness.passages.items():
        cosines.setdefault(document, {})[ordinal] = cosine
    about = likeness.documents
    like = {
        number: (1 - ABOUT) * (_mean(found.values()) if len(found) > 1 else next(iter(found.values())))
        + ABOUT * about[number]
        for number, found in cosines.items()
    }
    said, meant = scaled(words, among=len(like)), scaled(like, among=len(like))
    fused = {number: round((1 - meaning) * said.get(number, 0.0) + meaning * meant[number], 6) for number in like}
    top = max([max(found.values()) for found in passages.values()], default=0.0) or 1.0
    return [
        Ranked(
            number=number,
            score=score,
            ordinal=_best(passages.get(number, {}), cosines[number], (1 - meaning) / top, meaning),
            words=words.get(number, 0.0),
            likeness=like[number],
        )
        for score, number in _leading(fused, most)
    ]


def _leading(scores: Mapping[int, float], most: int) -> list[tuple[float, int]]:
    ordered = sorted((-score, number) for number, score in scores.items())
    last = ordered[: max(1, most)][-1][0] if ordered else 0.0
    return [(-score, number) for score, number in ordered if score <= last]


def _best(words: Mapping[int, float], cosines: Mapping[int, float], word_weight: float, meaning: float) -> int:
    """Give the passage of a document that both sides together like best, the first of equals."""
    places = sorted({*words, *cosines})
    return max(places, key=lambda at: word_weight * words.get(at, 0.0) + meaning * cosines.get(at, 0.0))


def scaled(values: Mapping[int, float], *, among: int) -> dict[int, float]:
    """Bring scores to a scale on which the best is 1 and the hundredth best 0; of fewer the least is 0.

    Where some of those `among` whom the scores were sought have none, theirs are 0 and the least.
    """
    if not values:
        return {}
    ordered = sorted(values.values(), reverse=True)
    least = ordered[SCALE_OF - 1] if len(ordered) >= SCALE_OF else 0.0 if len(ordered) < among else ordered[-1]
    span = ordered[0] - least
    return {name: max(0.0, (value - least) / span) if span > 0 else 0.0 for name, value in values.items()}


def _summed(scores: Iterable[float]) -> float:
    together: float = sum(map(mul, sorted(scores, reverse=True), SHARES))
    return together


def _mean(cosines: Iterable[float]) -> float:
    """Give the mean of a document's best passages, the better ones counting more."""
    best = sorted(cosines, reverse=True)[: len(LIKE_SHARES)]
    together: float = sum(map(mul, best, LIKE_SHARES))
    return together / sum(LIKE_SHARES[: len(best)])


def primary_count(scores: Sequence[float]) -> int:
    """Count the documents at the top that are nearly as good as the first."""
    return sum(score >= NEAR_BEST * scores[0] for score in scores[:MOST_PRIMARY])
