"""Keep documents that say the same from filling the first places of an answer.

A near copy of a better document comes after all that say something else. With a weight for variety, likeness counts
against every document in proportion (maximal marginal relevance: Carbonell and Goldstein, SIGIR 1998).
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from deia.search.catalog import Catalog
    from deia.search.ranking.rank import Ranked

COMPARED = 8  # documents at the top
COPY = 0.8  # the share of words in common from which a document is a near copy
MOST_TEXT = 20_000  # characters of a document that are compared
BEHIND = 0.5  # of its score: what a near copy keeps


def varied(catalog: Catalog, ranked: Sequence[Ranked], *, variety: float = 0.0) -> list[Ranked]:
    """Return documents, best first, with near copies of better ones behind others."""
    if len(ranked) < 2:
        return list(ranked)
    left = [*ranked[:COMPARED]]
    words = {_place(document): _words(catalog, document) for document in left}
    chosen = [left.pop(0)]
    likest = {_place(document): 0.0 for document in left}
    while left:
        last = words[_place(chosen[-1])]
        likest = {place: max(likest[place], likeness(words[place], last)) for place in map(_place, left)}
        best = max(left, key=lambda document: _worth(document, likest[_place(document)], variety))
        left.remove(best)
        worth = min(chosen[-1].score, _worth(best, likest[_place(best)], variety))
        chosen.append(best if worth == best.score else best.but(score=worth))
    rest = [document.but(score=min(document.score, chosen[-1].score)) for document in ranked[COMPARED:]]
    return [*chosen, *rest]


def _place(ranked: Ranked) -> tuple[int, int]:
    """Return what tells a document from the others: of a file of code, several passages are ranked, each by itself."""
    return ranked.number, ranked.ordinal


def _worth(ranked: Ranked, likest: float, variety: float) -> float:
    kept = BEHIND if likest >= COPY else 1.0
    return max(0.0, kept * (1 - variety) * ranked.score - variety * likest) if variety else kept * ranked.score


def _words(catalog: Catalog, ranked: Ranked) -> frozenset[str]:
    document = catalog.document_at(ranked.number)
    if document.type == "code":  # of which each passage is ranked by itself
        text = "\n".join(catalog.lines(document, *document.passages[ranked.ordinal]))[:MOST_TEXT]
    else:
        text = catalog.text(document, most=MOST_TEXT)
    return frozenset(text.casefold().split())


def likeness(words: Collection[str], others: Collection[str]) -> float:
    """Return the share of the words of two texts that both contain."""
    words, others = frozenset(words), frozenset(others)  # which copies nothing that is one already
    both = len(words & others)
    either = len(words) + len(others) - both
    return both / either if either else 0.0
