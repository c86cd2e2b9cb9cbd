"""Write the documents of the search catalog: metadata and texts, where each begins, and what it was made of.

The layout is the one that `deia.search.catalog` reads. It refuses to store half characters, which no terminal can
print.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from operator import attrgetter
from typing import Any

from deia.knowledge import Chunk, Document, Entry
from deia.match.keyword import LONGEST_KEY, key
from deia.match.numerics import np
from deia.records import Record
from deia.search.catalog import DIGESTS, DOCUMENTS, OFFSETS, TEXTS, Catalog

DIGEST_SIZE = 16
BUFFERED = 1 << 20  # bytes written at once
NOT_KEPT = ("extra", "line")
KEPT = tuple(name for name in Entry(id="", path="", title="").values() if name not in NOT_KEPT)
_fields = attrgetter(*KEPT)
_json = json.JSONEncoder(separators=(",", ":"), default=str).encode


class Volume(Record):
    """A document with its entry: what is shelved under one id."""

    entry: Entry
    document: Document
    types: tuple[str, ...] = ()  # what sort of document it is, in the words of the commons
    strength: float = 0.0  # its standing, from -1 to 1


def volumes(entries: Iterable[Entry], documents: Iterable[Document]) -> list[Volume]:
    """Pair entries with their documents, in the order of their ids.

    An entry without a document is found by its metadata, a document without an entry by its text. Of entries that share
    an id the first counts; the checks of the commons report the others.
    """
    texts = {document.path: document for document in documents}
    described = [described_volume(entry, texts.get(entry.path) or _absent(entry)) for entry in entries]
    taken = {volume.entry.path for volume in described}
    bare = (document for path, document in texts.items() if path not in taken)
    found = chain(described, (Volume(entry=_described(document), document=document) for document in bare))
    first: dict[str, Volume] = {}
    for volume in found:
        if volume.entry.id:
            first.setdefault(volume.entry.id, volume)
    return sorted(first.values(), key=lambda volume: volume.entry.id)


def described_volume(entry: Entry, document: Document) -> Volume:
    """Pair an entry with its document."""
    given = (entry.category, entry.extra.get("type"), entry.extra.get("categories"), document.metadata.get("type"))
    strength = entry.extra.get("strength")
    is_number = isinstance(strength, (int, float)) and not isinstance(strength, bool)
    standing = max(-1.0, min(1.0, float(strength))) if is_number else 0.0  # type: ignore[arg-type]
    return Volume(
        entry=_clean(entry), document=document, types=_types(given) if any(given) else (), strength=standing
    )  # fmt: skip


def _types(given: Iterable[Any]) -> tuple[str, ...]:
    each = [one for value in given for one in (value if isinstance(value, (list, tuple)) else [value])]
    return tuple(dict.fromkeys(printable(one.strip()) for one in each if isinstance(one, str) and one.strip()))


def digest(volume: Volume) -> bytes:
    """Give what identifies the content of a volume."""
    described = repr((volume.document.first_line, volume.types, *_fields(volume.entry)))
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
    """Give an entry as it can be stored and printed."""
    if len(entry.id) <= LONGEST_KEY and _plain(_fields(entry)):
        return entry
    values = {name: _clean_value(value) for name, value in entry.values().items() if name not in NOT_KEPT}
    return Entry(**{**values, "id": key(entry.id)})


def _plain(values: Sequence[Any]) -> bool:
    """Tell whether nothing is to be replaced, as in nearly all entries: looking costs a third of making a copy."""
    shown = repr(values)
    if not shown.isascii() or "\\" in shown:  # half characters are shown escaped
        return False
    return all(isinstance(each, str) for value in values if value and isinstance(value, tuple) for each in value)


def _clean_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(printable(str(item)) for item in value)
    return printable(value) if isinstance(value, str) else value


def line_of(volume: Volume, chunks: Sequence[Chunk]) -> bytes:
    """Give what the shelf says of a document and its passages."""
    kept = told(volume.entry)
    passages = [[*chunk.lines, printable(chunk.heading)] for chunk in chunks]
    row = {**_required(volume.entry), **kept, "first_line": volume.document.first_line, "passages": passages}
    return _line(volume.entry.id, row)


def told(entry: Entry) -> dict[str, Any]:
    """Give what an entry says, without what nothing asks for at query time."""
    return {name: value for name, value in zip(KEPT, _fields(entry), strict=True) if value}


def _line(document: str, row: Mapping[str, Any]) -> bytes:
    return f"{_json(document)}\t{_json(row)}\n".encode("ascii")


class ShelfWriter:
    """The four files of the shelf, open for writing, in the order of the documents' numbers."""

    __slots__ = ("_at", "_digests", "_documents", "_offsets", "_texts", "folder")

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._documents, self._texts, self._digests = (
            open(os.path.join(folder, name), "wb", BUFFERED)  # noqa: SIM115 - closed in `close`
            for name in (DOCUMENTS, TEXTS, DIGESTS)
        )
        self._at = (0, 0)  # bytes of lines and of texts so far
        self._offsets = array("Q")

    def add(self, line: bytes, text: str, known: bytes) -> None:
        """Shelve a document: what `line_of` says of it, its text, and its digest."""
        self._offsets.extend(self._at)
        self._write(line, text.encode("utf-8", "replace"), known)

    def leave_out(self) -> None:
        """Leave a number without a document, because the others keep theirs."""
        self._offsets.extend(self._at)
        self._write(_line("", {}), b"", bytes(DIGEST_SIZE))

    def copy(self, before: Catalog, documents: range, known: bytes) -> None:
        """Shelve some documents, one after another, as an earlier shelf held them."""
        lines, texts, starts = before.raw(documents)
        moved = np.frombuffer(starts, np.uint64).reshape(-1, 2)
        moved = moved[:-1] - moved[0] + np.array(self._at, np.uint64)
        self._offsets.frombytes(moved.tobytes())
        self._write(lines, texts, known)

    def close(self) -> None:
        """Finish the files; each ends with something, since an empty file cannot be mapped."""
        self._offsets.extend(self._at)
        self._write(b"\n", b"\n", b"\n")
        for file in (self._documents, self._texts, self._digests):
            file.close()
        with open(os.path.join(self.folder, OFFSETS), "wb") as file:
            file.write(self._offsets.tobytes())

    def _write(self, lines: bytes | memoryview, texts: bytes | memoryview, known: bytes) -> None:
        self._documents.write(lines)
        self._texts.write(texts)
        self._digests.write(known)
        self._at = (self._at[0] + len(lines), self._at[1] + len(texts))


def _required(entry: Entry) -> dict[str, str]:
    return {"id": entry.id, "path": entry.path, "title": entry.title}
