"""A document as the search catalog stores it: its entry, and its passages, each of which is parsed when asked for.

A manual has thousands of passages, and a question needs a few of them: parsing all cost a tenth of a cold search.
Documents stand in blocks, so that a compile after a change writes only those in which documents changed: writing all
texts of a library of 20,000 files took longer than everything else together.
"""

from __future__ import annotations

import mmap
import os

from deia import fast_json
from deia.errors import ArtefactError
from deia.knowledge import Entry
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    Part = tuple[mmap.mmap, int, int]  # of a file: from one byte to another

REBUILD = "Run `deia compile`."
ANEW = "Run `deia compile --force`."  # of a file whose size is right, which looks up to date
BLOCK = "documents-{}.txt"  # the line of each of its documents, and its text behind it
OFFSETS = "documents.at"  # of each document: where its line begins in its block, where its text does, where that ends
PLACES = 3
INDEX = 8  # hexadecimal digits that say where the row of a passage begins


class StoredDocument(Record):
    """A document of the catalog: its entry, its number, and the lines and headings of its passages."""

    entry: Entry
    number: int
    first_line: int = 1
    passages: Sequence[tuple[int, int]] = ()
    headings: Sequence[str] = ()
    natures: Sequence[tuple[str, str, int, int, int]] = ()  # kind, symbol, page, parent, level, if any passage has them
    type: str = ""  # of a document of the library


class Blocks:
    """The lines and the texts of a catalog's documents, in files of `size` documents each."""

    __slots__ = ("_at", "_files", "folder", "size")

    def __init__(self, folder: str, size: int) -> None:
        """Open all files at once: a later compile may remove them while a long answer is being made."""
        self.folder, self.size = folder, size
        places = _mapped(folder, OFFSETS)
        if len(places) % (8 * PLACES):
            raise _damaged(folder, OFFSETS)
        self._at = memoryview(places).cast("Q")
        self._files = [_mapped(folder, BLOCK.format(block)) for block in range(-(-len(self) // size))]

    def __len__(self) -> int:
        return len(self._at) // PLACES - 1

    def line(self, number: int) -> Part:
        """Return where the line of a document stands, from its number."""
        data, start, text, _ = self._place(number)
        return data, start, text

    def id(self, number: int) -> str:
        """Return the id of a document."""
        data, start, end = self.line(number)
        name = data[start : max(start, data.find(b"\t", start, end))]
        return name[1:-1].decode() if b"\\" not in name else str(fast_json.loads(name.decode()))

    def text(self, number: int) -> Part:
        """Return where the text of a document stands."""
        data, _, text, end = self._place(number)
        return data, text, end

    def text_size(self, number: int) -> int:
        """Return how many bytes the text of a document has."""
        at = PLACES * number
        return self._at[at + 2] - self._at[at + 1]

    def _place(self, number: int) -> tuple[mmap.mmap, int, int, int]:
        """Return the file of a document, and where its line begins there, its text, and what follows."""
        data, at = self._files[number // self.size], PLACES * number
        start, text, end = self._at[at], self._at[at + 1], self._at[at + 2]
        if not start <= text <= end <= len(data):
            raise _damaged(self.folder, OFFSETS)
        return data, start, text, end

    def stretch(self, documents: range) -> Part:
        """Return where some consecutive documents of a block stand, all with their lines and texts."""
        data, start, _, _ = self._place(documents[0])
        return data, start, self._place(documents[-1])[3]

    def places(self, documents: range) -> bytes:
        """Return what the file of offsets has about some consecutive documents."""
        return self._at[PLACES * documents.start : PLACES * documents.stop].tobytes()


def _damaged(folder: str, name: str) -> ArtefactError:
    return ArtefactError(f"the search catalog is damaged: {name}", where=folder, fix=ANEW)


def _mapped(folder: str, name: str) -> mmap.mmap:
    path = os.path.join(folder, name)
    try:
        with open(path, "rb", buffering=0) as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # ValueError: the file is empty, which no file of a catalog is
        raise ArtefactError(f"the search catalog cannot be read: {error}", where=path, fix=REBUILD) from error


class Column:
    """What one column of a document's passages says, as a sequence."""

    __slots__ = ("_data", "_end", "_index", "_read", "_rows")

    def __init__(self, data: mmap.mmap, index: int, rows: int, end: int, read: Callable[[list[Any]], Any]) -> None:
        """The rows of the passages are from `rows` to `end`; where each begins stands at `index`, and a tab behind."""
        self._data, self._index, self._rows, self._end, self._read = data, index, rows, end, read

    def __len__(self) -> int:
        return (self._rows - 1 - self._index) // INDEX

    def __getitem__(self, ordinal: int) -> Any:
        count = len(self)
        ordinal = ordinal + count if ordinal < 0 else ordinal
        if not 0 <= ordinal < count:
            raise IndexError(ordinal)
        start, end = self._start(ordinal), self._start(ordinal + 1) - 1 if ordinal + 1 < count else self._end
        return self._read(fast_json.loads(self._data[start:end].decode("ascii")))

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(len(self)))

    def _start(self, ordinal: int) -> int:
        at = self._index + INDEX * ordinal
        return self._rows + int(self._data[at : at + INDEX], 16)


def line_of(described: Mapping[str, Any], passages: Sequence[Sequence[object]], json: Callable[[object], str]) -> bytes:
    """Return the catalog's line about a document: id, description, where each passage's row begins, and these rows.

    Tabs stand between them, which JSON writes in another way. A row has first and last line, heading, and its nature.
    """
    rows = [json(row) for row in passages]
    starts, at = [], 0
    for row in rows:
        starts.append(f"{at:0{INDEX}x}")
        at += len(row) + 1
    parts = (json(described.get("id", "")), json(described), "".join(starts), "\t".join(rows))
    return "\t".join(parts).encode("ascii") + b"\n"


def described_at(line: Part) -> dict[str, Any]:
    """Return the description in the line of a document."""
    data, start, end = line
    begin = data.find(b"\t", start, end) + 1
    try:
        described: dict[str, Any] = fast_json.loads(data[begin : data.find(b"\t", begin, end)].decode("ascii"))
    except ValueError as error:
        raise ArtefactError("the search catalog is damaged", fix=ANEW) from error
    return described


def document_at(line: Part, number: int) -> StoredDocument:
    """Return the document of a line in the catalog."""
    described = described_at(line)
    data, start, end = line
    first_line, kind = described.pop("first_line"), described.pop("type", "")
    index = data.find(b"\t", data.find(b"\t", start, end) + 1, end) + 1
    rows = data.find(b"\t", index, end) + 1
    if not rows or (rows - 1 - index) % INDEX:
        raise ArtefactError("the search catalog is damaged", fix=ANEW)
    columns: list[Any] = [Column(data, index, rows, end - 1, read) for read in (_lines, _heading, _nature)]
    return StoredDocument(
        entry=Entry(**with_tuples(described)), number=number, first_line=first_line, passages=columns[0],
        headings=columns[1], natures=columns[2] if kind else (), type=kind,
    )  # fmt: skip


def with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields read from JSON as records have them, with tuples instead of lists."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def _lines(row: list[Any]) -> tuple[int, int]:
    return row[0], row[1]


def _heading(row: list[Any]) -> str:
    return str(row[2])


def _nature(row: list[Any]) -> tuple[Any, ...]:
    return tuple(row[3:])
