"""Do pieces of the queue in PostgreSQL together with all workers there are."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence

from deia.engines.work_queue import WorkQueue
from deia.records import Record

PUT_AGAIN = 5.0  # seconds after which pieces are put into the queue again, if somebody emptied it
STALLED = 60.0  # seconds in which nobody got anything done, after which the rest is done alone


class Together(Record):
    """How pieces are done together: what they are done with, how many at once, by what, and what keeps the results."""

    model: str
    at_once: int
    work: Callable[[Sequence[str]], Sequence[bytes]]
    keep: Callable[[Mapping[bytes, bytes]], Collection[bytes]]  # returns the keys of the results that are of use
    idle: float  # seconds to wait for the others


def together(queue: WorkQueue, pieces: Mapping[bytes, str], how: Together) -> list[bytes]:
    """Do pieces with all workers there are; return the keys of those that nobody did, or did to no use."""
    queue.put(how.model, pieces)
    left, progress = list(pieces), time.monotonic()
    put = progress
    while left:
        done = queue.work(how.model, how.at_once, how.work)
        finished = queue.finished(left)
        kept = how.keep(finished)
        if kept:
            left, progress = [key for key in left if key not in kept], time.monotonic()
        elif done:
            progress = time.monotonic()
        elif finished or time.monotonic() - progress > STALLED:
            return left
        else:
            if time.monotonic() - put > PUT_AGAIN:
                queue.put(how.model, {key: pieces[key] for key in left})
                put = time.monotonic()
            time.sleep(how.idle)
    return left
