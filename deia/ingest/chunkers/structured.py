"""Cut data at its records, keys and elements, each with the lines on which it stands in the file.

The text stays as it is written. What does not parse has no parts, and is cut between lines like any other text.
"""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence

from deia.ingest.chunkers.pieces import Node, line_starts
from deia.ingest.reading import Reading

DEEPEST = 20  # levels of keys; what lies deeper is cut between lines
DEEPEST_INDENT = 200
OPENED = "section"  # the kind of a part that only holds named parts: `paths`, `components`, `$defs`
PACKED = ("key", "item", "record", "element", "document")  # kinds whose small neighbours share a chunk
API = re.compile(r"(?:^|\{)\s*[\"']?(?:openapi|swagger|\$schema)[\"']?\s*:", re.MULTILINE)
HOLDERS = {"paths": "path", "definitions": "schema", "$defs": "schema", "components": OPENED}
RECORD = re.compile(  # how a record of a log begins
    r"^[\[(<]?(?:\d{4}-\d\d-\d\d|\d\d[:/.]\d\d[:/.]|[A-Z][a-z]{2} [ \d]\d \d\d:|\d{10}"
    r"|(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL|CRIT)).*$",
    re.MULTILINE,
)
SPACE = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder().raw_decode


def structured(reading: Reading, limit: int) -> list[Node]:
    """Return the parts of JSON, YAML, XML, CSV or a log; only one longer than the limit has parts of its own."""
    finder = FINDERS["csv" if reading.language == "csv" else reading.type]
    nodes = finder(reading, limit)
    return [node._replace(heading=node.heading or reading.title) for node in nodes]


def _kind(path: Sequence[str], kind: str, *, api: bool) -> str:
    """Return the kind of the part at a path of keys."""
    if not api or not path or path[0] not in HOLDERS or len(path) > 3:
        return kind
    if path[0] == "components":
        return OPENED if len(path) < 3 else "schema"
    return OPENED if len(path) == 1 else HOLDERS[path[0]] if len(path) == 2 else kind


def _symbol(path: Sequence[str]) -> str:
    return ".".join(path)


# --- JSON ---


def _json_parts(reading: Reading, limit: int) -> list[Node]:
    text = reading.text
    if reading.path.lower().endswith(("jsonl", "ndjson")):
        starts = [*line_starts(text), len(text) + 1]
        lines = enumerate(itertools.pairwise(starts), 1)
        return [Node(start, end - 1, "record", str(number)) for number, (start, end) in lines]
    try:
        return list(_members(text, _skip(text, 0), (), limit, api=API.search(text, 0, 4096) is not None))
    except (ValueError, IndexError, RecursionError):
        return []


def _members(text: str, at: int, path: tuple[str, ...], limit: int, *, api: bool) -> Iterator[Node]:
    """Yield the members of the object or the list that begins at an offset."""
    if text[at : at + 1] not in {"{", "["} or len(path) > DEEPEST:
        return
    is_object = text[at] == "{"
    at = _skip(text, at + 1)
    number = 0
    while text[at] not in "}]":
        start, name = at, str(number)
        if is_object:
            name, at = _decode(text, at)
            at = _skip(text, _skip(text, at) + 1)  # the colon
        end = _decode(text, at)[1]
        own = (*path, str(name))
        kind = _kind(own, "key" if is_object else "item", api=api)
        inner = end - start > limit or kind == OPENED
        parts = tuple(_members(text, at, own, limit, api=api)) if inner else ()
        at = _skip(text, end)
        if text[at] == ",":
            end, at = at + 1, _skip(text, at + 1)
        yield Node(_indented(text, start), end, kind, _symbol(own), _symbol(path), parts)
        number += 1


def _skip(text: str, at: int) -> int:
    match = SPACE.match(text, at)
    return match.end() if match else at


def _indented(text: str, start: int) -> int:
    """Return the beginning of the line if only white space stands before an offset, else the offset."""
    line = text.rfind("\n", max(0, start - DEEPEST_INDENT), start) + 1  # not from 0: data may be one huge line
    return line if start - line < DEEPEST_INDENT and not text[line:start].strip() else start


# --- YAML ---


def _yaml_parts(reading: Reading, limit: int) -> list[Node]:
    import yaml  # noqa: PLC0415 - 20 ms that only YAML needs

    text = reading.text
    api = API.search(text, 0, 4096) is not None
    starts = [*line_starts(text), len(text)]
    documents: list[Node] = []
    stack: list[_Open] = []
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            start, end = (starts[mark.line] + mark.column for mark in (event.start_mark, event.end_mark) if mark)
            if isinstance(event, yaml.DocumentStartEvent):
                stack = [_Open((), is_map=False, start=start)]
            elif isinstance(event, yaml.DocumentEndEvent):
                documents.append(
                    Node(stack[0].start, stack[0].end, "document", str(len(documents)), "", tuple(stack[0].parts))
                )
            elif isinstance(event, yaml.CollectionEndEvent):
                closed = stack.pop()
                end = end if text[start:end] in {"}", "]"} else closed.end
                stack[-1].add(
                    text, closed.start, end, [] if end - closed.start < limit and not api else closed.parts, api=api
                )
            elif isinstance(event, yaml.CollectionStartEvent):
                stack.append(
                    _Open(stack[-1].next_path(), is_map=isinstance(event, yaml.MappingStartEvent), start=start)
                )
            elif isinstance(event, (yaml.ScalarEvent, yaml.AliasEvent)):
                stack[-1].scalar(text, start, end, getattr(event, "value", "*"), api=api)
    except (yaml.YAMLError, RecursionError, IndexError, ValueError):
        return []
    return documents if len(documents) > 1 else list(_within(documents))


