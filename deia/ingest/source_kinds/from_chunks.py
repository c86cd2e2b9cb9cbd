"""Exported chunks as a source: the lines of JSON or the folder of XML files that `deia source export` writes.

They come back unchanged: exporting them again gives the same. Files of other programs are untrusted: XML that declares
a document type is refused, since only a document type can define entities that expand without end.
"""

from __future__ import annotations

import calendar
import json
import os
import time
from hashlib import blake2b
from xml.etree import ElementTree as ET

from deia import files
from deia.ingest.chunk_export import NAMESPACE, unescaped
from deia.ingest.hidden_secrets import without_secrets
from deia.ingest.reading import TYPES, Reading, ReadingError
from deia.ingest.source import MOST_BYTES, Found, Source, SourceError
from deia.knowledge import Chunk
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeAlias

    Row: TypeAlias = dict[str, Any]  # an exported chunk, of which nothing was checked

MOST_IN_ALL = 512_000_000  # bytes of an export
MOST_LINES = 5_000_000  # of a document
MOST_EMPTY, MOST_PER_CHARACTER = 10_000, 100  # lines of a document without text: in any case, and for each character
MOST_NESTED = 50  # levels of values within values in metadata
AS_JSON = ("lines", "level", "page", "metadata")  # elements of an XML file that hold JSON
WRONG = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
FIX = "Write it as deia source export does."


class ChunkFiles:
    """The documents of an export."""

    def __init__(self, source: Source) -> None:
        self._place = source.place
        self._contents: dict[str, bytes] = {}

    def files(self) -> Iterator[Found]:
        """Yield every document; raise SourceError if the source is not an export."""
        documents: dict[str, list[Row]] = {}
        where = self._place
        try:
            for where, folder, content in self._parts():  # noqa: B007 - the error names the last one
                row = xml_row(content) if content.startswith(b"<") else json.loads(content)
                path = (folder + row["path"]).encode("utf-8", "backslashreplace").decode()
                documents.setdefault(path, []).append(row)
        except WRONG as error:
            raise SourceError("this is no exported chunk", where=where, fix=FIX) from error
        for path, rows in sorted(documents.items()):
            try:
                content = json.dumps(rows, ensure_ascii=False).encode("utf-8", "replace")
            except RecursionError as error:
                raise SourceError("this is no exported chunk", where=path, fix=FIX) from error
            self._contents[path] = content
            yield Found(path=path, stamp=blake2b(content, digest_size=16).hexdigest(), modified=_moment(rows[0]))

    def _parts(self) -> Iterator[tuple[str, str, bytes]]:
        """Yield the place of each chunk, the folder that its document is to be in, and the chunk as it stands there.

        In a folder without XML each file of lines is a folder, since their sources may have documents of the same path.
        """
        if not os.path.isdir(self._place):
            yield from _lines(self._place, "", MOST_IN_ALL)
            return
        names = sorted(files.names(self._place), key=lambda name: (len(name), name))
        xml = [name for name in names if name.startswith("chunk_") and name.endswith(".xml")]
        json_lines = [] if xml else [name for name in names if name.endswith(".jsonl") and name != ".jsonl"]
        if not xml and not json_lines:
            raise SourceError(f"there are no chunks in {self._place}", fix=FIX)
        for name in xml:
            yield f"{self._place}/{name}", "", files.read(f"{self._place}/{name}", MOST_BYTES) or b""
        left = MOST_IN_ALL
        for name in json_lines:
            place = f"{self._place}/{name}"
            yield from _lines(place, f"{name.removesuffix('.jsonl')}/", left)
            left -= (files.stamp(place) or (0, 0))[0]

    def read(self, file: Found) -> bytes | None:
        """Return the chunks of a document."""
        return self._contents.get(file.path)

    def close(self) -> None:
        """Do nothing: no file is left open."""


