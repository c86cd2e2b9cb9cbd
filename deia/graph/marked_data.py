"""YAML and JSON with the line of every key: maps and lists of strings, whatever the text says, in bounded time.

An alias is the very object that it stands for, so nothing is multiplied; who walks such data counts its steps.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

LONGEST = 4_000_000  # characters of YAML
MOST_EVENTS = 400_000
MOST_MERGED = 10_000  # keys that `<<` brings in
MOST_STEPS = 100_000
DEEPEST = 100


class Map(dict[str, "Any"]):
    """A mapping; `lines` has the line of each key."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}
        self.last = 0

    def map(self, key: str) -> Map:
        """Return what a key holds if that is a map, else an empty one."""
        value = self.get(key)
        return value if isinstance(value, Map) else Map()

    def text(self, key: str) -> str:
        """Return what a key holds if that is a plain value, else ""."""
        value = self.get(key)
        return value if isinstance(value, str) else ""

    def items_at(self, key: str) -> list[tuple[Any, int]]:
        """Return the items of a list with their lines; the keys of a map, and a plain value, count as items."""
        value = self.get(key)
        if isinstance(value, Map):
            return list(value.lines.items())
        if isinstance(value, List):
            return list(zip(value, value.lines, strict=True))
        return [(value, self.lines[key])] if isinstance(value, str) else []

    def end(self, key: str) -> int:
        """Return the last line of what a key holds."""
        value = self.get(key)
        return max(self.lines[key], value.last) if isinstance(value, Map | List) else self.lines[key]


class List(list["Any"]):
    """A sequence; `lines` has the line of each item."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []
        self.last = 0


def read_marked(text: str) -> list[Any]:
    """Return the documents of a YAML or JSON text; what comes before an error counts."""
    if len(text) > LONGEST:
        return []
    import yaml  # noqa: PLC0415 - 20 ms that only data need

    documents: list[Any] = []
    try:
        for document in _documents(yaml, text):
            documents.append(document)  # noqa: PERF402 - what was read before an error stays
    except (yaml.YAMLError, ValueError, RecursionError, IndexError, TypeError):
        pass
    return documents or _json(text)


def _documents(yaml: Any, text: str) -> Iterator[Any]:
    reading = _Reading()
    for count, event in enumerate(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))):
        if count > MOST_EVENTS or len(reading.open) > DEEPEST:
            return
        line = event.start_mark.line + 1
        if isinstance(event, yaml.CollectionEndEvent):
            is_block = event.start_mark.index == event.end_mark.index  # it ends where the next thing begins
            node = reading.close(line - is_block)
            if not reading.open:
                yield node
        elif isinstance(event, yaml.AliasEvent):
            reading.add(reading.anchors.get(event.anchor, ""), line)
        elif isinstance(event, yaml.ScalarEvent):
            reading.add(event.value, line, event.anchor)
        elif isinstance(event, yaml.CollectionStartEvent):
            node = Map() if isinstance(event, yaml.MappingStartEvent) else List()
            reading.add(node, line, event.anchor)
            reading.open.append((node, []))
        elif isinstance(event, yaml.DocumentStartEvent):
            reading.anchors.clear()


class _Reading:
    """The collections that are open, each with the key that waits for its value; and what aliases stand for."""

    def __init__(self) -> None:
        self.open: list[tuple[Map | List, list[tuple[str, int]]]] = []
        self.anchors: dict[str, Any] = {}
        self._merged = 0

    def add(self, node: Any, line: int, anchor: str | None = None) -> None:
        """Put a key, a value or an item into the innermost open collection."""
        if anchor:
            self.anchors[anchor] = node
        if not self.open:
            return
        around, waiting = self.open[-1]
        around.last = max(around.last, line)
        if isinstance(around, List):
            around.append(node)
            around.lines.append(line)
        elif waiting:
            key, at = waiting.pop()
            around[key] = node
            around.lines[key] = at
        else:
            waiting.append((node if isinstance(node, str) else "", line))

    def close(self, line: int) -> Map | List:
        """Close the innermost collection, and return it."""
        node, _ = self.open.pop()
        node.last = max(node.last, line)
        if self.open:
            around = self.open[-1][0]
            around.last = max(around.last, node.last)
        if isinstance(node, Map) and "<<" in node and self._merged < MOST_MERGED:
            self._merged += _merge(node)
        return node


def _merge(node: Map) -> int:
    """Add what `<<` brings into a map, and return how much that is."""
    other: Any = node["<<"]
    count = 0
    for each in other if isinstance(other, List) else [other]:
        for key in each if isinstance(each, Map) and each is not node else ():
            count += 1
            if key not in node and count < MOST_MERGED:
                node[key] = each[key]
                node.lines[key] = node.lines["<<"]
    return count


def _json(text: str) -> list[Any]:
    """Return a JSON text that is not YAML, all at its first line."""
    try:
        return [_from(json.loads(text), 0)]
    except (ValueError, RecursionError):
        return []


def _from(value: Any, depth: int) -> Any:
    made: Map | List
    if isinstance(value, dict) and depth < DEEPEST:
        made = Map()
        made.update({key: _from(each, depth + 1) for key, each in value.items()})
        made.lines = dict.fromkeys(made, 1)
        return made
    if isinstance(value, list) and depth < DEEPEST:
        made = List()
        made.extend(_from(each, depth + 1) for each in value)
        made.lines = [1] * len(made)
        return made
    return "" if value is None else str(value)


def walk(node: Any) -> Iterator[tuple[Map, str, int]]:
    """Yield every key of every map in data, with the map and its line; each object once, and not without end."""
    stack, seen, steps = [node], set[int](), 0
    while stack:
        each = stack.pop()
        if id(each) in seen or not isinstance(each, Map | List):
            continue
        seen.add(id(each))
        if isinstance(each, Map):
            for key, value in each.items():
                steps += 1
                if steps > MOST_STEPS:
                    return
                yield each, key, each.lines.get(key, 0)
                stack.append(value)
        else:
            stack.extend(each[:MOST_STEPS])
