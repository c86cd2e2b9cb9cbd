"""How good a ranking is, in the usual figures. Pure numbers; it refuses to run a search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, log2

from deia.records import Record

DEPTH = 10  # of nDCG
RECALLED = 5


class Scores(Record):
    """What one ranking is worth, or the mean of several; each is from 0 to 1."""

    ndcg: float = 0.0
    recall: float = 0.0
    mrr: float = 0.0
    hit: float = 0.0


def scores(found: Sequence[str], relevant: Mapping[str, int]) -> Scores:
    """Give the figures of one ranking, best first, against the grades of the documents that are relevant."""
    wanted = {document: grade for document, grade in relevant.items() if grade > 0}
    places = [place for place, document in enumerate(found, 1) if document in wanted]
    if not places:
        return Scores()
    return Scores(
        ndcg=ndcg(found, wanted),
        recall=sum(place <= RECALLED for place in places) / min(RECALLED, len(wanted)),
        mrr=1 / places[0],
        hit=float(places[0] == 1),
    )


def ndcg(found: Sequence[str], relevant: Mapping[str, int]) -> float:
    """Give nDCG@10: the discounted gain as a share of that of the best order (Järvelin and Kekäläinen, TOIS 2002).

    The gain is 2^grade - 1 (Burges et al., ICML 2005), discounted by the binary logarithm of the place plus one.
    """
    ideal = gain(sorted(relevant.values(), reverse=True))
    return gain([relevant.get(document, 0) for document in found]) / ideal if ideal else 0.0


def gain(grades: Sequence[int]) -> float:
    """Sum the discounted gains of the first ten documents."""
    return sum((2.0 ** min(grade, 30) - 1) / log2(place + 2) for place, grade in enumerate(grades[:DEPTH]))


def mean(every: Iterable[Scores]) -> Scores:
    """Give the mean of each figure.

    The mean reciprocal rank is that of TREC-8's question answering (Voorhees, 1999); recall@5 counts of at most five.
    """
    rows = list(every)
    if not rows:
        return Scores()
    return Scores(**{name: sum(getattr(row, name) for row in rows) / len(rows) for name in Scores().values()})


def percentile(values: Iterable[float], share: float) -> float:
    """Give the value that a share of all does not exceed, by the nearest rank; 0 of none."""
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else 0.0