def _lines(place: str, folder: str, most: int) -> Iterator[tuple[str, str, bytes]]:
    data = files.read(place, most)
    if data is None:
        problem = f"{place} cannot be read, or the export is larger than 512 MB"
        raise SourceError(problem, fix="Export it in parts.")
    yield from ((f"{place}:{number}", folder, line) for number, line in enumerate(data.splitlines(), 1) if line)


class _NoDocumentType(ET.TreeBuilder):
    def doctype(self, *_: object) -> None:
        """Refuse a document type."""
        raise ValueError("a document type")


def xml_row(content: bytes) -> Row:
    """Return the chunk in an XML file as a row of JSON; raise ValueError if it is malformed."""
    try:
        root = ET.fromstring(content, parser=ET.XMLParser(target=_NoDocumentType()))  # noqa: S314 - as above
    except (ET.ParseError, LookupError) as error:
        raise ValueError(str(error)) from error
    row: Row = {element.tag.removeprefix(f"{{{NAMESPACE}}}"): element.text or "" for element in root}
    row["id"] = root.attrib["id"]
    if root.get("escaped") == "true":
        row = {name: text if name in AS_JSON else unescaped(text) for name, text in row.items()}
    return {**row, **{name: json.loads(row[name]) for name in AS_JSON if name in row}}


def _moment(row: Row) -> float:
    try:
        return float(calendar.timegm(time.strptime(row["updated"], "%Y-%m-%d")))
    except WRONG:
        return 0.0


def rebuilt(path: str, content: bytes) -> tuple[Reading, list[Chunk]]:
    """Return an exported document and its chunks; raise ReadingError if these do not fit together."""
    try:
        rows = json.loads(content)
        ordinals = {row["id"]: ordinal for ordinal, row in enumerate(rows)}
        chunks = [_chunk(path, ordinal, row, ordinals) for ordinal, row in enumerate(rows)]
        first = rows[0]
        kind = first["type"] if first["type"] in TYPES else "text"
        return Reading(type=kind, title=str(first["title"]), text=_text(chunks), path=path), chunks
    except WRONG as error:
        raise ReadingError("its chunks do not fit together", where=path, fix=FIX) from error


def _chunk(path: str, ordinal: int, row: Row, ordinals: dict[str, int]) -> Chunk:
    parent = -1 if row.get("parent_id") is None else ordinals[row["parent_id"]]
    first, last = row["lines"]
    level, page = row["level"], row.get("page") or 0
    if parent >= ordinal or not 0 < first <= last < MOST_LINES or not (0 <= level < MOST_LINES > page >= 0):
        raise ValueError(row["id"])
    if _nests(row.get("metadata"), MOST_NESTED):
        raise ValueError("metadata nested too deep to be kept")
    text, _ = without_secrets(row["content"].replace("\0", " "))
    return Chunk(
        document=path, ordinal=ordinal, heading=str(row["heading"]), text=text, lines=(int(first), int(last)),
        kind=str(row.get("kind", "")), symbol=str(row.get("symbol", "")), page=int(page), parent=parent,
        level=int(level), metadata=dict(row.get("metadata", {})),
    )  # fmt: skip


def _nests(value: object, levels: int) -> bool:
    """Return whether a value has values within values, more than a number of levels deep."""
    if not isinstance(value, (dict, list)):
        return False
    return not levels or any(
        _nests(item, levels - 1) for item in (value.values() if isinstance(value, dict) else value)
    )


def _text(chunks: Sequence[Chunk]) -> str:
    """Return the text of a document as far as it is in the chunks, each on its own lines."""
    last = MOST_EMPTY + MOST_PER_CHARACTER * sum(len(chunk.text) for chunk in chunks)
    lines: list[str] = []
    for chunk in chunks:
        at, own = chunk.lines[0] - 1, chunk.text.split("\n")
        if at > last:
            raise ValueError("lines far behind what its chunks can fill")
        lines += [""] * (at + len(own) - len(lines))
        lines[at : at + len(own)] = (
            before or line for before, line in zip(lines[at : at + len(own)], own, strict=True)
        )
    return "\n".join(lines)
