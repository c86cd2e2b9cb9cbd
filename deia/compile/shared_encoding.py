"""Encode passages together with others: those of a library, and as a worker those of whoever put some into the queue.

The queue is in the PostgreSQL that the person set as the engine. If it goes away, whoever encodes a library goes on
alone, and a worker waits until it is back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from deia.compile.catalog.effort import TIER
from deia.compile.catalog.embeddings import VectorCache, encode_missing
from deia.engines.engine import VARIABLE, EngineError, address_of
from deia.engines.work_queue import WorkQueue
from deia.match import quantised
from deia.match.encoding import encoded_by
from deia.match.tiers import Tier, open_tier

AT_ONCE = 32  # texts that a worker takes: a second or two
IDLE = 1.0  # seconds to wait for more work, or for the others
PATIENCE = 5.0  # seconds to wait for a database that is away
STALLED = 60.0  # seconds in which nobody got anything done, after which the rest is encoded alone
HERE = "postgres"


def is_shared(environ: Mapping[str, str]) -> bool:
    """Return whether there is a queue."""
    return address_of(environ).startswith(HERE)


def encode_together(
    tier: Tier, missing: Mapping[bytes, str], cache: VectorCache, show: Callable[[float, float], None],
    environ: Mapping[str, str],
) -> None:  # fmt: skip
    """Encode texts with all workers there are, and alone those that are not done if the database goes away."""
    try:
        queue = WorkQueue(address_of(environ))
        try:
            _together(queue, tier, missing, cache, show)
        finally:
            queue.close()
    except EngineError:
        encode_missing(tier, {key: text for key, text in missing.items() if key not in cache}, cache, show)


def _together(
    queue: WorkQueue, tier: Tier, missing: Mapping[bytes, str], cache: VectorCache, show: Callable[[float, float], None]
) -> None:
    queue.put(tier.digest, missing)
    left, began = list(missing), time.monotonic()
    progress = began
    while left:
        done = queue.work(tier.digest, AT_ONCE, lambda texts: encoded(tier, texts))
        finished = queue.finished(left)
        found = {key: codes for key, codes in finished.items() if len(codes) == tier.dimensions}
        if found:
            cache.add(list(found), b"".join(found.values()))
            left = [key for key in left if key not in found]
            count, progress = len(missing) - len(left), time.monotonic()
            show(count / len(missing), (progress - began) / count * len(left))
        elif done:
            progress = time.monotonic()
        elif finished or time.monotonic() - progress > STALLED:
            encode_missing(tier, {key: missing[key] for key in left}, cache, show)
            return
        else:
            queue.put(tier.digest, {key: missing[key] for key in left})  # if somebody emptied the queue
            time.sleep(IDLE)


def encoded(tier: Tier, texts: Sequence[str]) -> list[bytes]:
    """Return the stored vectors of texts."""
    codes, wide = quantised.quantised(encoded_by(tier, texts)), tier.dimensions
    return [codes[start : start + wide] for start in range(0, len(codes), wide)]


def work(environ: Mapping[str, str], *, until_done: bool, tell: Callable[[str], None] = lambda _message: None) -> int:
    """Encode what is in the queue, for ever or until it is empty; return how many texts that were.

    Raise EngineError if no database is set, or if it is away at the start.
    """
    if not is_shared(environ):
        fix = f'Set the engine, as in: export {VARIABLE}="postgresql://USER@HOST/DATABASE"'
        raise EngineError("there is no queue without PostgreSQL", fix=fix)
    queue, tier, total = WorkQueue(address_of(environ)), open_tier(TIER), 0
    while True:
        try:
            done = queue.work(tier.digest, AT_ONCE, lambda texts: encoded(tier, texts))
        except EngineError as error:
            tell(str(error))
            queue = _reopened(environ)
            continue
        total += done
        tell(f"encoded {total} passages")
        if not done and until_done and not queue.waiting(tier.digest):
            queue.close()
            return total
        if not done:
            time.sleep(IDLE)


def _reopened(environ: Mapping[str, str]) -> WorkQueue:
    """Return the queue once the database is back."""
    while True:
        time.sleep(PATIENCE)
        try:
            return WorkQueue(address_of(environ))
        except EngineError:
            continue
