"""Cache what a writer reads repeatedly while it works, such as the index before and after a change.

Nothing is cached outside `cache_reads`, and only the last few values are. Callers must not change a cached value.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from typing import TypeVar, cast

T = TypeVar("T")

MOST = 4  # values: a text and its index, each before and after a change
_CACHE: ContextVar[dict[Hashable, object] | None] = ContextVar("cache", default=None)


@contextlib.contextmanager
def cache_reads() -> Iterator[None]:
    """Cache reads within this context, for the current thread or task."""
    if _CACHE.get() is not None:
        yield
        return
    token = _CACHE.set({})
    try:
        yield
    finally:
        _CACHE.reset(token)


def cached(key: Hashable, make: Callable[[], T]) -> T:
    """Return the cached value of a key, or call `make` and cache its result."""
    cache = _CACHE.get()
    if cache is None:
        return make()
    value = cast("T", cache.pop(key)) if key in cache else make()
    cache[key] = value  # the one used last is dropped last
    if len(cache) > MOST:
        del cache[next(iter(cache))]
    return value
