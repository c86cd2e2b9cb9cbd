"""The compiled search catalog, opened: passages, metadata, texts, words, clusters and past questions.

Everything is read through memory maps and offset tables, so that a cold question costs the few pages it touches,
whatever the size of the commons. It refuses a folder that is missing, torn or of another format, and says how to mend
it; it never writes.
"""

from __future__ import annotations

import mmap
import os
import sys

from deia import fast_json
from deia.errors import ArtefactError
from deia.knowledge import Entry
from deia.match.keyword import KeywordIndex
from deia.match.spelling import Vocabulary
from deia.match.vector_store import Vectors
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

FORMAT = 3
HEADER = "catalog.json"
DOCUMENTS = "documents.txt"  # a line a document: its id, a tab, its metadata
OFFSETS = "documents.at"  # where each line and each text begins, two numbers a document
TEXTS = "texts.txt"
DIGESTS = "digests.bin"
WORDS = "words.bin"
NEW_WORDS = "words-new.bin"
PATTERNS = "patterns.json"
CONCEPTS = "concepts.json"
KEYWORD = "keyword"
REBUILD = "Run `deia compile`."


class Shelved(Record):
    """A document as the catalog holds it: its entry, its number, and the lines and headings of its passages."""

    entry: Entry
    number: int
    first_line: int = 1
    passages: tuple[tuple[int, int], ...] = ()
    headings: tuple[str, ...] = ()


class Pattern(Record):
    """A past question: its wordings, the stems that identify it, and what answered it."""

    wordings: tuple[str, ...]
    keywords: tuple[tuple[str, ...], ...]  # each keyword as its stems
    cluster: str
    urgency: str
    documents: tuple[str, ...]


