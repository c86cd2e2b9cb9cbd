"""What one writer reads again and again while it works, such as the index before and after a change, is read once.

Outside `cache_reads` nothing is kept. Refuses to keep more than a few readings; who is given one must not change it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    T = TypeVar("T")

MOST = 4  # readings: a text and its index, as they were and as they are to be
_KEPT: ContextVar[dict[Hashable, Any] | None] = ContextVar("kept", default=None)


@contextlib.contextmanager
def cache_reads() -> Iterator[None]:
    """Keep what is read meanwhile, in this thread of work."""
    if _KEPT.get() is not None:
        yield
        return
    token = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(token)


def cached(key: Hashable, make: Callable[[], T]) -> T:
    """Give what `make` gives, or gave for the same key a moment ago."""
    kept = _KEPT.get()
    if kept is None:
        return make()
    found: T = kept.pop(key) if key in kept else make()
    kept[key] = found  # the last one asked for goes last
    if len(kept) > MOST:
        del kept[next(iter(kept))]
    return found
