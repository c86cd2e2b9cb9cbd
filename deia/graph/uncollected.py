"""Work without the garbage collector, which looks through all that is being made for circles that it does not have."""

from __future__ import annotations

import gc
from contextlib import contextmanager

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the collector off in the block, or in a function that this decorates."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
