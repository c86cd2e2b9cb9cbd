"""Write the document store of the search catalog: metadata, texts, where each begins, and content digests.

The layout is the one that `deia.search.catalog` reads. Lone surrogates are replaced, since no terminal can print them.
"""

from __future__ import annotations

import json
import os
import shutil
from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import chain
from operator import attrgetter
from typing import Any, BinaryIO

from deia.commons.index.successors import with_real_successors
from deia.fast_json import Json
from deia.ingest.library_store import Library, Shelved
from deia.ingest.reading import ASSETS
from deia.knowledge import Chunk, Document, Entry
from deia.match.keyword import LONGEST_KEY, key
from deia.records import Record
from deia.search import stored_document
from deia.search.catalog import DIGESTS
from deia.search.stored_document import BLOCK, OFFSETS, PLACES, Blocks

DIGEST_SIZE = 16
BUFFERED = 1 << 20  # bytes per write
BLOCKS = 8  # of a large catalog: a change writes one of them anew, and each is a file that stays open
SMALLEST_BLOCK = 500  # documents
NO_NATURE = ("", "", 0, -1, 0)  # of a chunk whose chunker says nothing about it
NOT_KEPT = ("extra", "line")
KEPT = tuple(name for name in Entry(id="", path="", title="").values() if name not in NOT_KEPT)
_fields = attrgetter(*KEPT)
_json = json.JSONEncoder(separators=(",", ":"), default=str).encode


class Volume(Record):
    """A document with its entry, stored under one id."""

    entry: Entry
    document: Document
    types: tuple[str, ...] = ()  # the kind of document, in the words of the commons
    strength: float = 0.0  # from -1 to 1
    content: str = ""  # of a library's document: the key of its text, which is read when it is compiled
    known: bytes = b""  # likewise, the digest of everything that is compiled from it
    rows: tuple[tuple[Json, ...], ...] = ()  # likewise, once its text is read: its chunks as the library keeps them


def volumes(entries: Iterable[Entry], documents: Iterable[Document]) -> list[Volume]:
    """Pair entries with their documents, sorted by id; what supersedes one exists.

    An entry without a document is found by its metadata, a document without an entry by its text. If several entries
    share an id, the first counts; the checks of the commons report the others.
    """
    texts = {document.path: document for document in documents}
    standing = with_real_successors([*entries])
    described = [described_volume(entry, texts.get(entry.path) or _missing_document(entry)) for entry in standing]
    taken = {volume.entry.path for volume in described}
    bare = (document for path, document in texts.items() if path not in taken)
    candidates = chain(described, (Volume(entry=_bare_entry(document), document=document) for document in bare))
    first: dict[str, Volume] = {}
    for volume in candidates:
        if volume.entry.id:
            first.setdefault(volume.entry.id, volume)
    return sorted(first.values(), key=lambda volume: volume.entry.id)


def described_volume(entry: Entry, document: Document) -> Volume:
    """Pair an entry with its document."""
    kinds = (entry.category, entry.extra.get("type"), entry.extra.get("categories"), document.metadata.get("type"))
    strength = entry.extra.get("strength")
    is_number = isinstance(strength, (int, float)) and not isinstance(strength, bool)
    clamped = max(-1.0, min(1.0, float(strength))) if is_number else 0.0  # type: ignore[arg-type]
    return Volume(
        entry=_clean(entry), document=document, types=_types(kinds) if any(kinds) else (), strength=clamped
    )  # fmt: skip


def _types(kinds: Iterable[object]) -> tuple[str, ...]:
    values = [item for kind in kinds for item in (kind if isinstance(kind, (list, tuple)) else [kind])]
    stripped = [value.strip() for value in values if isinstance(value, str)]
    return tuple(dict.fromkeys(printable(value) for value in stripped if value))


def digest(volume: Volume) -> bytes:
    """Return a digest of everything that is compiled from a volume."""
    if volume.known:
        return volume.known
    described = repr((volume.document.first_line, volume.types, *_fields(volume.entry)))
    hasher = blake2b(described.encode("utf-8", "replace"), digest_size=DIGEST_SIZE)
    hasher.update(volume.document.text.encode("utf-8", "replace"))
    return hasher.digest()


def printable(text: str) -> str:
    """Return a text with lone surrogates replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _missing_document(entry: Entry) -> Document:
    return Document(path=entry.path, title=entry.title, text="")


def _bare_entry(document: Document) -> Entry:
    return _clean(Entry(id=document.path, path=document.path, title=document.title))


def _clean(entry: Entry) -> Entry:
    """Return an entry that can be stored and printed."""
    if len(entry.id) <= LONGEST_KEY and _is_clean(_fields(entry)):
        return entry
    values = {name: _clean_value(value) for name, value in entry.values().items() if name not in NOT_KEPT}
    return Entry(**{**values, "id": key(entry.id)})


def _is_clean(values: Sequence[object]) -> bool:
    """Return whether nothing needs replacing, as in nearly all entries; checking is cheaper than copying."""
    shown = repr(values)
    if not shown.isascii() or "\\" in shown:  # `repr` escapes lone surrogates
        return False
    return all(isinstance(item, str) for value in values if value and isinstance(value, tuple) for item in value)


def _clean_value(value: object) -> Any:
    if isinstance(value, tuple):
        return tuple(printable(str(item)) for item in value)
    return printable(value) if isinstance(value, str) else value


def line_of(volume: Volume, chunks: Sequence[Chunk]) -> bytes:
    """Return the catalog's line about a document and its passages."""
    entry = volume.entry
    described = {name: value for name, value in zip(KEPT, _fields(entry), strict=True) if value}  # for questions
    passages: list[list[Json]] = [[*chunk.lines, printable(chunk.heading), *_nature(chunk)] for chunk in chunks]
    kind = {"type": volume.types[0]} if volume.known else {}
    row = {
        "id": entry.id, "path": entry.path, "title": entry.title, **described,
        "first_line": volume.document.first_line, **kind,
    }  # fmt: skip
    return stored_document.line_of(row, passages, _json)


