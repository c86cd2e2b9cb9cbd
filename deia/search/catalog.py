"""The compiled search catalog: passages, metadata, texts, words, clusters and past questions.

Everything is read through memory maps and offset tables, so a cold query reads only the few pages it needs, whatever
the size of the commons. The catalog is never written here.
"""

from __future__ import annotations

import os
import sys

from deia import fast_json
from deia.errors import ArtefactError
from deia.match.keyword import REMOVED, KeywordIndex
from deia.match.spelling import Vocabulary
from deia.match.vector_store import Vectors
from deia.records import TYPE_CHECKING, Record
from deia.search.stored_document import REBUILD, Blocks, described_at, document_at, with_tuples

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from mmap import mmap
    from sqlite3 import Connection
    from typing import Any, Protocol

    from deia.search.stored_document import StoredDocument

    class Elsewhere(Protocol):
        """What keeps the vectors of the passages besides the catalog."""

        remark: str  # why the last question was answered without it

        def near(
            self, catalog: Catalog, tier: str, vector: Sequence[float], documents: Collection[int] | None, *, most: int
        ) -> list[int] | None:
            """Return the passages nearest to a vector, of some documents or of all; None if it cannot answer."""


FORMAT = 6
HEADER = "catalog.json"
DIGESTS = "digests.bin"
WORDS = "words.bin"
NEW_WORDS = "words-new.bin"
PATTERNS = "patterns.json"
CONCEPTS = "concepts.json"
KEYWORD = "keyword"
AT_ONCE = 32_768  # bytes of a text whose lines are counted at once
LONGEST_CHARACTER = 4  # bytes in UTF-8
MOST_OPENED = 400  # documents that are kept, since a process that asks often needs the same ones


class Pattern(Record):
    """A past question: its wordings, the stems that identify it, and the documents that answer it."""

    wordings: tuple[str, ...]
    keywords: tuple[tuple[str, ...], ...]  # the stems of each keyword
    cluster: str
    urgency: str
    documents: tuple[str, ...]


class ConceptGroups(Record):
    """The synonyms of the commons: groups of words, each with its stems, and the groups in which stems occur."""

    groups: Sequence[Sequence[tuple[str, str]]]
    by_stems: Mapping[str, Sequence[int]]
    defined: Mapping[str, int]  # abbreviations that texts define, with how often they do


class Cluster(Record):
    """A cluster of the commons: its description, its neighbours, and how many documents it has."""

    description: str
    related: tuple[str, ...]
    documents: int


class StoredTier(Record):
    """A semantic tier whose vectors the catalog contains: the digest, dimensions and name of its model."""

    digest: str
    dimensions: int
    model: str = ""
    code: str = ""  # the digest of what passages of code are encoded with, if it is not the model


