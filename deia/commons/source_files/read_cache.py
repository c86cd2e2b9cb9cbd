"""Cache what one command reads repeatedly while it works, such as the index before and after a change.

Nothing is cached outside `cache_reads`, and only what was used last is. Callers must not change a cached value.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from typing import TypeVar, cast

T = TypeVar("T")

MOST = 4_000_000  # characters of the texts that the values are made from; the starter commons has 1.9 million
_CACHE: ContextVar[dict[Hashable, tuple[object, int]] | None] = ContextVar("cache", default=None)


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


def cached(key: Hashable, make: Callable[[], T], *, size: int) -> T:
    """Return the cached value of a key, or call `make` and cache its result; `size` is that of its text."""
    cache = _CACHE.get()
    if cache is None:
        return make()
    value = cast("T", cache.pop(key)[0]) if key in cache else make()
    cache[key] = value, size  # the one used last is dropped last
    while len(cache) > 1 and sum(size for _, size in cache.values()) > MOST:
        del cache[next(iter(cache))]
    return value
