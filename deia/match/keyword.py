"""Keyword search over passages: a tantivy index, ranked by BM25, with filters applied before ranking.

A single text field holds a chunk's own words together with its document's title, keywords, tags and summary, each
repeated by its weight, so that a word's frequency saturates over all of them. Separate fields, each with its own
document frequencies, rank commands and short notes far worse (measured). Queries are built from terms joined by OR, so
there is no query syntax that a person could get wrong.
"""

from __future__ import annotations

import tantivy

from deia.errors import ArtefactError
from deia.match.tokeniser import fold, terms
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    Wanted = str | tuple[str, ...] | range | frozenset[int]  # one value, any of several, days, document numbers
    Filters = Mapping[str, Wanted]

TEXT = "text"
TITLE = "title"
FILTERS = ("platform", "audience", "urgency", "cluster", "tag")
NAMED = (*FILTERS, "type", "path", "id")  # fields compared as whole values
DATES = ("created", "updated", "verified")
ALSO, NOT = "+", "-"  # prefixes of a filter's name: a second filter of that name, and a negated one
NUMBERS = "document"
WORDLESS = "-"  # a word of the title of passages that hardly have words; no text has such a term
MANY = 4  # passages without words count as passages unless they are more than one in so many
ANALYSER = "deia"
LONGEST_KEY = 500  # characters of an id or a filter value; the index refuses words of 64 KB
MOST_PASSAGES = 10_000  # read when looking up the stems of an answer's documents
REMOVED = ".del"  # ends the names of the index's files that say which passages were removed
FEW_PASSAGES = 100  # a word of so few may have been in removed ones only
FEW_VALUES = 100  # terms of a query, beside which the automaton of a set of terms takes longer and a megabyte
MASK_BITS = 20  # a float's significand holds 24 bits exactly
REBUILD = "Run `deia compile`."


def schema() -> tantivy.Schema:
    """Return the layout of the index: one row per chunk."""
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
    """Return the analyser that stems terms; `deia.match.tokeniser` has split the text into terms before."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    return builder.filter(tantivy.Filter.stemmer("english")).build()


def key(text: str) -> str:
    """Return an id in the form in which the index can store it."""
    return text[:LONGEST_KEY].encode("utf-8", "replace").decode()


def filter_key(value: str) -> str:
    """Return a filter's value in the normalised spelling in which values are compared."""
    return key(fold(value))


