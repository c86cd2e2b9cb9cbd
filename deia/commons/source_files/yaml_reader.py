"""Read YAML from untrusted authors into plain values that know their line numbers. Problems are reported, not raised.

This is built on the parser's events instead of a loader: tags cannot create objects, aliases cannot expand without
limit or form loops, nesting is bounded, and every duplicate key is reported. A scalar becomes a number or a boolean
only if writing it again gives the same text, so `1.0`, `3.10`, `no` and `2026-11-20` stay as their author typed them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias, overload

import yaml

from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.read_cache import cached
from deia.fast_json import Json
from deia.problems import Problem
from deia.records import Record

LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
TOO_DEEP = "maximum nesting depth"  # in the words of PyYAML, from 6.0.4 on
DEPTH = 64  # our files need 8; the limit makes every later recursion over the values safe
ALIASED = 100_000  # values that aliases may add; without a limit, ten lines of nested aliases expand to a billion
UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # YAML 1.1, section 5.1
# YAML 1.1 ends a line at these characters, but editors do not. As spaces, they do not change the line numbers.
ONE_LINE = {0x85: " ", 0x2028: " ", 0x2029: " "}
INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
DECIMAL = re.compile(r"-?[0-9]{1,12}\.[0-9]{1,12}")
BEGINS_NUMBER = frozenset("-0123456789")
WORDS = {"": None, "~": None} | {
    form: value
    for word, value in (("null", None), ("true", True), ("false", False))
    for form in (word, word.title(), word.upper())
}
STANDARD = "tag:yaml.org,2002:"
RESOLVED = {f"{STANDARD}{name}" for name in ("int", "float", "bool", "null", "timestamp")}
AS_TEXT = {f"{STANDARD}{name}" for name in ("str", "binary")}
PLAIN_COLLECTIONS = {None, "!", f"{STANDARD}map", f"{STANDARD}seq"}


Scalar: TypeAlias = "bool | int | float | str | None"
Value: TypeAlias = "Map | Items | Scalar"


class Map(dict[str, "Value"]):
    """A mapping that knows its own line and the line of every key."""

    __slots__ = ("line", "lines")

    def __init__(
        self, values: Mapping[str, Value] | None = None, *, line: int = 0, lines: Mapping[str, int] | None = None
    ) -> None:
        super().__init__(values or {})
        self.line = line
        self.lines: dict[str, int] = dict(lines or {})

    def at(self, key: str) -> int:
        """Return the line of a key, or the line of the mapping if it has no such key."""
        return self.lines.get(key, self.line)


class Items(list["Value"]):
    """A sequence that knows its own line and the line of every item."""

    __slots__ = ("line", "lines")

    def __init__(self, values: Iterable[Value] = (), *, line: int = 0, lines: Iterable[int] = ()) -> None:
        super().__init__(values)
        self.line = line
        self.lines: list[int] = list(lines)

    def at(self, position: int) -> int:
        """Return the line of an item."""
        return self.lines[position] if position < len(self.lines) else self.line


class Yaml(Record):
    """The content of a YAML text and its problems; the value is None if the text could not be parsed."""

    value: Value
    problems: tuple[Problem, ...] = ()


class _Stop(Exception):  # noqa: N818 - control flow, not an error
    """Raised to stop parsing when a limit is exceeded; the problem has been reported by then."""


def read_yaml(text: str, *, path: str, first_line: int = 1) -> Yaml:
    """Parse one YAML document; lines count from `first_line`, for YAML that is embedded in another file."""
    parsed = cached((read_yaml, text, first_line), lambda: _read(text, path, first_line), size=len(text))
    if parsed.problems and parsed.problems[0].path != path:
        return parsed.but(problems=tuple(problem.but(path=path) for problem in parsed.problems))
    return parsed


def _read(text: str, path: str, first_line: int) -> Yaml:
    findings = Findings(path)
    bad = UNREADABLE.search(text)
    if bad:
        line = first_line + text.count("\n", 0, bad.start())
        message = f"The file has the control character or unpaired surrogate U+{ord(bad[0]):04X}."
        findings.error(line, "yaml-character", message, "Remove it: YAML files are plain UTF-8 text.")
        return Yaml(value=None, problems=tuple(findings.problems))
    events = _events(text.translate(ONE_LINE), findings, first_line)
    try:
        value = _Builder(events, findings, first_line).document()
    except _Stop:
        value = None
    return Yaml(value=value, problems=tuple(findings.problems))


def read_mapping(text: str) -> Map:
    """Return the mapping that a YAML text consists of, or an empty one if it is anything else."""
    value = read_yaml(text, path="").value
    return value if isinstance(value, Map) else Map()


@overload
def plain(value: Mapping[str, Json]) -> dict[str, Json]: ...
@overload
def plain(value: list[Value]) -> list[Json]: ...
@overload
def plain(value: Json) -> Json: ...
def plain(value: Json) -> Json:
    """Return the value as ordinary dictionaries and lists, without line numbers."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def with_lines(value: Json) -> Value:
    """Return ordinary dictionaries and lists (from JSON, say) as `Map` and `Items`, with line 0 everywhere."""
    if isinstance(value, dict):
        return Map({str(key): with_lines(item) for key, item in value.items()})
    if isinstance(value, list):
        return Items(map(with_lines, value))
    return value if isinstance(value, str | int | float) else None