class Catalog:
    """An open catalog. It is immutable: a changed catalog is built beside it and opened anew."""

    __slots__ = (
        "_clusters",
        "_concepts",
        "_opened",
        "_patterns",
        "_stems",
        "_vectors",
        "_vocabularies",
        "blocks",
        "engine",
        "folder",
        "header",
        "keyword",
        "links",
    )

    def __init__(self, folder: str, header: Mapping[str, Any]) -> None:
        self.folder = folder
        self.header = header
        self.blocks = Blocks(folder, header["block"])
        self._vocabularies: tuple[Vocabulary, ...] | None = None
        self._vectors: dict[str, Vectors] = {}
        self._patterns: Sequence[Mapping[str, Any]] | None = None
        self._stems: Mapping[str, Sequence[int]] = {}
        self._opened: dict[int, StoredDocument] = {}
        self._clusters: Mapping[str, Cluster] | None = None
        self._concepts: ConceptGroups | None = None
        self.links: Connection | None = None  # between its pages, which count in rankings
        self.engine: Elsewhere | None = None  # what has its vectors besides
        has_removed = any(name.endswith(REMOVED) for name in header["sizes"])
        self.keyword = KeywordIndex(os.path.join(folder, KEYWORD), name=self.blocks.id, has_removed=has_removed)

    def __len__(self) -> int:
        return int(self.header["documents"])

    @property
    def built_at(self) -> str:
        """The time at which the catalog was compiled."""
        return str(self.header["built_at"])

    @property
    def clusters(self) -> Mapping[str, Cluster]:
        """The clusters by id."""
        if self._clusters is None:
            self._clusters = {name: Cluster(**with_tuples(fields)) for name, fields in self.header["clusters"].items()}
        return self._clusters

    @property
    def tiers(self) -> Mapping[str, StoredTier]:
        """The semantic tiers that have vectors in this catalog, by name."""
        return {name: StoredTier(**fields) for name, fields in self.header["tiers"].items()}

    @property
    def strengths(self) -> Mapping[str, float]:
        """The strength (-1 to 1) of every document to which the index assigns one, by id."""
        strengths: Mapping[str, float] = self.header.get("strengths", {})
        return strengths

    @property
    def length(self) -> float:
        """The mean length of a passage that counts, in bytes of text."""
        aside = sum(self.text_size(number) for number in self.keyword.begun_without_words)
        return max(1.0, float(self.header["text_bytes"] - aside) / max(1, self.keyword.worded))

    def learning_path(self, audience: str) -> Sequence[tuple[str, str]]:
        """Return what an audience should read according to the commons: ids in order, each with a reason."""
        paths: Mapping[str, Sequence[tuple[str, str]]] = self.header.get("learning_paths", {})
        return paths.get(audience.casefold(), ())

    @property
    def plain(self) -> Sequence[str] | None:
        """The collections of a library that keep to word vectors; None if no tier was set for any."""
        plain: Sequence[str] | None = self.header.get("plain")
        return plain

    def vectors(self, tier: str) -> Vectors:
        """Return one tier's vectors."""
        if tier not in self._vectors:
            self._vectors[tier] = Vectors(self.folder, tier=tier, dimensions=self.tiers[tier].dimensions)
        return self._vectors[tier]

    @property
    def numbers(self) -> int:
        """The count of document numbers, including those of removed documents, whose id is empty."""
        return len(self.blocks)

    def id(self, number: int) -> str:
        """Return a document's id by its number."""
        return self.blocks.id(number)

    def path(self, number: int) -> str:
        """Return a document's path by its number."""
        return str(described_at(self.blocks.line(number))["path"])

    def ids(self) -> dict[str, int]:
        """Return the number of every document by its id; only the beginning of each line is read."""
        return {name: number for number, name in enumerate(map(self.blocks.id, range(self.numbers))) if name}

    def document(self, ident: str) -> StoredDocument | None:
        """Return a document by its id, or None."""
        number = self.keyword.number(ident)
        return None if number is None else self.document_at(number)

    def documents_by_id(self, idents: Collection[str]) -> dict[str, StoredDocument]:
        """Return those of the documents that the catalog contains, by their ids; one search finds them all."""
        numbers = self.keyword.numbers_by_id(idents)
        return {ident: self.document_at(number) for ident, number in numbers.items()}

    def documents(self, idents: Iterable[str]) -> list[StoredDocument]:
        """Return those of the documents that the catalog contains, in order."""
        wanted = list(idents)
        found = self.documents_by_id({*wanted})
        return [found[ident] for ident in wanted if ident in found]

    def text(self, document: StoredDocument, *, most: int | None = None) -> str:
        """Return a document's text, or its first characters; of a manual of megabytes, no more is read than these."""
        data, start, end = self.blocks.text(document.number)
        end = end if most is None else min(end, start + LONGEST_CHARACTER * most)
        return data[start:end].decode("utf-8", "replace")[:most]

    def lines(self, document: StoredDocument, first: int, last: int) -> list[str]:
        """Return those of some lines of a document's file that exist; no others are decoded."""
        data, start, end = self.blocks.text(document.number)
        begin = _after_lines(data, start, end, first - document.first_line)
        count = last - max(first, document.first_line) + 1
        if begin > end or count < 1:
            return []
        stop = _after_lines(data, begin, end, count)
        return data[begin : stop - 1].decode("utf-8", "replace").split("\n")

    def text_size(self, number: int) -> int:
        """Return the size of a document's text in bytes, 0 if its file is gone, so that only its entry is known."""
        return self.blocks.text_size(number)

    def vocabularies(self) -> tuple[Vocabulary, ...]:
        """Return the words for spelling correction: those of the last full build, and those added since."""
        if self._vocabularies is None:
            self._vocabularies = tuple(Vocabulary(os.path.join(self.folder, name)) for name in (WORDS, NEW_WORDS))
        return self._vocabularies

    def patterns(self, stems: Iterable[str]) -> dict[int, set[str]]:
        """Return the past questions that share any of these stems, by number, with the shared stems."""
        self._read_patterns()
        shared: dict[int, set[str]] = {}
        for stem in stems:
            for number in self._stems.get(stem, ()):
                shared.setdefault(number, set()).add(stem)
        return shared

    def pattern(self, number: int) -> Pattern:
        """Return a past question by its number."""
        fields = self._read_patterns()[number]
        return Pattern(
            wordings=tuple(fields["wordings"]),
            keywords=tuple(map(tuple, fields["keywords"])),
            cluster=fields["cluster"],
            urgency=fields["urgency"],
            documents=tuple(fields["documents"]),
        )

    def wordings(self) -> list[Sequence[str]]:
        """Return the wordings of each past question, by number."""
        return [fields["wordings"] for fields in self._read_patterns()]

    def patterns_answered_by(self, documents: Collection[str]) -> list[Pattern]:
        """Return the past questions that have a wording and that any of these documents answers."""
        return [
            self.pattern(number)
            for number, fields in enumerate(self._read_patterns())
            if fields["wordings"] and any(document in documents for document in fields["documents"])
        ]

    def concepts(self, key: str) -> list[tuple[str, str]]:
        """Return the synonyms for a thing, given by its stems; each synonym comes with its own stems."""
        concepts = self.concept_groups
        groups = [concepts.groups[number] for number in concepts.by_stems.get(key, ())]
        return [(word, stems) for group in groups for word, stems in group if stems != key]

    @property
    def concept_groups(self) -> ConceptGroups:
        """The groups of synonyms, as the compiler wrote them."""
        if self._concepts is None:
            fields = _json(self.folder, CONCEPTS)
            self._concepts = ConceptGroups(groups=fields["groups"], by_stems=fields["by"], defined=fields["defined"])
        return self._concepts

    def _read_patterns(self) -> Sequence[Mapping[str, Any]]:
        """Return the past questions as the compiler wrote them; a search needs few of them as records."""
        if self._patterns is None:
            fields = _json(self.folder, PATTERNS)
            self._stems, self._patterns = fields["stems"], fields["patterns"]
        return self._patterns or ()

    def document_at(self, number: int) -> StoredDocument:
        """Return a document by its number; the last ones are kept."""
        document = self._opened.get(number)
        if document is None:
            if len(self._opened) >= MOST_OPENED:
                self._opened.clear()  # another thread may do so, too
            document = self._opened[number] = self._document(number)
        return document

    def _document(self, number: int) -> StoredDocument:
        return document_at(self.blocks.line(number), number)