def _nature(chunk: Chunk) -> tuple[Json, ...]:
    """Return what a chunk is, if its chunker said so."""
    nature = (chunk.kind, printable(chunk.symbol), chunk.page, chunk.parent, chunk.level)
    return nature if nature != NO_NATURE else ()


def block_size(documents: int) -> int:
    """Return how many documents stand in a block of a catalog that is compiled whole."""
    return max(SMALLEST_BLOCK, -(-documents // BLOCKS))


class ShelfWriter:
    """The files of the document store, in the order of the documents' numbers."""

    __slots__ = ("_digests", "_file", "_places", "folder", "size")

    def __init__(self, folder: str, size: int) -> None:
        """Write so many documents into each block."""
        self.folder, self.size = folder, size
        self._digests = bytearray()
        self._places = array("Q")
        self._file: BinaryIO | None = None  # the block that is being written

    def add(self, line: bytes, text: str, known: bytes) -> None:
        """Write a document: its line from `line_of`, its text, and its digest."""
        self._write(line, text.encode("utf-8", "replace"))
        self._digests += known

    def leave_out(self) -> None:
        """Leave a number without a document, because the others keep theirs."""
        self._write(stored_document.line_of({}, (), _json), b"")
        self._digests += bytes(DIGEST_SIZE)

    def copy(self, before: Blocks, documents: range, known: bytes) -> None:
        """Write consecutive documents as an earlier store with blocks of this size had them, with their digests."""
        number = documents.start
        while number < documents.stop:
            end = min(documents.stop, number - number % self.size + self.size)
            (self._link if end - number == self.size else self._move)(before, range(number, end))
            number = end
        self._digests += known

    def close(self) -> None:
        """Finish the files; each ends with a byte or more besides, since an empty file cannot be memory-mapped."""
        self._finish()
        self._places.extend((0,) * PLACES)
        for name, data in ((OFFSETS, self._places.tobytes()), (DIGESTS, self._digests + b"\n")):
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(data)

    @property
    def text_bytes(self) -> int:
        """The size of all texts."""
        return sum(self._places[2::PLACES]) - sum(self._places[1::PLACES])

    def _write(self, line: bytes, text: bytes) -> None:
        file = self._block()
        start = file.tell()
        file.write(line)
        file.write(text)
        self._places.extend((start, start + len(line), start + len(line) + len(text)))

    def _move(self, before: Blocks, documents: range) -> None:
        """Take over a part of a block."""
        file = self._block()
        data, start, end = before.stretch(documents)
        moved = file.tell() - start
        places = array("Q", before.places(documents))
        self._places.extend(array("Q", [place + moved for place in places]) if moved else places)
        file.write(memoryview(data)[start:end])

    def _block(self) -> BinaryIO:
        """Return the file of the block that the next document belongs to."""
        block, at = divmod(len(self._places) // PLACES, self.size)
        if at == 0 or self._file is None:
            self._finish()
            path = os.path.join(self.folder, BLOCK.format(block))
            self._file = open(path, "wb", BUFFERED)  # noqa: SIM115 - closed in `_finish`
        return self._file

    def _link(self, before: Blocks, documents: range) -> None:
        """Take a whole block over as it is."""
        self._finish()
        name = BLOCK.format(documents.start // self.size)
        link_or_copy(os.path.join(before.folder, name), os.path.join(self.folder, name))
        self._places.frombytes(before.places(documents))

    def _finish(self) -> None:
        """Close the block that was written."""
        if self._file:
            self._file.close()
        self._file = None


def link_or_copy(old: str, new: str) -> None:
    """Link a file to another place, or copy it there where links are impossible."""
    try:
        os.link(old, new)
    except OSError:
        shutil.copyfile(old, new)


# --- the library: its documents are cut already, and read only when they are compiled ---


def library_volumes(library: Library, *, since: int = -1) -> list[Volume]:
    """Return the documents of the library without their texts, or those that changed after a revision."""
    return [_volume(shelved) for shelved in library.documents(since)]


def _volume(shelved: Shelved) -> Volume:
    entry = Entry(
        id=shelved.id, path=shelved.id, title=shelved.title, tags=shelved.tags, updated=shelved.updated,
        extra={"type": [shelved.type, ASSETS.get(shelved.type, "text")]},
    )  # fmt: skip
    known = blake2b(repr(shelved).encode("utf-8", "replace"), digest_size=DIGEST_SIZE).digest()
    document = Document(path=shelved.id, title=shelved.title, text="")
    return described_volume(entry, document).but(content=shelved.content, known=known)


def filled(library: Library | None, volumes: Sequence[Volume]) -> list[Volume]:
    """Return volumes with their texts and chunks."""
    return [_filled(library, volume) if library and volume.content else volume for volume in volumes]


def _filled(library: Library, volume: Volume) -> Volume:
    kept = library.kept(volume.content)
    text = "" if kept.text.isspace() else kept.text
    return volume.but(document=volume.document.but(text=text), rows=kept.rows)
