"""Write the documents of the search catalog: metadata and texts, where each begins, and what it was made of.

The layout is the one that `deia.search.catalog` reads. It refuses to store half characters, which no terminal can
print.
"""

from __future__ import annotations

import os
import sys
from hashlib import blake2b
from itertools import chain

from deia import fast_json
from deia.knowledge import Document, Entry
from deia.match.keyword import key
from deia.records import TYPE_CHECKING, Record
from deia.search.catalog import DIGESTS, DOCUMENTS, OFFSETS, TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from deia.knowledge import Chunk

DIGEST_SIZE = 16
NOT_KEPT = ("extra", "line")


class Volume(Record):
    """A document with its entry: what is shelved under one id."""

    entry: Entry
    document: Document
    types: tuple[str, ...] = ()  # what sort of document it is, in the words of the commons


def volumes(entries: Iterable[Entry], documents: Iterable[Document]) -> list[Volume]:
    """Pair entries with their documents, in the order of their ids.

    An entry without a document is found by its metadata, a document without an entry by its text. Of entries that share
    an id the first counts; the checks of the commons report the others.
    """
    texts = {document.path: document for document in documents}
    described = [_described_volume(entry, texts.get(entry.path) or _absent(entry)) for entry in entries]
    taken = {volume.entry.path for volume in described}
    bare = (document for path, document in texts.items() if path not in taken)
    found = chain(described, (Volume(entry=_described(document), document=document) for document in bare))
    first: dict[str, Volume] = {}
    for volume in found:
        if volume.entry.id:
            first.setdefault(volume.entry.id, volume)
    return sorted(first.values(), key=lambda volume: volume.entry.id)


def _described_volume(entry: Entry, document: Document) -> Volume:
    given = [entry.category, entry.extra.get("type"), entry.extra.get("categories"), document.metadata.get("type")]
    each = [one for value in given for one in (value if isinstance(value, (list, tuple)) else [value])]
    types = dict.fromkeys(printable(one.strip()) for one in each if isinstance(one, str) and one.strip())
    return Volume(entry=_clean(entry), document=document, types=tuple(types))


def digest(volume: Volume) -> bytes:
    """Give what identifies the content of a volume."""
    described = repr((volume.document.first_line, volume.types, *volume.entry.values().values()))
    found = blake2b(described.encode("utf-8", "replace"), digest_size=DIGEST_SIZE)
    found.update(volume.document.text.encode("utf-8", "replace"))
    return found.digest()


def printable(text: str) -> str:
    """Give a text without half characters."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _absent(entry: Entry) -> Document:
    return Document(path=entry.path, title=entry.title, text="")


def _described(document: Document) -> Entry:
    return _clean(Entry(id=document.path, path=document.path, title=document.title))


def _clean(entry: Entry) -> Entry:
    """Give an entry as it can be stored and printed, without what nothing asks for at query time."""
    values = {name: _clean_value(value) for name, value in entry.values().items() if name not in NOT_KEPT}
    return Entry(**{**values, "id": key(entry.id)})


def _clean_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(printable(str(item)) for item in value)
    return printable(value) if isinstance(value, str) else value


class ShelfWriter:
    """The four files of the shelf, open for writing, in the order of the documents' numbers."""

    __slots__ = ("_digests", "_documents", "_offsets", "_texts", "folder")

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._documents = open(os.path.join(folder, DOCUMENTS), "wb")  # noqa: SIM115 - closed in `close`
        self._texts = open(os.path.join(folder, TEXTS), "wb")  # noqa: SIM115 - closed in `close`
        self._offsets: list[int] = []
        self._digests: list[bytes] = []

    def add(self, volume: Volume, chunks: Sequence[Chunk]) -> None:
        """Shelve a document."""
        kept = {name: value for name, value in volume.entry.values().items() if value}
        passages = [[*chunk.lines, printable(chunk.heading)] for chunk in chunks]
        row = {**_required(volume.entry), **kept, "first_line": volume.document.first_line, "passages": passages}
        self._put(volume.entry.id, row, volume.document.text.encode("utf-8", "replace"), digest(volume))

    def leave_out(self) -> None:
        """Leave a number without a document, because the others keep theirs."""
        self._put("", {}, b"", bytes(DIGEST_SIZE))

    def copy(self, line: bytes, text: bytes, known: bytes) -> None:
        """Shelve a document as an earlier shelf held it."""
        self._mark()
        self._documents.write(line)
        self._texts.write(text)
        self._digests.append(known)

    def close(self) -> None:
        """Finish the files; each ends with something, since an empty file cannot be mapped."""
        self._mark()
        self._documents.write(b"\n")
        self._texts.write(b"\n")
        self._documents.close()
        self._texts.close()
        _write(self.folder, OFFSETS, b"".join(number.to_bytes(8, sys.byteorder) for number in self._offsets))
        _write(self.folder, DIGESTS, b"".join(self._digests) + b"\n")

    def _put(self, document: str, row: Mapping[str, Any], text: bytes, known: bytes) -> None:
        self.copy(f"{fast_json.dumps(document)}\t{fast_json.dumps(row)}\n".encode(), text, known)

    def _mark(self) -> None:
        self._offsets += (self._documents.tell(), self._texts.tell())


def _required(entry: Entry) -> dict[str, str]:
    return {"id": entry.id, "path": entry.path, "title": entry.title}


def _write(folder: str, name: str, data: bytes) -> None:
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)
