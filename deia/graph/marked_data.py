"""YAML and JSON as maps and lists of strings, with the line of every key, read in bounded time whatever the text says.

An alias is the same object as its anchor, so nothing is copied; code that walks such data must bound its steps.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

LONGEST = 4_000_000  # characters of YAML
MOST_EVENTS = 400_000
MOST_MERGED = 10_000  # keys that `<<` merges in
MOST_STEPS = 100_000
DEEPEST = 100


class Map(dict[str, "Any"]):
    """A mapping; `lines` has the line of each key."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}
        self.last = 0

    def map(self, key: str) -> Map:
        """Return a key's value if it is a map, else an empty map."""
        value = self.get(key)
        return value if isinstance(value, Map) else Map()

    def text(self, key: str) -> str:
        """Return a key's value if it is a scalar, else ""."""
        value = self.get(key)
        return value if isinstance(value, str) else ""

    def items_at(self, key: str) -> list[tuple[Any, int]]:
        """Return the items of a key's list with their lines; a map's keys and a single scalar count as items."""
        value = self.get(key)
        if isinstance(value, Map):
            return list(value.lines.items())
        if isinstance(value, List):
            return list(zip(value, value.lines, strict=True))
        return [(value, self.lines[key])] if isinstance(value, str) else []

    def end(self, key: str) -> int:
        """Return the last line of a key's value."""
        value = self.get(key)
        return max(self.lines[key], value.last) if isinstance(value, Map | List) else self.lines[key]


class List(list["Any"]):
    """A sequence; `lines` has the line of each item."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []
        self.last = 0


def read_marked(text: str) -> list[Any]:
    """Return the documents of a YAML or JSON text, up to the first error."""
    if len(text) > LONGEST:
        return []
    import yaml  # noqa: PLC0415 - 20 ms that only data files cost

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
            is_block = event.start_mark.index == event.end_mark.index  # a block ends where the next event begins
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
    """The open collections, each with the key that waits for its value, and the nodes that aliases stand for."""

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
        """Close the innermost collection and return it."""
        node, _ = self.open.pop()
        node.last = max(node.last, line)
        if self.open:
            around = self.open[-1][0]
            around.last = max(around.last, node.last)
        if isinstance(node, Map) and "<<" in node and self._merged < MOST_MERGED:
            self._merged += _merge(node)
        return node


def _merge(node: Map) -> int:
    """Add the keys that `<<` merges into a map, and return how many there are."""
    merged: Any = node["<<"]
    count = 0
    for source in merged if isinstance(merged, List) else [merged]:
        for key in source if isinstance(source, Map) and source is not node else ():
            count += 1
            if key not in node and count < MOST_MERGED:
                node[key] = source[key]
                node.lines[key] = node.lines["<<"]
    return count


def _json(text: str) -> list[Any]:
    """Return the value of a JSON text that is not YAML, with every key on line 1."""
    try:
        return [_from(json.loads(text), 0)]
    except (ValueError, RecursionError):
        return []


def _from(value: Any, depth: int) -> Any:
    collection: Map | List
    if isinstance(value, dict) and depth < DEEPEST:
        collection = Map()
        collection.update({key: _from(member, depth + 1) for key, member in value.items()})
        collection.lines = dict.fromkeys(collection, 1)
        return collection
    if isinstance(value, list) and depth < DEEPEST:
        collection = List()
        collection.extend(_from(member, depth + 1) for member in value)
        collection.lines = [1] * len(collection)
        return collection
    return "" if value is None else str(value)


def walk(root: Any) -> Iterator[tuple[Map, str, int]]:
    """Yield each map in a tree with each of its keys and the key's line; every map once, at most MOST_STEPS keys."""
    stack, seen, steps = [root], set[int](), 0
    while stack:
        node = stack.pop()
        if id(node) in seen or not isinstance(node, Map | List):
            continue
        seen.add(id(node))
        if isinstance(node, Map):
            for key, value in node.items():
                steps += 1
                if steps > MOST_STEPS:
                    return
                yield node, key, node.lines.get(key, 0)
                stack.append(value)
        else:
            stack.extend(node[:MOST_STEPS])
