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
from deia.ingest.source_kinds.chunk_problems import joined, problems_of
from deia.knowledge import Chunk
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    Row: TypeAlias = dict[str, Any]  # an exported chunk, of which nothing was checked

MOST_IN_ALL = 512_000_000  # bytes of an export
MOST_EMPTY, MOST_PER_CHARACTER = 10_000, 100  # lines of a document without text: in any case, and for each character
MOST_KEPT = 1_000  # problems, which are counted
AS_JSON = ("lines", "level", "page", "metadata")  # elements of an XML file that hold JSON
WRONG = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
NO_CHUNK = "this is no exported chunk, which is an object of JSON or an XML file"
FIX = "Write it as deia source export does."


class _Rows:
    """The chunks of a document, and what is wrong with them."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.problems: list[str] = []
        self._ids: set[object] = set()

    def add(self, row: Row, place: str) -> None:
        """Take the next chunk, which stands at a place."""
        self.rows.append(row)
        if len(self.problems) < MOST_KEPT:
            self.problems += [f"{place}: {problem}" for problem in problems_of(row, self._ids)]
        if isinstance(row.get("id"), (str, int)):
            self._ids.add(row["id"])

    def content(self, path: str) -> bytes:
        """Return the chunks as JSON, or only what is wrong with them, so that the document fails with that."""
        try:
            kept = {"problems": joined(self.problems)} if self.problems else self.rows
            return json.dumps(kept, ensure_ascii=False).encode("utf-8", "replace")
        except RecursionError as error:
            raise SourceError(NO_CHUNK, where=path, fix=FIX) from error


class ChunkFiles:
    """The documents of an export."""

    def __init__(self, source: Source) -> None:
        self._place = source.place
        self._contents: dict[str, bytes] = {}

    def files(self) -> Iterator[Found]:
        """Yield every document; raise SourceError, with all that is wrong, if something is no chunk of a document."""
        documents: dict[str, _Rows] = {}
        strays: list[str] = []
        for where, folder, content in self._parts():
            row, place = _row(content), os.path.basename(where)
            if not isinstance(row.get("path"), str):
                strays += (
                    [f"{place}: {problem}" for problem in problems_of(row, ())] if row else [f"{place}: {NO_CHUNK}"]
                )
                if len(strays) > MOST_KEPT:
                    break
                continue
            path = (folder + row["path"]).encode("utf-8", "backslashreplace").decode()
            documents.setdefault(path, _Rows()).add(row, place)
        if strays:
            all_problems = [*strays, *(problem for rows in documents.values() for problem in rows.problems)]
            raise SourceError(joined(all_problems), fix=FIX)
        for path, rows in sorted(documents.items()):
            content = self._contents[path] = rows.content(path)
            yield Found(path=path, stamp=blake2b(content, digest_size=16).hexdigest(), modified=_moment(rows.rows[0]))

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


def _row(content: bytes) -> Row:
    """Return the fields of a chunk, or none if it is no chunk."""
    try:
        row = xml_row(content) if content.startswith(b"<") else json.loads(content)
    except WRONG:
        return {}
    return row if isinstance(row, dict) else {}


def _moment(row: Row) -> float:
    try:
        return float(calendar.timegm(time.strptime(row["updated"], "%Y-%m-%d")))
    except WRONG:
        return 0.0


def rebuilt(path: str, content: bytes) -> tuple[Reading, list[Chunk]]:
    """Return an exported document and its chunks; raise ReadingError if these do not fit together."""
    try:
        rows = json.loads(content)
        if isinstance(rows, dict):
            raise ReadingError(rows["problems"], where=path, fix=FIX)
        ordinals: dict[object, int] = {}
        for ordinal, row in enumerate(rows):
            ordinals.setdefault(row["id"], ordinal)
        chunks = [_chunk(path, ordinal, row, ordinals) for ordinal, row in enumerate(rows)]
        first = rows[0]
        kind = first["type"] if first.get("type") in TYPES else "text"
        title = str(first.get("title") or path.rpartition("/")[2])
        return Reading(type=kind, title=title, text=_text(chunks), path=path), chunks
    except WRONG as error:
        raise ReadingError(f"its chunks do not fit together: {error}", where=path, fix=FIX) from error


def _chunk(path: str, ordinal: int, row: Row, ordinals: Mapping[object, int]) -> Chunk:
    parent = -1 if row.get("parent_id") is None else ordinals[row["parent_id"]]
    first, last = row["lines"]
    text, _ = without_secrets(row["content"].replace("\0", " "))
    return Chunk(
        document=path, ordinal=ordinal, heading=str(row["heading"]), text=text, lines=(int(first), int(last)),
        kind=str(row.get("kind") or ""), symbol=str(row.get("symbol") or ""), page=int(row.get("page") or 0),
        parent=parent, level=int(row["level"]), metadata=dict(row.get("metadata") or {}),
    )  # fmt: skip


def _text(chunks: Sequence[Chunk]) -> str:
    """Return the text of a document as far as it is in the chunks, each on its own lines."""
    last = MOST_EMPTY + MOST_PER_CHARACTER * sum(len(chunk.text) for chunk in chunks)
    lines: list[str] = []
    for chunk in chunks:
        at, own = chunk.lines[0] - 1, chunk.text.split("\n")
        if at > last:
            raise ValueError(f"line {chunk.lines[0]} is far behind what their texts fill")
        lines += [""] * (at + len(own) - len(lines))
        lines[at : at + len(own)] = (
            before or line for before, line in zip(lines[at : at + len(own)], own, strict=True)
        )
    return "\n".join(lines)