class KeywordIndex:
    """An open index; `name` maps a document's number to its id."""

    __slots__ = ("_has_removed", "_name", "_schema", "_searcher", "_stemmer", "_worded", "_wordless_documents")

    def __init__(self, folder: str, *, name: Callable[[int], str], has_removed: bool = False) -> None:
        """`has_removed` is whether there are passages that were removed or replaced, which the index counts, too."""
        try:
            self._schema, self._searcher = _opened(folder)
        except (ValueError, OSError) as error:
            raise ArtefactError(f"the keyword index cannot be opened: {error}", where=folder, fix=REBUILD) from error
        self._name = name
        self._has_removed = has_removed
        self._stemmer = analyser()
        self._worded: int | None = None
        self._wordless_documents: frozenset[int] | None = None

    @property
    def chunks(self) -> int:
        """The number of passages."""
        return self._searcher.num_docs

    @property
    def worded(self) -> int:
        """The number of passages by which words are rare, without those of numbers and the like if these are many.

        A table of 100,000 rows would else make every word that a few notes share a rare one.
        """
        if self._worded is None:
            self._worded = self.passages_of({})
        return self._worded

    @property
    def _has_many_wordless(self) -> bool:
        return MANY * self._searcher.doc_freq(TITLE, WORDLESS) > self.chunks

    def passages_of(self, filters: Filters) -> int:
        """Return the number of passages, likewise, of the documents that pass the filters."""
        if not (self._has_many_wordless or filters):
            return self.chunks
        query, occur = tantivy.Query, tantivy.Occur
        parts = [(occur.Must, query.const_score_query(query.all_query(), 0.0))]
        parts += [(occur.MustNot, self._wordless())] if self._has_many_wordless else []
        return self._count(self._filtered(query.boolean_query(parts), filters))

    @property
    def begun_without_words(self) -> frozenset[int]:
        """The numbers of the documents that begin with a passage without words, if such passages are many."""
        if self._wordless_documents is None:
            occur = tantivy.Occur
            both = tantivy.Query.boolean_query([(occur.Must, self._first()), (occur.Must, self._wordless())])
            found = self._found(both, self.chunks) if self._has_many_wordless else []
            self._wordless_documents = frozenset(number for number, _, _ in found)
        return self._wordless_documents

    def _wordless(self) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, TITLE, WORDLESS, "basic")

    def stems(self, terms: Iterable[str]) -> list[str]:
        """Return the stem of each term."""
        return self._stemmer.analyze(" ".join(terms))

    def frequency(self, stem: str) -> int:
        """Return the number of passages that contain a stem; if they are many, with some that were removed."""
        return self._passages_with(TEXT, stem)

    def _passages_with(self, field: str, term: str) -> int:
        count = self._searcher.doc_freq(field, term)
        if not self._has_removed or not 0 < count <= FEW_PASSAGES:
            return count
        return self._count(tantivy.Query.term_query(self._schema, field, term, "basic"))

    def number(self, document: str) -> int | None:
        """Return a document's number by its id, or None."""
        query = tantivy.Query.term_query(self._schema, "id", key(document), "basic")
        hits = self._searcher.search(query, limit=1, count=False).hits
        return self._numbers("document", hits)[0] if hits else None

    def numbers_by_id(self, documents: Collection[str]) -> dict[str, int]:
        """Return the numbers of those of some documents that there are, by their ids."""
        if not documents:
            return {}
        wanted = self._one_of("id", {*map(key, documents)})
        both = tantivy.Query.boolean_query([(tantivy.Occur.Must, self._first()), (tantivy.Occur.Must, wanted)])
        by_key = {key(self._name(number)): number for number, _, _ in self._found(both, len(documents))}
        return {document: by_key[key(document)] for document in documents if key(document) in by_key}

    def values(self, name: str) -> list[str]:
        """Return every value that a filter can have, sorted."""
        return sorted({value for value, _ in self._searcher.terms_with_prefix(name, "", limit=5_000)})

    def has(self, name: str, value: str) -> bool:
        """Return whether any document has this value of a filter."""
        return self._passages_with(name, filter_key(value)) > 0

    def has_in_title(self, stem: str) -> bool:
        """Return whether any document has this stem in its title."""
        return self._passages_with(TITLE, stem) > 0

    def documents_with(self, stems: Sequence[str], *, limit: int) -> list[int]:
        """Return the numbers of documents with a passage that contains all these stems, best match first."""
        query = tantivy.Query
        all_stems = query.boolean_query([(tantivy.Occur.Must, self._term(stem)) for stem in dict.fromkeys(stems)])
        return list(dict.fromkeys(number for number, _, _ in self._found(all_stems, limit))) if stems else []

    def passages(self, weights: Mapping[str, float], *, filters: Filters, limit: int) -> list[tuple[int, int, float]]:
        """Return the passages that contain any of the stems and pass every filter, best first.

        A passage is a tuple of its document's number, its ordinal and its score.
        """
        if not weights:
            return []
        return self._found(self._filtered(self._any(weights), filters), limit)

    def numbers(self, *, filters: Filters) -> set[int]:
        """Return the numbers of the documents that pass the filters."""
        required = [wanted for name, wanted in filters.items() if not name.startswith(NOT)]
        most = min([self.chunks, *(len(wanted) for wanted in required if isinstance(wanted, frozenset))])
        matches = self._found(self._filtered(self._first(), filters), max(1, most))
        return {number for number, _, _ in matches}

    def listed(self, *, filters: Filters, limit: int) -> list[str]:
        """Return the ids of the documents that pass the filters, in index order."""
        return [self._name(number) for number, _, _ in self._found(self._filtered(self._first(), filters), limit)]

    def count(self, *, filters: Filters) -> int:
        """Return the number of documents that pass the filters."""
        return self._count(self._filtered(self._first(), filters))

    def _count(self, query: tantivy.Query) -> int:
        return int(getattr(self._searcher.search(query, limit=1), "count", 0))

    def _first(self) -> tantivy.Query:
        """Return the query for the first passage of every document."""
        return tantivy.Query.const_score_query(tantivy.Query.term_query(self._schema, "ordinal", 0, "basic"), 0.0)

    def stems_by_passage(self, documents: Sequence[str], stems: Sequence[str]) -> dict[str, dict[int, set[str]]]:
        """Return, by document and passage, which of the stems a passage contains; passages without any are left out."""
        by_document: dict[str, dict[int, set[str]]] = {document: {} for document in documents}
        for start in range(0, len(stems) if by_document else 0, MASK_BITS):
            self._add_stems(by_document, stems[start : start + MASK_BITS])
        return by_document

    def _add_stems(self, by_document: dict[str, dict[int, set[str]]], stems: Sequence[str]) -> None:
        """Query all stems at once: the n-th scores 2^n, so a passage's score is the bit set of its stems."""
        query, occur = tantivy.Query, tantivy.Occur
        bits = [
            (occur.Should, query.const_score_query(self._term(stem), float(1 << n))) for n, stem in enumerate(stems)
        ]
        documents = self._one_of("id", [key(document) for document in by_document])
        full_query = query.boolean_query(
            [(occur.Must, query.const_score_query(documents, 0.0)), (occur.Must, query.boolean_query(bits))]
        )
        matches = self._found(full_query, MOST_PASSAGES)
        names = {number: self._name(number) for number in {number for number, _, _ in matches}}
        for number, ordinal, score in matches:
            mask = int(score)
            stems_of_passage = by_document[names[number]].setdefault(ordinal, set())
            stems_of_passage.update([stem for n, stem in enumerate(stems) if mask >> n & 1])

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
        """Return the query for one filter: dates by range, numbers by set, a title by all of its words."""
        query = tantivy.Query
        if isinstance(wanted, range):
            kind = tantivy.FieldType.Unsigned
            return query.range_query(self._schema, name, kind, wanted.start, wanted.stop, include_upper=False)
        if isinstance(wanted, frozenset):
            return self._one_of(name, sorted(wanted)) if wanted else query.empty_query()
        if isinstance(wanted, tuple):
            return query.boolean_query([(tantivy.Occur.Should, self._passing(name, value)) for value in wanted])
        if name == TITLE:
            stems = self.stems(terms(wanted))
            title_words = [query.term_query(self._schema, name, stem, "basic") for stem in stems]
            return query.boolean_query([(tantivy.Occur.Must, word) for word in title_words])
        return query.term_query(self._schema, name, filter_key(wanted), "basic")

    def _one_of(self, name: str, values: Collection[str] | Collection[int]) -> tantivy.Query:
        """Return the query for any of some values: a set of terms builds an automaton, which pays for many only."""
        query = tantivy.Query
        if len(values) > FEW_VALUES:
            return query.term_set_query(self._schema, name, [*values])
        every = [query.term_query(self._schema, name, value, "basic") for value in values]
        return query.boolean_query([(tantivy.Occur.Should, one) for one in every])

    def _found(self, query: tantivy.Query, limit: int) -> list[tuple[int, int, float]]:
        hits = self._searcher.search(query, limit=limit, count=False).hits
        scores = [float(score) for score, _ in hits]
        return list(zip(self._numbers("document", hits), self._numbers("ordinal", hits), scores, strict=True))

    def _numbers(self, field: str, hits: Sequence[tuple[object, tantivy.DocAddress]]) -> list[int]:
        values = self._searcher.fast_field_values(field, [address for _, address in hits])
        return [int(value or 0) for value in values]


def _opened(folder: str) -> tuple[tantivy.Schema, tantivy.Searcher]:
    """Return the schema and a searcher of an index; raise ValueError or OSError if it cannot be opened."""
    try:
        index = tantivy.Index.open(folder)
    except ValueError:
        from deia.match.read_only_index import is_read_only, searcher_of  # noqa: PLC0415 - hardly any folder is

        if is_read_only(folder):
            return searcher_of(folder)
        raise
    index.config_reader("manual")  # the files never change while they are open, and watching them costs a thread
    return index.schema, index.searcher()
