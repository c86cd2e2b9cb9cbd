"""Read YAML from untrusted authors into plain values that know their line numbers. Problems are reported, not raised.

This is built on the parser's events instead of a loader: tags cannot create objects, aliases cannot expand without
limit or form loops, nesting is bounded, and every duplicate key is reported. A scalar becomes a number or a boolean
only if writing it again gives the same text, so `1.0`, `3.10`, `no` and `2026-11-20` stay as their author typed them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias, overload

import yaml

from deia.commons.source_files.findings import Findings, quote
from deia.commons.source_files.read_cache import cached
from deia.errors import Problem
from deia.fast_json import Json
from deia.records import Record

LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
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

    def __init__(self, *, line: int = 0) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}

    def at(self, key: str) -> int:
        """Return the line of a key, or the line of the mapping if it has no such key."""
        return self.lines.get(key, self.line)


class Items(list["Value"]):
    """A sequence that knows its own line and the line of every item."""

    __slots__ = ("line", "lines")

    def __init__(self, *, line: int = 0) -> None:
        super().__init__()
        self.line = line
        self.lines: list[int] = []

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
    parsed = cached((read_yaml, text, first_line), lambda: _read(text, path, first_line))
    if parsed.problems and parsed.problems[0].path != path:
        return parsed.but(problems=tuple(problem.but(path=path) for problem in parsed.problems))
    return parsed


def _read(text: str, path: str, first_line: int) -> Yaml:
    findings = Findings(path)
    bad = UNREADABLE.search(text)
    if bad:
        line = first_line + text.count("\n", 0, bad.start())
        found = f"The file has the control character or unpaired surrogate U+{ord(bad[0]):04X}."
        findings.error(line, "yaml-character", found, "Remove it: YAML files are plain UTF-8 text.")
        return Yaml(value=None, problems=tuple(findings.problems))
    builder = _Builder(findings, first_line)
    try:
        for event in _events(text.translate(ONE_LINE), findings, first_line):
            builder.take(event)
    except _Stop:
        return Yaml(value=None, problems=tuple(findings.problems))
    return Yaml(value=builder.result, problems=tuple(findings.problems))


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
        mapping = Map()
        mapping.update({str(key): with_lines(item) for key, item in value.items()})
        return mapping
    if isinstance(value, list):
        items = Items()
        items.extend(with_lines(item) for item in value)
        return items
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
            reason = " ".join(
                str(part) for part in (getattr(error, "context", ""), getattr(error, "problem", "")) if part
            )
            line = first_line + min(
                mark.line if mark else 0, text.rstrip().count("\n")
            )  # the end of a file counts as its last line
            findings.error(
                line, "yaml-syntax", f"This is not YAML: {reason or error}.", "Check indentation, quotes and colons."
            )
            raise _Stop from error
        yield event


class _Frame:
    """A collection that is being parsed."""

    __slots__ = ("aliased", "anchor", "height", "ignore", "is_map", "key", "key_line", "merges", "node", "size")

    def __init__(self, node: Map | Items, anchor: str | None) -> None:
        self.node = node
        self.is_map = isinstance(node, Map)
        self.anchor = anchor
        self.key: object = None  # of a mapping: the key whose value comes next
        self.key_line = 0
        self.ignore = False  # the key was invalid, so its value is dropped
        self.merges: list[Map] = []
        self.size = 1
        self.height = 1


class _Anchored:
    """The value of an anchor, with the size and the depth that an alias to it adds."""

    __slots__ = ("height", "size", "value")

    def __init__(self, value: Value, size: int, height: int) -> None:
        self.value = value
        self.size = size
        self.height = height


MERGE = object()  # the key `<<`


class _Builder:
    """Builds values from events, without recursion."""

    def __init__(self, findings: Findings, first_line: int) -> None:
        self.findings = findings
        self.first_line = first_line
        self.result: Value = None
        self.stack: list[_Frame] = []
        self.anchors: dict[str, _Anchored] = {}
        self.budget = ALIASED
        self.documents = 0

    def take(self, event: yaml.Event) -> None:
        """Process the next event."""
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close()
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._document(event)

    def _line(self, event: yaml.Event) -> int:
        return (event.start_mark.line if event.start_mark else 0) + self.first_line

    def _document(self, event: yaml.Event) -> None:
        self.documents += 1
        if self.documents > 1:
            found = "A second YAML document begins here."
            self.findings.error(
                self._line(event), "yaml-documents", found, "Keep one document per file: remove the `---` line."
            )
            raise _Stop

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        text = event.value
        if not text.isascii():  # only the pure Python parser lets a lone surrogate through
            text = text.encode("utf-8", "replace").decode("utf-8")
        line = self._line(event)
        frame = self.stack[-1] if self.stack else None
        if frame and frame.is_map and frame.key is None:
            if text != "<<" and text not in frame.node:  # the usual case
                frame.key, frame.key_line, frame.ignore = text, line, False
            else:
                self._key(MERGE if text == "<<" and event.implicit[0] else text, line)
            return
        value = self._value(event.tag, text, line, implicit=event.implicit[0])
        if event.anchor:
            self.anchors[event.anchor] = _Anchored(value, 1, 0)
        self._place(value, line, size=1, height=0)

    def _value(self, tag: str | None, text: str, line: int, *, implicit: bool) -> Scalar:
        if tag in RESOLVED or (implicit and tag in (None, "!")):
            return _resolve(text)
        if tag is None:
            return text
        if tag not in (None, "!") and tag not in AS_TEXT:
            self._refuse_tag(tag, line)
        return text

    def _refuse_tag(self, tag: str | None, line: int) -> None:
        self.findings.error(
            line, "yaml-tag", f"The tag {quote(tag)} is not supported.", "Remove the tag and write plain values."
        )

    def _open(self, event: yaml.CollectionStartEvent) -> None:
        line = self._line(event)
        if len(self.stack) >= DEPTH:
            self.findings.error(
                line, "yaml-depth", f"The file is nested deeper than {DEPTH} levels.", "Flatten the file."
            )
            raise _Stop
        if event.tag not in PLAIN_COLLECTIONS:
            self._refuse_tag(event.tag, line)
        node = Map(line=line) if isinstance(event, yaml.MappingStartEvent) else Items(line=line)
        self.stack.append(_Frame(node, event.anchor))

    def _close(self) -> None:
        frame = self.stack.pop()
        if isinstance(frame.node, Map):
            _merge(frame.node, frame.merges)
        if frame.anchor:
            self.anchors[frame.anchor] = _Anchored(frame.node, frame.size, frame.height)
        self._place(frame.node, frame.node.line, size=frame.size, height=frame.height)

    def _alias(self, event: yaml.AliasEvent) -> None:
        line = self._line(event)
        anchored = self.anchors.get(event.anchor or "")
        if anchored is None:
            found = f"There is no complete anchor for the alias *{event.anchor} before it."
            self.findings.error(
                line, "yaml-alias", found, "Define the anchor earlier in the file, or write the value out."
            )
            anchored = _Anchored(None, 1, 0)
        self.budget -= anchored.size
        if self.budget < 0 or len(self.stack) + anchored.height > DEPTH:
            found = "Aliases make this file far larger or deeper than it looks."
            self.findings.error(line, "yaml-alias", found, "Write the values out instead of nesting aliases.")
            raise _Stop
        if self._wants_key():
            self._key(str(anchored.value) if not isinstance(anchored.value, dict | list) else None, line)
        else:
            self._place(anchored.value, line, size=anchored.size, height=anchored.height)

    def _wants_key(self) -> bool:
        return bool(self.stack) and self.stack[-1].is_map and self.stack[-1].key is None

    def _key(self, key: object, line: int) -> None:
        """Remember the key whose value comes next: a text, the merge mark, or None for an invalid key."""
        frame = self.stack[-1]
        frame.key, frame.key_line, frame.ignore = key if key is not None else "", line, key is None
        if key is None:
            self.findings.error(line, "yaml-key", "A list or mapping is used as a key.", "Write keys as text.")
        elif isinstance(key, str) and key in frame.node:
            first = frame.node.lines[key] if isinstance(frame.node, Map) else 0
            found = f"The key {quote(key)} is repeated; the first one, on line {first}, is used."
            self.findings.error(line, "duplicate-key", found, "Remove or rename one of the two.")
            frame.ignore = True

    def _place(self, value: Value, line: int, *, size: int, height: int) -> None:
        if not self.stack:
            self.result = value
            return
        frame = self.stack[-1]
        frame.size += size
        if height >= frame.height:
            frame.height = height + 1
        if isinstance(frame.node, Items):
            frame.node.append(value)
            frame.node.lines.append(line)
        elif frame.key is None:
            self._key(None, line)
        else:
            self._set(frame, frame.node, value)

    def _set(self, frame: _Frame, node: Map, value: Value) -> None:
        key, frame.key = frame.key, None
        if isinstance(key, str) and not frame.ignore:
            node[key] = value
            node.lines[key] = frame.key_line
        elif key is MERGE:
            merged = value if isinstance(value, list) else [value]
            frame.merges += [item for item in merged if isinstance(item, Map)]


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
