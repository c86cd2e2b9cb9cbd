"""Words against passages: a tantivy index ranked by BM25, with filters applied before anything is ranked.

One text field holds a chunk's own words and its document's title, keywords, tags and summary, repeated by their
weight, so that a word's frequency saturates over all of them together; separate fields, each with its own idea of how
rare a word is, rank commands and short notes far worse (measured). Questions are built term by term and joined by OR,
so no syntax exists that a person could get wrong. It refuses to open what is not its own index.
"""

from __future__ import annotations

import tantivy

from deia.errors import ArtefactError
from deia.knowledge import Hit
from deia.match.tokeniser import fold, terms
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Wanted = str | tuple[str, ...] | range | frozenset[int]  # one value, any of some, days, documents' numbers
    Filters = Mapping[str, Wanted]

TEXT = "text"
TITLE = "title"
FILTERS = ("platform", "audience", "urgency", "cluster", "tag")
NAMED = (*FILTERS, "type", "path", "id")  # fields that are compared as a whole
DATES = ("created", "updated", "verified")
ALSO, NOT = "+", "-"  # before a filter's name: a second one of the name, and one that must not hold
NUMBERS = "document"
ANALYSER = "deia"
LONGEST_KEY = 500  # characters of an id or a filter value; the index refuses words of 64 KB
MOST_PASSAGES = 10_000  # of the documents of one answer
MASK_BITS = 20  # a float's significand holds 24 bits exactly
REBUILD = "Run `deia compile`."
MATCHER = "keyword"


def schema() -> tantivy.Schema:
    """Give the layout of the index: one row a chunk."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field(TEXT, tokenizer_name=ANALYSER, index_option="freq")
    builder.add_text_field(TITLE, tokenizer_name=ANALYSER, index_option="basic")
    for name in NAMED:
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in DATES:
        builder.add_unsigned_field(name, indexed=True, fast=True)
    builder.add_unsigned_field(NUMBERS, indexed=True, fast=True)
    builder.add_unsigned_field("ordinal", indexed=True, fast=True)
    return builder.build()


def analyser() -> tantivy.TextAnalyzer:
    """Give what turns our terms into the index's stems; the words themselves were split by `terms`."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    return builder.filter(tantivy.Filter.stemmer("english")).build()


def key(text: str) -> str:
    """Give an id as the index can store it."""
    return text[:LONGEST_KEY].encode("utf-8", "replace").decode()


def filter_key(value: str) -> str:
    """Give a filter's value in the one spelling in which values are compared."""
    return key(fold(value))


