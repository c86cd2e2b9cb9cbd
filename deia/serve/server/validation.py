"""Arguments of a tool held against its schema, all that is wrong told at once, with what to write instead.

Knows as much of JSON Schema as the tools use; refuses what is not named there rather than passing it over.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from deia.errors import QueryError
from deia.serve.server.tool_schemas import MOST_SAID, MOST_SHORT, MOST_TEXT

LONG = frozenset(("text", "content", "query"))  # arguments that hold more than a name
MOST_ITEMS = 2_000
MOST_DEPTH = 40  # of a conversation's blocks; tool inputs nest a few levels
KINDS = {"string": str, "boolean": bool, "integer": int, "array": list, "object": dict}


def checked(tool: Mapping[str, Any], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Give the arguments of a call, without those that are null.

    Raises:
        QueryError: some are wrong or missing; every one is named.
    """
    arguments = {name: value for name, value in (given or {}).items() if value is not None}
    schema = tool["inputSchema"]
    wrong = [*_missing(schema, arguments), *_wrong(schema, arguments)]
    if wrong:
        raise QueryError(f"{tool['name']}: {'; '.join(wrong)}.", fix=_example(schema))
    return arguments


def _missing(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> Iterator[str]:
    for name in schema["required"]:
        if name not in arguments:
            yield f"{name} is missing"


def _wrong(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> Iterator[str]:
    for name, value in arguments.items():
        rule = schema["properties"].get(name)
        if rule is None:
            near = difflib.get_close_matches(str(name)[:60], schema["properties"], n=1)
            known = f"did you mean {near[0]}?" if near else f"known are {', '.join(schema['properties']) or 'none'}"
            yield f"there is no argument {str(name)[:60]!r}, {known}"
        else:
            yield from (f"{name} {told}" for told in _unfit(name, value, rule))


def _unfit(name: str, value: Any, rule: Mapping[str, Any]) -> Iterator[str]:
    if "enum" in rule:
        if not isinstance(value, str) or value not in rule["enum"]:
            yield f"must be one of {', '.join(rule['enum'])}"
    elif not _is(value, rule["type"]):
        yield f"must be of type {rule['type']}"
    elif isinstance(value, str):
        most = MOST_TEXT if name in LONG else MOST_SHORT
        if len(value) > most:
            yield f"has {len(value)} characters; at most {most} are taken"
    elif isinstance(value, list):
        yield from _unfit_items(value, rule)
    elif isinstance(value, int) and not isinstance(value, bool):
        low, high = rule.get("minimum", 0), rule.get("maximum", 1_000_000)
        if not low <= value <= high:
            yield f"must be between {low} and {high}"


def _unfit_items(items: list[Any], rule: Mapping[str, Any]) -> Iterator[str]:
    kinds = [one["type"] for one in rule["items"].get("anyOf", (rule["items"],))]
    if len(items) > MOST_ITEMS:
        yield f"has {len(items)} items; at most {MOST_ITEMS} are taken"
    elif not all(any(_is(item, kind) for kind in kinds) for item in items):
        yield f"must hold items of type {' or '.join(kinds)}"
    elif _deeper(items, MOST_DEPTH):
        yield f"is nested more than {MOST_DEPTH} deep"
    elif (size := _size(items)) > MOST_SAID:
        yield f"has {size} characters; at most {MOST_SAID} are taken: hand in the last turns"


def _deeper(value: Any, left: int) -> bool:
    """Say whether a value nests deeper than that, without going deeper."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return bool(inside) and (left == 0 or any(_deeper(item, left - 1) for item in inside))


def _size(value: Any) -> int:
    """Give how many characters stand in a value that does not nest deep."""
    if isinstance(value, str):
        return len(value)
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(_size, inside))


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, KINDS[kind]) and not (kind == "integer" and isinstance(value, bool))


def _example(schema: Mapping[str, Any]) -> str:
    needed = ", ".join(schema["required"])
    free = ", ".join(name for name in schema["properties"] if name not in schema["required"])
    return f"Needed: {needed or 'nothing'}. Optional: {free or 'nothing'}."