class Catalog:
    """An opened catalog. Immutable for the reader: what changes is built beside it and opened anew."""

    __slots__ = (
        "_concepts",
        "_documents",
        "_offsets",
        "_patterns",
        "_stems",
        "_texts",
        "_vectors",
        "_vocabularies",
        "folder",
        "header",
        "keyword",
    )

    def __init__(self, folder: str, header: Mapping[str, Any]) -> None:
        self.folder = folder
        self.header = header
        self._documents = _mapped(folder, DOCUMENTS)
        self._texts = _mapped(folder, TEXTS)
        self._offsets = memoryview(_mapped(folder, OFFSETS)).cast("Q")
        self._vocabularies: tuple[Vocabulary, ...] | None = None
        self._vectors: dict[str, Vectors] = {}
        self._patterns: tuple[Pattern, ...] | None = None
        self._stems: Mapping[str, Sequence[int]] = {}
        self._concepts: Mapping[str, Any] | None = None
        self.keyword = KeywordIndex(os.path.join(folder, KEYWORD), name=self.id)

    def __len__(self) -> int:
        return int(self.header["documents"])

    @property
    def built_at(self) -> str:
        """When the catalog was compiled, as its builder was told."""
        return str(self.header["built_at"])

    @property
    def clusters(self) -> Mapping[str, Mapping[str, Any]]:
        """The clusters by id, each with description, related and documents (a count)."""
        clusters: Mapping[str, Mapping[str, Any]] = self.header["clusters"]
        return clusters

    @property
    def tiers(self) -> Mapping[str, Mapping[str, Any]]:
        """The semantic tiers whose vectors are here, each with the digest of the model and its dimensions."""
        tiers: Mapping[str, Mapping[str, Any]] = self.header["tiers"]
        return tiers

    @property
    def strengths(self) -> Mapping[str, float]:
        """The standing of those documents to which the index gives one, by id, each from -1 to 1."""
        strengths: Mapping[str, float] = self.header.get("strengths", {})
        return strengths

    @property
    def length(self) -> float:
        """The mean length of a passage, in bytes of text."""
        return max(1.0, float(self.header["sizes"][TEXTS]) / max(1, self.keyword.chunks))

    def learning_path(self, audience: str) -> Sequence[tuple[str, str]]:
        """Give what an audience should read, as the commons says: ids in order, each with why; () for none."""
        paths: Mapping[str, Sequence[tuple[str, str]]] = self.header.get("learning_paths", {})
        return paths.get(audience.casefold(), ())

    def vectors(self, tier: str) -> Vectors:
        """Give one tier's vectors.

        Raises:
            ArtefactError: the files are torn.
            KeyError: they are not here.
        """
        if tier not in self._vectors:
            self._vectors[tier] = Vectors(self.folder, tier=tier, dimensions=int(self.tiers[tier]["dimensions"]))
        return self._vectors[tier]

    @property
    def numbers(self) -> int:
        """How many numbers documents have had; a number without a document has an empty id."""
        return len(self._offsets) // 2 - 1

    def id(self, number: int) -> str:
        """Give a document's id by its number."""
        start = self._offsets[2 * number]
        return str(fast_json.loads(self._documents[start : self._documents.find(b"\t", start)].decode()))

    def ids(self) -> dict[str, int]:
        """Give every document's id with its number; what is read of a line is its beginning."""
        data, starts = self._documents, self._offsets.tolist()[:-2:2]
        names = (data[start : data.find(b"\t", start)] for start in starts)
        plain = (name[1:-1].decode() if b"\\" not in name else str(fast_json.loads(name.decode())) for name in names)
        return {name: number for number, name in enumerate(plain) if name}

    def shelved(self, document: str) -> Shelved | None:
        """Give a document by its id, or None."""
        number = self.keyword.number(document)
        return None if number is None else self.numbered(number)

    def every(self, documents: Iterable[str]) -> list[Shelved]:
        """Give those of the documents that are here, in order."""
        return [found for document in documents if (found := self.shelved(document)) is not None]

    def text(self, shelved: Shelved) -> str:
        """Give a document's whole text."""
        start, end = self._offsets[2 * shelved.number + 1], self._offsets[2 * shelved.number + 3]
        return self._texts[start:end].decode("utf-8", "replace")

    def raw(self, documents: range) -> tuple[memoryview, memoryview, memoryview]:
        """Give the lines and texts of some documents, one after another, as they are stored, and where they begin."""
        at = self._offsets[2 * documents.start : 2 * documents.stop + 2]
        row, text, row_end, text_end = (*at[:2], *at[-2:])
        return memoryview(self._documents)[row:row_end], memoryview(self._texts)[text:text_end], at

    def vocabularies(self) -> tuple[Vocabulary, ...]:
        """Give the words to correct against: those of the last whole build, and those met since."""
        if self._vocabularies is None:
            self._vocabularies = tuple(Vocabulary(os.path.join(self.folder, name)) for name in (WORDS, NEW_WORDS))
        return self._vocabularies

    def patterns(self, stems: Iterable[str]) -> dict[int, set[str]]:
        """Give the past questions that share any of these stems, by number, with the stems they share."""
        self._read_patterns()
        shared: dict[int, set[str]] = {}
        for stem in stems:
            for number in self._stems.get(stem, ()):
                shared.setdefault(number, set()).add(stem)
        return shared

    def pattern(self, number: int) -> Pattern:
        """Give a past question by its number."""
        return self._read_patterns()[number]

    def concepts(self, key: str) -> list[tuple[str, str]]:
        """Give the other words for a thing by its stems, each with its own stems."""
        held = self.concepts_held
        groups = [held["groups"][number] for number in held["by"].get(key, ())]
        return [(word, stems) for group in groups for word, stems in group if stems != key]

    @property
    def concepts_held(self) -> Mapping[str, Any]:
        """The words for one thing, as the compiler wrote them."""
        if self._concepts is None:
            self._concepts = _json(self.folder, CONCEPTS)
        return self._concepts

    def _read_patterns(self) -> tuple[Pattern, ...]:
        if self._patterns is None:
            held = _json(self.folder, PATTERNS)
            self._stems = held["stems"]
            self._patterns = tuple(
                Pattern(
                    wordings=tuple(each["wordings"]),
                    keywords=tuple(map(tuple, each["keywords"])),
                    cluster=each["cluster"],
                    urgency=each["urgency"],
                    documents=tuple(each["documents"]),
                )
                for each in held["patterns"]
            )
        return self._patterns

    def numbered(self, number: int) -> Shelved:
        """Give a document by its number."""
        start, end = self._offsets[2 * number], self._offsets[2 * number + 2]
        values = fast_json.loads(self._documents[start:end].decode().partition("\t")[2])
        passages = values.pop("passages")
        first_line = values.pop("first_line")
        given: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in values.items()}
        return Shelved(
            entry=Entry(**given),
            number=number,
            first_line=first_line,
            passages=tuple((first, last) for first, last, _ in passages),
            headings=tuple(heading for _, _, heading in passages),
        )


def open_catalog(folder: str) -> Catalog:
    """Open a compiled catalog.

    Raises:
        ArtefactError: the folder is missing, torn, or of another format or machine.
    """
    header = _json(folder, HEADER)
    if not isinstance(header, dict) or header.get("format") != FORMAT or header.get("byteorder") != sys.byteorder:
        raise ArtefactError("the search catalog was written by another version of deia", where=folder, fix=REBUILD)
    for name, size in header["sizes"].items():
        path = os.path.join(folder, name)
        try:
            found = os.stat(path).st_size
        except OSError as error:
            raise ArtefactError(f"the search catalog lacks {name}", where=folder, fix=REBUILD) from error
        if found != size:
            wrong = f"the search catalog is torn: {name} has {found} bytes instead of {size}"
            raise ArtefactError(wrong, where=folder, fix=REBUILD)
    return Catalog(folder, header)


def _json(folder: str, name: str) -> Any:
    path = os.path.join(folder, name)
    try:
        with open(path, encoding="utf-8") as file:
            return fast_json.loads(file.read())
    except FileNotFoundError as error:
        raise ArtefactError("there is no search catalog here", where=path, fix=REBUILD) from error
    except (OSError, ValueError) as error:
        raise ArtefactError(f"the search catalog cannot be read: {error}", where=path, fix=REBUILD) from error


def _mapped(folder: str, name: str) -> mmap.mmap:
    path = os.path.join(folder, name)
    try:
        with open(path, "rb", buffering=0) as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # an empty file cannot be mapped, and none of ours is empty
        raise ArtefactError(f"the search catalog cannot be read: {error}", where=path, fix=REBUILD) from error
