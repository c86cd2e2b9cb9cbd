"""Running a pattern without importing `re`: its code comes from the artefact, if this very interpreter made it."""

from __future__ import annotations

import _sre  # type: ignore[import-not-found]  # built in, without a stub
import sys

from deia.fast_json import loads
from deia.records import TYPE_CHECKING
from deia.watch.turn.tool_call import OVERLAP, segments

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAKER = [sys.implementation.cache_tag, _sre.MAGIC, _sre.CODESIZE, sys.byteorder]
_compiled: dict[str, Any] = {}


def trust(maker: list[Any]) -> None:
    """Say which interpreter made the artefact's code; code of another is not used, its sources are compiled instead."""
    _made_here[0] = maker == MAKER


_made_here = [False]


def unfolded(clause: Any, name: str) -> Any:
    """Give a pattern that a compiled clause holds under a name; it is read when first asked for."""
    if isinstance(clause[name], str):
        clause[name] = loads(clause[name])
    return clause[name]


def find(clause: Any, text: str) -> Iterator[tuple[int, int]]:
    """Give where a pattern clause matches."""
    source = clause["s"]
    pattern = _compiled.get(source)
    if pattern is None:
        pattern = _compiled[source] = _revive(source, clause["v"])
    for found in pattern.finditer(text):
        yield found.span()


def find_all(clause: Any, text: str) -> Iterator[tuple[int, int]]:
    """Give where a pattern clause matches in a long text: segment by segment, what lies in two of them once."""
    at = last = 0
    for segment in segments(text):
        for start, end in find(clause, segment):
            if at + start >= last and end > start:
                last = at + end
                yield at + start, at + end
        at += len(segment) - OVERLAP


def _revive(source: str, made: Any) -> Any:
    if _made_here[0]:
        groups = made["g"]
        return _sre.compile(source, made["f"], made["c"], groups, {}, (None,) * (groups + 1))
    import re  # noqa: PLC0415 - 7 ms, and only where another interpreter made the artefact

    return re.compile(source, made["f"] & ~int(re.UNICODE))
