"""Documents with all the words of a question, and those with none of them.

A question of rare words is answered by a passage that has them all, even where it speaks of much else and is therefore
less like the question than a short text about another thing. Common words meet by chance and do not count.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.search.ranking.exact_names import is_rare
from deia.search.ranking.rank import Ranked, falling

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from deia.search.catalog import Catalog
    from deia.search.question.terms import Question

HOLDERS = 8  # passages with all words that are looked up


def documents_with_all_words(catalog: Catalog, question: Question) -> frozenset[int]:
    """Return the numbers of documents with a passage that contains a question's every word, one of which is rare.

    There are none if a word is unknown or was corrected.
    """
    parts = [term for term in question.terms if term.part]
    stems = [term.stem for term in parts if term.stem and not term.corrected]
    if len(stems) < len(parts) or not any(is_rare(catalog, stem) for stem in stems):
        return frozenset()
    return frozenset(catalog.keyword.documents_with(stems, limit=HOLDERS))


def before_those_with_none(ranked: Sequence[Ranked], holders: Collection[int]) -> list[Ranked]:
    """Return documents in order, those with no word of a question after the last of the `holders` of all of them."""
    places = [at for at, document in enumerate(ranked) if document.number in holders]
    if not places:
        return list(ranked)
    before, after = ranked[: places[-1] + 1], ranked[places[-1] + 1 :]
    return falling([*sorted(before, key=lambda document: not document.words), *after])
