"""Rank documents by the passages that words and meaning found.

Both scores are brought to one scale and added with a weight that was learned (tools/tune_search.py). Whether the best
document answers the query is not decided here but in `confidence`.
"""

from __future__ import annotations

from operator import itemgetter, mul

from deia.folders import LIBRARY_PREFIX
from deia.records import TYPE_CHECKING, Record
from deia.search.catalog import Catalog
from deia.search.question.terms import Question, named_share
from deia.search.ranking.weights import fusion_weight

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import TypeVar

    Named = TypeVar("Named")
    Passage = tuple[int, int]  # a document's number, and the passage's ordinal in it
    Hit = tuple[int, int, float]  # a passage with its score

# A document's keyword score is that of its best passage, plus a quarter of the second and an eighth of the third.
# Compared with the best passage alone, this gains two points of nDCG@10 on long documents and nothing on short ones.
# Its similarity is the weighted mean of its three best passages (one point on long documents), and in part (ABOUT) that
# of the document as a whole. A file of code is no such whole: each of its passages is ranked by itself.
SHARES = (1.0, 0.25, 0.125, 0.0625)
LIKE_SHARES = (1.0, 0.5, 0.25)
ABOUT = 0.3
SCALE_OF = 100  # documents: the best one is 1 and the hundredth best 0 on the common scale
NEAR_BEST = 0.7  # of the best score: documents above this answer the question too
MOST_PRIMARY = 3
STRONGER = 0.1  # of a document's score, added or subtracted by the greatest strength in the index
CODE_MEANING = {"static": 0.45}  # the most that meaning counts for code, whose names say much
APART = 1 << 40  # a passage of code is ranked under the number of its document and so many for its ordinal
BESIDE = 10  # additional documents that are ranked because their strength could lift them


class Ranked(Record):
    """A ranked document: its scores by words and by meaning, and the ordinal of the passage to show."""

    number: int
    score: float
    ordinal: int
    words: float = 0.0  # the keyword score
    likeness: float = 0.0  # the cosine of the best passages, and in part of the whole document
    nearness: float = 0.0  # the likeness on the common scale
    linked: str = ""  # which link led here, if one counted


class Likeness(Record):
    """The cosines of passages and of whole documents with a query."""

    passages: Mapping[Passage, float]
    documents: Mapping[int, float]


class Evidence(Record):
    """What was retrieved for a query: passages by their words, and similarities in meaning if a tier took part."""

    hits: Sequence[Hit]
    likeness: Likeness | None = None
    code: Collection[int] = frozenset()  # the numbers of the documents whose passages are ranked one by one


def rank_documents(
    catalog: Catalog, question: Question, evidence: Evidence, *, tier: str, limit: int, alpha: float | None = None
) -> list[Ranked]:
    """Return the best documents for what was retrieved, best first; `tier` made the similarities, if there are any.

    `alpha` is the weight of meaning against words, instead of the one that was learned.
    """
    strengths, evidence = catalog.strengths, apart(evidence)
    most = limit + BESIDE if strengths else limit
    if evidence.likeness is None:
        ranked = rank(evidence.hits, most=most)
    else:
        weight = fusion_weight(tier, named=named_share(question)) if alpha is None else alpha
        code = code_weight(tier, weight) if alpha is None else alpha
        ranked = rank(evidence.hits, likeness=evidence.likeness, meaning=weight, code_meaning=code, most=most)
    if evidence.code:
        ranked = [document.but(number=document.number % APART) for document in ranked]
    if strengths:
        ids = {document.number: catalog.id(document.number) for document in ranked}
        ranked = strengthened(ranked, {number: strengths[ident] for number, ident in ids.items() if ident in strengths})
    return _cut_off(catalog, ranked, limit)


def code_weight(tier: str, weight: float) -> float:
    """Return the weight of a tier's meaning for code, of its weight for other documents."""
    return min(weight, CODE_MEANING.get(tier, weight))


def apart(evidence: Evidence) -> Evidence:
    """Return what was retrieved with each passage of code as a document of its own."""
    code, likeness = evidence.code, evidence.likeness
    if not code:
        return evidence

    def number(document: int, ordinal: int) -> int:
        return document + APART * (ordinal + 1) if document in code else document

    if likeness:
        passages = {(number(*place), place[1]): cosine for place, cosine in likeness.passages.items()}
        about = {at: likeness.documents.get(at, cosine) for (at, _), cosine in passages.items()}
        likeness = Likeness(passages=passages, documents=about)
    hits = [(number(document, ordinal), ordinal, score) for document, ordinal, score in evidence.hits]
    return evidence.but(hits=hits, likeness=likeness)


def _cut_off(catalog: Catalog, ranked: Sequence[Ranked], limit: int) -> list[Ranked]:
    """Return the first documents; equal scores are ordered by id, so that the order is independent of numbers."""
    if not ranked:
        return []
    last = ranked[: max(1, limit)][-1].score
    kept = [document for document in ranked if document.score >= last]
    tied = len({document.score for document in kept}) < len(kept)
    if tied:
        kept = sorted(kept, key=lambda document: (-document.score, catalog.id(document.number)))
    return kept[:limit]


