"""From passages that words and meaning found to documents in order.

Both sides are brought to one scale and added with a weight that was learned (tools/tune_search.py). Pure: it reads no
file and no clock, and refuses to say whether the best document answers anything: that is `verdict`'s business.
"""

from __future__ import annotations

from operator import itemgetter, mul

from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

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
STRONGER = 0.1  # of a document's score: what the greatest strength that the index can give it adds or takes
BESIDE = 10  # documents ranked beyond those asked for, that could come up by their strength


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
    found = list(hits)
    words = _by_document(((document, score) for document, _, score in found), _summed)
    if likeness is None:
        leading = _leading(words, most)
        held = _passages(found, leading)
        return [
            Ranked(number=number, score=score, ordinal=_best(held[number], {}, 1.0, 0.0), words=words[number])
            for score, number in leading
        ]
    said = ((document, ordinal, cosine) for (document, ordinal), cosine in likeness.passages.items())
    best = _by_document(((place[0], cosine) for place, cosine in likeness.passages.items()), _mean)
    about = likeness.documents
    like = {number: (1 - ABOUT) * cosine + ABOUT * about[number] for number, cosine in best.items()}
    leading = _leading(_fused(words, like, meaning), most)
    held, near = _passages(found, leading), _passages(said, leading)
    top = max(map(itemgetter(2), found), default=0.0) or 1.0
    return [
        Ranked(
            number=number,
            score=score,
            ordinal=_best(held[number], near[number], (1 - meaning) / top, meaning),
            words=words.get(number, 0.0),
            likeness=like[number],
        )
        for score, number in leading
    ]


def _by_document(scored: Iterable[tuple[int, float]], together: Callable[[list[float]], float]) -> dict[int, float]:
    """Give a document's score: its passage's, or what several come to together; most have one among those found."""
    scores: dict[int, float] = {}
    several: dict[int, list[float]] = {}
    for document, score in scored:
        if document not in scores:
            scores[document] = score
        elif document in several:
            several[document].append(score)
        else:
            several[document] = [scores[document], score]
    scores.update({document: together(each) for document, each in several.items()})
    return scores


def _fused(words: Mapping[int, float], like: Mapping[int, float], meaning: float) -> dict[int, float]:
    said, meant = scaled(words, among=len(like)).get, scaled(like, among=len(like))
    return {number: round((1 - meaning) * said(number, 0.0) + meaning * each, 6) for number, each in meant.items()}


def _leading(scores: Mapping[int, float], most: int) -> list[tuple[float, int]]:
    if not scores:
        return []
    last = sorted(scores.values(), reverse=True)[: max(1, most)][-1]
    ordered = sorted((-score, number) for number, score in scores.items() if score >= last)
    return [(-score, number) for score, number in ordered]


def _passages(found: Iterable[Hit], leading: Iterable[tuple[float, int]]) -> dict[int, dict[int, float]]:
    """Give the passages of the leading documents with their scores, by their places."""
    held: dict[int, dict[int, float]] = {number: {} for _, number in leading}
    for document, ordinal, score in found:
        if document in held:
            held[document][ordinal] = score
    return held


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
    if span <= 0:
        return dict.fromkeys(values, 0.0)
    return {name: (value - least) / span if value > least else 0.0 for name, value in values.items()}


def _summed(scores: Iterable[float]) -> float:
    together: float = sum(map(mul, sorted(scores, reverse=True), SHARES))
    return together


def _mean(cosines: Iterable[float]) -> float:
    """Give the mean of a document's best passages, the better ones counting more."""
    best = sorted(cosines, reverse=True)[: len(LIKE_SHARES)]
    together: float = sum(map(mul, best, LIKE_SHARES))
    return together / sum(LIKE_SHARES[: len(best)])


def strengthened(ranked: Sequence[Ranked], strengths: Mapping[int, float]) -> list[Ranked]:
    """Give documents with their strengths, each from -1 to 1, counted in, in their new order."""
    counted = [each.but(score=each.score * (1 + STRONGER * strengths.get(each.number, 0.0))) for each in ranked]
    return sorted(counted, key=lambda each: (-each.score, each.number))


def primary_count(scores: Sequence[float]) -> int:
    """Count the documents at the top that are nearly as good as the first."""
    return sum(score >= NEAR_BEST * scores[0] for score in scores[:MOST_PRIMARY])
