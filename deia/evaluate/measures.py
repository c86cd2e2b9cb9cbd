"""The usual measures of a ranking's quality."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, log2

from deia.records import Record

DEPTH = 10  # results that nDCG considers
RECALL_DEPTH = 5


class Scores(Record):
    """The measures of one ranking, or the means of several; each is between 0 and 1."""

    ndcg: float = 0.0
    recall: float = 0.0
    mrr: float = 0.0
    hit: float = 0.0


def scores(ranking: Sequence[str], relevant: Mapping[str, int]) -> Scores:
    """Return the measures of a ranking, best first, given the grades of the relevant documents."""
    grades = {document: grade for document, grade in relevant.items() if grade > 0}
    ranks = [rank for rank, document in enumerate(ranking, 1) if document in grades]
    if not ranks:
        return Scores()
    return Scores(
        ndcg=ndcg(ranking, grades),
        recall=sum(rank <= RECALL_DEPTH for rank in ranks) / min(RECALL_DEPTH, len(grades)),
        mrr=1 / ranks[0],
        hit=float(ranks[0] == 1),
    )


def ndcg(ranking: Sequence[str], relevant: Mapping[str, int]) -> float:
    """Return nDCG@10: the discounted gain divided by that of the best order (Järvelin and Kekäläinen, TOIS 2002).

    The gain is 2^grade - 1 (Burges et al., ICML 2005), divided by the binary logarithm of the rank plus one.
    """
    ideal = gain(sorted(relevant.values(), reverse=True))
    return gain([relevant.get(document, 0) for document in ranking]) / ideal if ideal else 0.0


def gain(grades: Sequence[int]) -> float:
    """Return the sum of the discounted gains of the first ten documents."""
    return sum((2.0 ** min(grade, 30) - 1) / log2(position + 2) for position, grade in enumerate(grades[:DEPTH]))


def mean(rankings: Iterable[Scores]) -> Scores:
    """Return the mean of each measure.

    The mean reciprocal rank is that of the question answering track of TREC-8 (Voorhees, 1999); recall@5 is relative to
    at most five documents.
    """
    rows = list(rankings)
    if not rows:
        return Scores()
    return Scores(**{name: sum(getattr(row, name) for row in rows) / len(rows) for name in Scores().values()})


def percentile(values: Iterable[float], share: float) -> float:
    """Return the value that a share of all values does not exceed, by the nearest rank; 0 if there are none."""
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else 0.0