def _within(documents: Sequence[Node]) -> Iterator[Node]:
    for document in documents:
        for root in document.parts:
            yield from root.parts


class _Open:
    """A mapping or a list whose end the parser has not reached yet."""

    def __init__(self, path: tuple[str, ...], *, is_map: bool, start: int) -> None:
        self.path = path
        self.parts: list[Node] = []
        self.start = self.end = start
        self._is_map = is_map
        self._key: tuple[str, int] | None = None

    def next_path(self) -> tuple[str, ...]:
        """Return the path of the value that comes next."""
        return (*self.path, self._key[0] if self._key else str(len(self.parts)))

    def scalar(self, text: str, start: int, end: int, value: str, *, api: bool) -> None:
        """Take a scalar, which is the next key or the next value."""
        if self._is_map and self._key is None:
            self._key = (value, start)
        else:
            self.add(text, start, end, (), api=api)

    def add(self, text: str, start: int, end: int, parts: Sequence[Node], *, api: bool) -> None:
        """Take a value."""
        if not self._is_map or self._key is not None:
            path = self.next_path()
            begin = _indented(text, self._key[1] if self._key else start)
            if len(path) <= DEEPEST:
                kind = _kind(path[1:], "key" if self._is_map else "item", api=api)
                self.parts.append(Node(begin, end, kind, _symbol(path[1:]), _symbol(path[1:-1]), tuple(parts)))
            self._key = None
        else:
            self._key = ("?", start)  # a key that is a collection
        self.end = max(self.end, end)


# --- XML ---


def _xml_parts(reading: Reading, limit: int) -> list[Node]:
    from xml.parsers import expat  # noqa: PLC0415 - only XML needs it

    text, starts = reading.text, [*line_starts(reading.text), len(reading.text)]
    parser = expat.ParserCreate("utf-8")
    root: list[Node] = []
    stack: list[tuple[int, str, list[Node]]] = [(0, "", root)]

    def position() -> int:
        return starts[parser.CurrentLineNumber - 1] + parser.CurrentColumnNumber

    def begin(name: str, attributes: dict[str, str]) -> None:
        mark = attributes.get("id") or attributes.get("name") or ""
        stack.append((position(), f"{stack[-1][1]}.{name}{f'[{mark[:40]}]' if mark else ''}".lstrip("."), []))

    def finish(_name: str) -> None:
        start, symbol, parts = stack.pop()
        end = position()  # the start of a closing tag, or the end of an empty element
        end = text.find(">", end) + 1 if text.startswith("</", end) else end
        if len(stack) <= DEEPEST:
            node = Node(
                _indented(text, start),
                end,
                "element",
                symbol[:200],
                stack[-1][1],
                tuple(parts) if end - start > limit else (),
            )
            stack[-1][2].append(node)

    parser.StartElementHandler = begin
    parser.EndElementHandler = finish
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
    except (expat.ExpatError, IndexError, ValueError, RecursionError):
        return []
    return list(root[0].parts) or root if root else []


# --- CSV ---


def _csv_parts(reading: Reading, _limit: int) -> list[Node]:
    lines = reading.text.split("\n")
    starts = [*line_starts(reading.text), len(reading.text) + 1]
    header = lines[0]
    delimiter = max("\t;|,", key=header.count)
    rows = csv.reader((line + "\n" for line in lines), delimiter=delimiter)
    heading = " | ".join(header.split(delimiter))
    nodes, first = [], 0
    try:
        for row in rows:
            if row:
                nodes.append(Node(starts[first], starts[rows.line_num] - 1, "record", row[0][:80], heading))
            first = rows.line_num
    except csv.Error:
        return []
    return nodes


# --- logs ---


def _log_parts(reading: Reading, _limit: int) -> list[Node]:
    """Return the records of a log: a line that begins with a time or a level, and what follows it without one."""
    starts = [match.start() for match in RECORD.finditer(reading.text)]
    return [Node(start, end, "record", "") for start, end in itertools.pairwise([*starts, len(reading.text)])]


FINDERS: dict[str, Callable[[Reading, int], list[Node]]] = {
    "json": _json_parts, "yaml": _yaml_parts, "xml": _xml_parts, "csv": _csv_parts, "log": _log_parts,
}  # fmt: skip
