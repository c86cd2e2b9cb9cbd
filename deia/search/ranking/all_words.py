"""Documents with all the words of a question, and those that lack a rare one.

A question of rare words is answered by a passage that has them all, even where it speaks of much else and is therefore
less like the question than a short text about another thing. Common words meet by chance and do not count. Code keeps
its place: having each word of a sentence says little of what it does (bench/functions.py: .740 if it counts, or .756).
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.search.ranking.exact_names import HOLDERS, is_rare
from deia.search.ranking.rank import Ranked, falling

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from deia.search.catalog import Catalog
    from deia.search.question.terms import Question

MOST_WHOLE = 8  # passages with all words that are looked up


class Holders(Record):
    """The numbers of documents with a passage that has all words of a question, and of those with all rare ones."""

    of_all: frozenset[int] = frozenset()
    of_rare: frozenset[int] = frozenset()


def holders_of_words(catalog: Catalog, question: Question) -> Holders:
    """Return who has a question's words; nobody if a word is unknown or was corrected, or none is rare."""
    parts = [term for term in question.terms if term.part]
    stems = [term.stem for term in parts if term.stem and not term.corrected]
    rare = [stem for stem in dict.fromkeys(stems) if is_rare(catalog, stem)]
    if len(stems) < len(parts) or not rare:
        return Holders()
    of_all = frozenset(catalog.keyword.documents_with(stems, limit=MOST_WHOLE))
    if not of_all:
        return Holders()
    having = [frozenset(catalog.keyword.documents_with([stem], limit=HOLDERS)) for stem in rare[:MOST_WHOLE]]
    return Holders(of_all=of_all, of_rare=of_all.union(frozenset.intersection(*having)))


def before_those_without(ranked: Sequence[Ranked], holders: Holders, code: Collection[int] = ()) -> list[Ranked]:
    """Return documents in order, those that lack a rare word of a question after the last that has all its words.

    `code` are the numbers of the documents of code, which stay before the others.
    """
    of_all, kept = holders.of_all.difference(code), holders.of_rare.union(code)
    places = [at for at, document in enumerate(ranked) if document.number in of_all]
    if not places:
        return list(ranked)
    before, after = ranked[: places[-1] + 1], ranked[places[-1] + 1 :]
    return falling([*sorted(before, key=lambda document: document.number not in kept), *after])
