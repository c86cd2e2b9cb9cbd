"""Put ranked documents into the order in which they are shown.

A document is ranked by its best passages. Of many passages some are near a query by chance, so a long document owes a
part of its score to its length; and a document begins with what it is about, so that its first passage tells more than
another. The verdict keeps to the ranking as it was, with which it was trained.
"""

from __future__ import annotations

from math import log

from deia.records import TYPE_CHECKING
from deia.search.question.terms import Question, named_share
from deia.search.ranking.confidence import SEEN
from deia.search.ranking.rank import Ranked, falling
from deia.search.ranking.weights import fusion_weight, shown_weights

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from deia.search.catalog import Catalog
    from deia.search.ranking.retrieve import Meaning
    from deia.search.ranking.weights import ShownWeights

MOST = 64  # passages: a longer document owes no more, since no set to learn from had many of them


def in_order_shown(
    catalog: Catalog, question: Question, ranked: Sequence[Ranked], meaning: Meaning, code: Collection[int]
) -> list[Ranked]:
    """Return documents in the order in which they are shown; of `code`, each passage is ranked by itself.

    Only the first ones are moved, so that their order does not depend on how many are wanted. Without a tier all stay
    as they are, since no weights were learned for words alone.
    """
    if meaning.tier is None:
        return list(ranked)
    vectors, named = catalog.vectors(meaning.tier.name), named_share(question)
    weights = shown_weights(meaning.name, named=named)
    more = additional(fusion_weight(meaning.name, named=named), weights.meaning)

    def worth(document: Ranked) -> float:
        whole = document.number in code
        passages = 1 if whole else vectors.count(document.number)
        return fit(document, passages, first=whole or document.ordinal == 0, more=more, weights=weights)

    return falling([*sorted(ranked[:SEEN], key=lambda document: -worth(document)), *ranked[SEEN:]])


def with_the_judged(shown: Sequence[Ranked], ranked: Sequence[Ranked], limit: int) -> list[Ranked]:
    """Return the first documents shown; the one that the verdict is about comes last if it is not among them.

    A single place stays with what is shown first, such as a lesson of one's own.
    """
    best = {document.number for document in ranked[:1]}
    kept, rest = list(shown[:limit]), [document for document in shown[limit:] if document.number in best]
    return (
        kept if not rest or len(kept) == 1 or best & {document.number for document in kept} else [*kept[:-1], rest[0]]
    )


def additional(before: float, after: float) -> float:
    """Return the share of nearness that, added to a score, makes one weight of meaning another."""
    return (after - before) / (1 - before)


def fit(document: Ranked, passages: int, *, first: bool, more: float, weights: ShownWeights) -> float:
    """Return how well a document fits: its score with `more` of its nearness, less what it owes to its length.

    `first` is whether its best passage is its first one.
    """
    whole = (1 - more) * document.score + more * document.nearness + weights.first * first
    return round(whole - weights.owed * log(max(1, min(MOST, passages))), 6)