class KeywordIndex:
    """An opened index; `name` gives the id of a document by its number."""

    __slots__ = ("_name", "_schema", "_searcher", "_stemmer")

    def __init__(self, folder: str, *, name: Callable[[int], str]) -> None:
        try:
            index = tantivy.Index.open(folder)
        except (ValueError, OSError) as error:
            raise ArtefactError(f"the keyword index cannot be opened: {error}", where=folder, fix=REBUILD) from error
        index.config_reader("manual")  # the files never change under us, and watching them costs a thread
        self._name = name
        self._schema = index.schema
        self._searcher = index.searcher()
        self._stemmer = analyser()

    @property
    def chunks(self) -> int:
        """How many passages there are."""
        return self._searcher.num_docs

    def stems(self, terms: Iterable[str]) -> list[str]:
        """Give the stems of terms, one for each."""
        return self._stemmer.analyze(" ".join(terms))

    def frequency(self, stem: str) -> int:
        """Count the passages that hold a stem."""
        return self._searcher.doc_freq(TEXT, stem)

    def number(self, document: str) -> int | None:
        """Give a document's number by its id, or None."""
        asked = tantivy.Query.term_query(self._schema, "id", key(document), "basic")
        found = self._searcher.search(asked, limit=1, count=False).hits
        return self._numbers("document", found)[0] if found else None

    def values(self, name: str) -> list[str]:
        """Give the values that a filter can have."""
        return sorted({value for value, _ in self._searcher.terms_with_prefix(name, "", limit=5_000)})

    def has(self, name: str, value: str) -> bool:
        """Tell whether any document has this value of a filter."""
        return self._searcher.doc_freq(name, filter_key(value)) > 0

    def titled(self, stem: str) -> bool:
        """Tell whether any document has this stem in its title."""
        return self._searcher.doc_freq(TITLE, stem) > 0

    def holding(self, stems: Sequence[str], *, limit: int) -> list[int]:
        """Give the numbers of the documents of which a passage holds all these stems, those that say most first."""
        query = tantivy.Query
        every = query.boolean_query([(tantivy.Occur.Must, self._term(stem)) for stem in dict.fromkeys(stems)])
        return list(dict.fromkeys(number for number, _, _ in self._found(every, limit))) if stems else []

    def search(self, weights: Mapping[str, float], *, filters: Filters, limit: int) -> list[Hit]:
        """Rank the passages that hold any of the stems, best first, among those that pass every filter."""
        return self._hits(self._filtered(self._any(weights), filters), limit) if weights else []

    def passages(self, weights: Mapping[str, float], *, filters: Filters, limit: int) -> list[tuple[int, int, float]]:
        """Rank as `search` does, and give each passage as its document's number, its place there and its score."""
        if not weights:
            return []
        return self._found(self._filtered(self._any(weights), filters), limit)

    def numbers(self, *, filters: Filters) -> set[int]:
        """Give the numbers of the documents that pass the filters."""
        first = tantivy.Query.const_score_query(tantivy.Query.term_query(self._schema, "ordinal", 0, "basic"), 0.0)
        return {number for number, _, _ in self._found(self._filtered(first, filters), max(1, self.chunks))}

    def listed(self, *, filters: Filters, limit: int) -> list[Hit]:
        """Give the first passage of every document that passes the filters, in the order of the index."""
        first = tantivy.Query.term_query(self._schema, "ordinal", 0, "basic")
        return self._hits(self._filtered(tantivy.Query.const_score_query(first, 0.0), filters), limit)

    def count(self, *, filters: Filters) -> int:
        """Count the documents that pass the filters."""
        first = tantivy.Query.term_query(self._schema, "ordinal", 0, "basic")
        return int(getattr(self._searcher.search(self._filtered(first, filters), limit=1), "count", 0))

    def held(self, documents: Sequence[str], stems: Sequence[str]) -> dict[str, dict[int, set[str]]]:
        """Tell which of the stems each document holds, passage by passage; passages that hold none are left out."""
        found: dict[str, dict[int, set[str]]] = {document: {} for document in documents}
        for start in range(0, len(stems) if found else 0, MASK_BITS):
            self._held(found, stems[start : start + MASK_BITS])
        return found

    def _held(self, found: dict[str, dict[int, set[str]]], stems: Sequence[str]) -> None:
        """Ask for all stems at once: the n-th scores 2^n, so that a passage's score is the set of what it holds."""
        query, occur = tantivy.Query, tantivy.Occur
        bits = [
            (occur.Should, query.const_score_query(self._term(stem), float(1 << n))) for n, stem in enumerate(stems)
        ]
        these = query.term_set_query(self._schema, "id", [key(document) for document in found])
        asked = query.boolean_query(
            [
                (occur.Must, query.const_score_query(these, 0.0)),
                (occur.Must, query.boolean_query(bits)),
            ]
        )
        for hit in self._hits(asked, MOST_PASSAGES):
            held = found[hit.document].setdefault(hit.ordinal, set())
            held.update(stem for n, stem in enumerate(stems) if int(hit.score) >> n & 1)

    def _any(self, weights: Mapping[str, float]) -> tantivy.Query:
        query = tantivy.Query
        return query.boolean_query(
            [(tantivy.Occur.Should, query.boost_query(self._term(stem), weight)) for stem, weight in weights.items()]
        )

    def _term(self, stem: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, TEXT, stem, "freq")

    def _filtered(self, words: tantivy.Query, filters: Filters) -> tantivy.Query:
        parts = [(tantivy.Occur.Must, words)]
        for name, wanted in filters.items():
            occur = tantivy.Occur.MustNot if name.startswith(NOT) else tantivy.Occur.Must
            parts.append((occur, tantivy.Query.const_score_query(self._passing(name.lstrip(ALSO + NOT), wanted), 0.0)))
        return tantivy.Query.boolean_query(parts)

    def _passing(self, name: str, wanted: Wanted) -> tantivy.Query:
        """Give what passes one filter: days and numbers by their range and set, a title by all of its words."""
        query = tantivy.Query
        if isinstance(wanted, range):
            kind = tantivy.FieldType.Unsigned
            return query.range_query(self._schema, name, kind, wanted.start, wanted.stop, include_upper=False)
        if isinstance(wanted, frozenset):
            return query.term_set_query(self._schema, name, sorted(wanted)) if wanted else query.empty_query()
        if isinstance(wanted, tuple):
            return query.boolean_query([(tantivy.Occur.Should, self._passing(name, each)) for each in wanted])
        if name == TITLE:
            stems = self.stems(terms(wanted))
            every = [query.term_query(self._schema, name, stem, "basic") for stem in stems]
            return query.boolean_query([(tantivy.Occur.Must, each) for each in every])
        return query.term_query(self._schema, name, filter_key(wanted), "basic")

    def _hits(self, query: tantivy.Query, limit: int) -> list[Hit]:
        return [
            Hit(document=self._name(document), ordinal=ordinal, score=score, matcher=MATCHER)
            for document, ordinal, score in self._found(query, limit)
        ]

    def _found(self, query: tantivy.Query, limit: int) -> list[tuple[int, int, float]]:
        found = self._searcher.search(query, limit=limit, count=False).hits
        scores = [float(score) for score, _ in found]
        return list(zip(self._numbers("document", found), self._numbers("ordinal", found), scores, strict=True))

    def _numbers(self, field: str, found: Sequence[tuple[object, tantivy.DocAddress]]) -> list[int]:
        values = self._searcher.fast_field_values(field, [address for _, address in found])
        return [int(value or 0) for value in values]