def _events(text: str, findings: Findings, first_line: int) -> Iterator[yaml.Event]:
    """Yield the parser's events; a syntax error is reported and stops the parsing."""
    events = yaml.parse(text, Loader=LOADER)
    while True:
        try:
            event = next(events)
        except StopIteration:
            return
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
            reasons = (getattr(error, "context", ""), getattr(error, "problem", ""))
            message = f"This is not YAML: {' '.join(str(part) for part in reasons if part) or error}."
            last = text.rstrip().count("\n")  # the end of a file counts as its last line
            line = first_line + min(mark.line if mark else 0, last)
            if TOO_DEEP in message:  # so deep that the parser itself refuses it
                findings.error(
                    line, "yaml-depth", f"The file is nested deeper than {DEPTH} levels.", "Flatten the file."
                )
            else:
                findings.error(line, "yaml-syntax", message, "Check indentation, quotes and colons.")
            raise _Stop from error
        yield event


class _Part:
    """A value, with the number of values in it and the depth of its nesting."""

    __slots__ = ("height", "size", "value")

    def __init__(self, value: Value, *, height: int = 0) -> None:
        self.value = value
        self.size = 1
        self.height = height

    def count(self, inner: _Part) -> None:
        """Count a value that is inside this one."""
        self.size += inner.size
        self.height = max(self.height, inner.height + 1)


MERGE = object()  # the key `<<`