def _after_lines(data: mmap, at: int, end: int, count: int) -> int:
    """Return where a text goes on after so many lines, or one past its `end` if it has fewer."""
    while (ends := data[at : min(at + AT_ONCE, end)].count(b"\n")) < count:
        count, at = count - ends, at + AT_ONCE
        if at >= end:
            return end + 1
    for _ in range(count):
        at = data.find(b"\n", at) + 1
    return at


def open_catalog(folder: str) -> Catalog:
    """Open a compiled catalog."""
    return Catalog(folder, _checked_header(folder))


def is_readable(folder: str) -> bool:
    """Return whether a folder has a catalog of this version of deia, with all of its files; nothing is opened."""
    try:
        _checked_header(folder)
    except ArtefactError:
        return False
    return True


def _checked_header(folder: str) -> Mapping[str, Any]:
    header = _json(folder, HEADER)
    if not isinstance(header, dict) or header.get("format") != FORMAT or header.get("byteorder") != sys.byteorder:
        raise ArtefactError("the search catalog was written by another version of deia", where=folder, fix=REBUILD)
    sizes, counts = header.get("sizes"), (header.get("block"), header.get("text_bytes"))
    if not all(type(count) is int and 0 <= count <= sys.maxsize for count in counts) or not counts[0]:
        raise ArtefactError("the search catalog does not say how its documents stand", where=folder, fix=REBUILD)
    if not isinstance(sizes, dict):
        raise ArtefactError("the search catalog does not name its files", where=folder, fix=REBUILD)
    for name, size in sizes.items():
        path = os.path.join(folder, name)
        try:
            actual = os.stat(path).st_size
        except OSError as error:
            raise ArtefactError(f"the search catalog lacks {name}", where=folder, fix=REBUILD) from error
        if actual != size:
            problem = f"the search catalog is damaged: {name} has {actual} bytes instead of {size}"
            raise ArtefactError(problem, where=folder, fix=REBUILD)
    return header


def _json(folder: str, name: str) -> Any:
    path = os.path.join(folder, name)
    try:
        with open(path, encoding="utf-8") as file:
            return fast_json.loads(file.read())
    except FileNotFoundError as error:
        raise ArtefactError("there is no search catalog here", where=path, fix=REBUILD) from error
    except (OSError, ValueError) as error:
        raise ArtefactError(f"the search catalog cannot be read: {error}", where=path, fix=REBUILD) from error
