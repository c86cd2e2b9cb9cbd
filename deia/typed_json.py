"""Records as JSON, and back from JSON that an earlier run of deia wrote: it may be damaged, foreign or forged since."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from deia.records import Record

Kind = TypeVar("Kind", bound=Record)

_hints = cache(get_type_hints)


def read_record(kind: type[Kind], value: object) -> Kind:
    """Return the record of a JSON object; fields that the record does not have are ignored."""
    if not isinstance(value, dict):
        raise TypeError(kind.__name__)
    hints = _hints(kind)
    return kind(**{name: _read(hints[name], item) for name, item in value.items() if name in hints})


def _read(kind: Any, value: object) -> object:
    """Return a value of the type of a field."""
    outer, inner = get_origin(kind) or kind, get_args(kind)
    if outer is tuple and isinstance(value, list):
        return tuple([_read(inner[0], item) for item in value])
    if issubclass(outer, Record):
        return read_record(outer, value)
    if outer is float and type(value) is int:
        return value
    if not isinstance(value, outer):
        raise TypeError(f"{value!r:.80} is no {outer.__name__}")
    return value


def plain(value: object) -> Any:
    """Return a value as JSON has it: records as objects and tuples as lists, at any depth."""
    if isinstance(value, Record):
        return plain(value.values())
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (tuple, list)) else value