class _Builder:
    """Builds values from events; as nesting is limited, so is the recursion."""

    def __init__(self, events: Iterator[yaml.Event], findings: Findings, first_line: int) -> None:
        self._events: Iterator[Any] = events  # no type says which kind of event follows which
        self._findings = findings
        self._first_line = first_line
        self._anchors: dict[str, _Part] = {}
        self._budget = ALIASED

    def document(self) -> Value:
        """Return the value of the only document."""
        value: Value = None
        documents = 0
        for event in self._events:
            if isinstance(event, yaml.NodeEvent):
                value = self._part(event, 0).value
            documents += isinstance(event, yaml.DocumentStartEvent)
            if documents > 1:
                message = "A second YAML document begins here."
                self.error(event, "yaml-documents", message, "Keep one document per file: remove the `---` line.")
                raise _Stop
        return value

    def error(self, event: yaml.Event, code: str, message: str, fix: str) -> None:
        """Report a problem at the line of an event."""
        self._findings.error(self._line(event), code, message, fix)

    def _line(self, event: yaml.Event) -> int:
        return (event.start_mark.line if event.start_mark else 0) + self._first_line

    def _part(self, event: Any, depth: int) -> _Part:
        """Return the value that begins with an event, inside `depth` collections."""
        if isinstance(event, yaml.AliasEvent):
            return self._aliased(event, depth)
        is_scalar = isinstance(event, yaml.ScalarEvent)
        part = _Part(self._scalar(event)) if is_scalar else self._collection(event, depth + 1)
        if event.anchor:
            self._anchors[event.anchor] = part
        return part

    def _scalar(self, event: yaml.ScalarEvent) -> Scalar:
        tag, text = event.tag, _encodable(event.value)
        if tag in RESOLVED or (event.implicit[0] and tag in (None, "!")):
            return _resolve(text)
        if tag not in (None, "!") and tag not in AS_TEXT:
            self._refuse_tag(event)
        return text

    def _refuse_tag(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        message = f"The tag {quote(event.tag)} is not supported."
        self.error(event, "yaml-tag", message, "Remove the tag and write plain values.")

    def _collection(self, event: yaml.CollectionStartEvent, depth: int) -> _Part:
        if depth > DEPTH:
            self.error(event, "yaml-depth", f"The file is nested deeper than {DEPTH} levels.", "Flatten the file.")
            raise _Stop
        if event.tag not in PLAIN_COLLECTIONS:
            self._refuse_tag(event)
        is_map = isinstance(event, yaml.MappingStartEvent)
        return self._map(self._line(event), depth) if is_map else self._list(self._line(event), depth)

    def _list(self, line: int, depth: int) -> _Part:
        items = Items(line=line)
        whole = _Part(items, height=1)
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            part = self._part(event, depth)
            items.append(part.value)
            items.lines.append(self._line(event))
            whole.count(part)
        return whole

    def _map(self, line: int, depth: int) -> _Part:
        node = Map(line=line)
        whole = _Part(node, height=1)
        merged: list[Value] = []
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event, node, depth)
            part = self._part(next(self._events), depth)
            whole.count(part)
            if key is MERGE:
                merged += part.value if isinstance(part.value, list) else [part.value]
            elif isinstance(key, str):
                node[key] = part.value
                node.lines[key] = self._line(event)
        _merge(node, [item for item in merged if isinstance(item, Map)])
        return whole

    def _key(self, event: yaml.Event, node: Map, depth: int) -> object:
        """Return the key that an event begins, the merge mark, or None if its value must be dropped."""
        key: Value
        if isinstance(event, yaml.ScalarEvent):
            if event.value == "<<" and event.implicit[0]:
                return MERGE
            key = _encodable(event.value)
        else:
            key = self._part(event, depth).value
        if isinstance(key, dict | list):
            self.error(event, "yaml-key", "A list or mapping is used as a key.", "Write keys as text.")
            return None
        if (key := str(key)) in node:
            message = f"The key {quote(key)} is repeated; the first one, on line {node.lines[key]}, is used."
            self.error(event, "duplicate-key", message, "Remove or rename one of the two.")
            return None
        return key

    def _aliased(self, event: yaml.AliasEvent, depth: int) -> _Part:
        anchored = self._anchors.get(event.anchor or "")
        if anchored is None:
            message = f"There is no complete anchor for the alias *{event.anchor} before it."
            self.error(event, "yaml-alias", message, "Define the anchor earlier in the file, or write the value out.")
            anchored = _Part(None)
        self._budget -= anchored.size
        if self._budget < 0 or depth + anchored.height > DEPTH:
            message = "Aliases make this file far larger or deeper than it looks."
            self.error(event, "yaml-alias", message, "Write the values out instead of nesting aliases.")
            raise _Stop
        return anchored


def _encodable(text: str) -> str:
    """Return a text without lone surrogates, which only the pure Python parser lets through."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _merge(node: Map, merges: list[Map]) -> None:
    """Add the keys of merged mappings that the mapping does not have itself; earlier mappings win."""
    for merged in merges:
        for key, value in merged.items():
            if key not in node:
                node[key] = value
                node.lines[key] = merged.at(key)


def _resolve(text: str) -> Scalar:
    """Return the value of an unquoted scalar."""
    if text in WORDS:
        return WORDS[text]
    if text[0] not in BEGINS_NUMBER:
        return text
    if INTEGER.fullmatch(text) and text != "-0":
        return int(text)
    if DECIMAL.fullmatch(text) and repr(float(text)) == text:
        return float(text)
    return text
