"""Run patterns without importing `re`: the artefact holds their code, which is used if this interpreter made it."""

from __future__ import annotations

import _sre  # type: ignore[import-not-found]  # built in, without a stub
import sys

from deia.records import TYPE_CHECKING
from deia.watch.turn.tool_call import OVERLAP, segments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from re import Pattern

    from deia.watch.compiled_trigger import CompiledPattern

MAKER = [sys.implementation.cache_tag, _sre.MAGIC, _sre.CODESIZE, sys.byteorder]
_compiled: dict[str, Pattern[str]] = {}  # by source
_made_here = [False]


def trust(maker: Sequence[str | int]) -> None:
    """Set which interpreter made the artefact's code. If it was another one, the sources are compiled instead."""
    _made_here[0] = maker == MAKER


def find(pattern: CompiledPattern, text: str) -> Iterator[tuple[int, int]]:
    """Yield where a pattern matches."""
    source = pattern.source
    compiled = _compiled.get(source)
    if compiled is None:
        compiled = _compiled[source] = _compile(pattern)
    for match in compiled.finditer(text):
        yield match.span()


def find_all(pattern: CompiledPattern, text: str) -> Iterator[tuple[int, int]]:
    """Yield where a pattern matches in a long text, which is searched in overlapping segments."""
    at = last = 0
    for segment in segments(text):
        for start, end in find(pattern, segment):
            if at + start >= last and end > start:
                last = at + end
                yield at + start, at + end
        at += len(segment) - OVERLAP


def is_in(pattern: CompiledPattern, text: str) -> bool:
    """Return whether a pattern matches anywhere in a text."""
    return any(True for _ in find_all(pattern, text))


def _compile(pattern: CompiledPattern) -> Pattern[str]:
    source, groups = pattern.source, pattern.groups
    if _made_here[0]:
        compiled: Pattern[str] = _sre.compile(source, pattern.flags, pattern.code, groups, {}, (None,) * (groups + 1))
        return compiled
    import re  # noqa: PLC0415 - takes 7 ms, and is needed only if another interpreter made the artefact

    return re.compile(source, pattern.flags & ~int(re.UNICODE))