def rank(
    hits: Iterable[Hit],
    *,
    likeness: Likeness | None = None,
    meaning: float = 0.0,
    code_meaning: float = 0.0,
    most: int = 10,
) -> list[Ranked]:
    """Return documents, best first and those with equal scores by number.

    `meaning` is the weight of the similarities, and `code_meaning` that for code.

    At least `most` documents are returned if there are as many, and all that score as high as the last of them.
    """
    all_hits = list(hits)
    words = _by_document(((document, score) for document, _, score in all_hits), _summed)
    if likeness is None:
        leading = _leading(words, most)
        passages = _passages(all_hits, leading)
        return [
            Ranked(number=number, score=score, ordinal=_best(passages[number], {}, 1.0, 0.0), words=words[number])
            for score, number in leading
        ]
    similar = ((document, ordinal, cosine) for (document, ordinal), cosine in likeness.passages.items())
    best = _by_document(((place[0], cosine) for place, cosine in likeness.passages.items()), _mean)
    about = likeness.documents
    like = {number: (1 - ABOUT) * cosine + ABOUT * about[number] for number, cosine in best.items()}
    near = scaled(like, among=len(like))
    leading = _leading(_fused(words, near, meaning, code_meaning), most)
    by_words, by_meaning = _passages(all_hits, leading), _passages(similar, leading)
    top = max(map(itemgetter(2), all_hits), default=0.0) or 1.0
    return [
        Ranked(
            number=number,
            score=score,
            ordinal=_best(by_words[number], by_meaning[number], (1 - meaning) / top, meaning),
            words=words.get(number, 0.0),
            likeness=like[number],
            nearness=near[number],
        )
        for score, number in leading
    ]


def _by_document(scored: Iterable[tuple[int, float]], combine: Callable[[list[float]], float]) -> dict[int, float]:
    """Return each document's score: that of its only passage, or what `combine` makes of several."""
    scores: dict[int, float] = {}
    several: dict[int, list[float]] = {}
    for document, score in scored:
        if document not in scores:
            scores[document] = score
        elif document in several:
            several[document].append(score)
        else:
            several[document] = [scores[document], score]
    scores.update({document: combine(passages) for document, passages in several.items()})
    return scores


def _fused(
    words: Mapping[int, float], near: Mapping[int, float], meaning: float, code_meaning: float
) -> dict[int, float]:
    by_words = scaled(words, among=len(near))
    fused = {}
    for number, score in near.items():
        weight = code_meaning if number >= APART else meaning
        fused[number] = round((1 - weight) * by_words.get(number, 0.0) + weight * score, 6)
    return fused


def _leading(scores: Mapping[int, float], most: int) -> list[tuple[float, int]]:
    if not scores:
        return []
    last = sorted(scores.values(), reverse=True)[: max(1, most)][-1]
    ordered = sorted((-score, number) for number, score in scores.items() if score >= last)
    return [(-score, number) for score, number in ordered]


def _passages(hits: Iterable[Hit], leading: Iterable[tuple[float, int]]) -> dict[int, dict[int, float]]:
    """Return the scores of the leading documents' passages, by document and ordinal."""
    passages: dict[int, dict[int, float]] = {number: {} for _, number in leading}
    for document, ordinal, score in hits:
        if document in passages:
            passages[document][ordinal] = score
    return passages


def _best(words: Mapping[int, float], cosines: Mapping[int, float], word_weight: float, meaning: float) -> int:
    """Return the ordinal of the passage with the best combined score, the first of equals."""
    ordinals = sorted({*words, *cosines})
    return max(ordinals, key=lambda at: word_weight * words.get(at, 0.0) + meaning * cosines.get(at, 0.0))


def scaled(values: Mapping[Named, float], *, among: int) -> dict[Named, float]:
    """Return scores on a scale on which the best is 1 and the hundredth best is 0; of fewer scores, the lowest is 0.

    If fewer than `among` candidates have a score, those without one count as 0, which is then the lowest.
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
    total: float = sum(map(mul, sorted(scores, reverse=True), SHARES))
    return total


def _mean(cosines: Iterable[float]) -> float:
    """Return the weighted mean of a document's best passages, in which better ones count more."""
    best = sorted(cosines, reverse=True)[: len(LIKE_SHARES)]
    total: float = sum(map(mul, best, LIKE_SHARES))
    return total / sum(LIKE_SHARES[: len(best)])


def strengthened(ranked: Sequence[Ranked], strengths: Mapping[int, float]) -> list[Ranked]:
    """Return documents in their new order after their strengths (-1 to 1) are applied to the scores."""
    adjusted = [
        document.but(score=document.score * (1 + STRONGER * strengths.get(document.number, 0.0))) for document in ranked
    ]
    return sorted(adjusted, key=lambda document: (-document.score, document.number))


def falling(ordered: Sequence[Ranked]) -> list[Ranked]:
    """Return documents in their order, with scores that never increase: each has at least that of the next."""
    lifted: list[Ranked] = []
    for document in reversed(ordered):
        score = max(document.score, lifted[-1].score) if lifted else document.score
        lifted.append(document if score == document.score else document.but(score=score))
    return lifted[::-1]


def present_first(catalog: Catalog, ranked: list[Ranked]) -> list[Ranked]:
    """Return documents in order, with a lower score for those whose files are gone, which have no text to show.

    An empty file of the library is left out unless its name has words of the question: it means nothing.
    """
    if all(catalog.text_size(document.number) for document in ranked):
        return ranked
    kept = []
    for document in ranked:
        if catalog.text_size(document.number):
            kept.append(document)
        elif document.words or not catalog.id(document.number).startswith(LIBRARY_PREFIX):
            kept.append(document.but(score=NEAR_BEST * document.score))
    return sorted(kept, key=lambda document: -document.score)


def primary_count(scores: Sequence[float]) -> int:
    """Return how many of the top documents score nearly as high as the first."""
    return sum(score >= NEAR_BEST * scores[0] for score in scores[:MOST_PRIMARY])
