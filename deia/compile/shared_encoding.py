"""Encode passages together with other machines: those of a library, or as a worker those that anybody has queued.

The queue is in the PostgreSQL that the person set as the engine. If that goes away, the encoding of a library goes on
alone, and a worker waits until it is back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence

from deia.compile.catalog.effort import TIER
from deia.compile.catalog.embeddings import VectorCache, encode_missing
from deia.compile.shared_reading import FILES_AT_ONCE, file_worker, reading_model
from deia.compile.shared_work import Together, together
from deia.engines.engine import VARIABLE, EngineError, address_of
from deia.engines.work_queue import WorkQueue, is_shared
from deia.match import quantised
from deia.match.encoding import encoded_by
from deia.match.tiers import Tier, open_tier
from deia.records import Record

AT_ONCE = 32  # texts that a worker takes: a second or two
IDLE = 1.0  # seconds to wait for more work, or for the others
PATIENCE = 5.0  # seconds to wait for a database that is away


def encode_together(
    tier: Tier, missing: Mapping[bytes, str], cache: VectorCache, show: Callable[[float, float], None],
    environ: Mapping[str, str],
) -> None:  # fmt: skip
    """Encode texts together with all workers; if the database goes away, encode the rest alone."""
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
    began, count = time.monotonic(), 0

    def keep(finished: Mapping[bytes, bytes]) -> Collection[bytes]:
        nonlocal count
        vectors = {key: codes for key, codes in finished.items() if len(codes) == tier.dimensions}
        if vectors:
            cache.add(list(vectors), b"".join(vectors.values()))
            count += len(vectors)
            show(count / len(missing), (time.monotonic() - began) / count * (len(missing) - count))
        return vectors

    how = Together(model=tier.digest, at_once=AT_ONCE, work=lambda texts: encoded(tier, texts), keep=keep, idle=IDLE)
    if left := together(queue, missing, how):
        encode_missing(tier, {key: missing[key] for key in left}, cache, show)


def encoded(tier: Tier, texts: Sequence[str]) -> list[bytes]:
    """Return the stored vectors of texts."""
    codes, width = quantised.quantised(encoded_by(tier, texts)), tier.dimensions
    return [codes[start : start + width] for start in range(0, len(codes), width)]


class Worked(Record):
    """What a worker did."""

    files: int = 0  # read
    passages: int = 0  # encoded


def work(
    environ: Mapping[str, str], *, until_done: bool, tell: Callable[[str], None] = lambda _message: None
) -> Worked:
    """Read and encode what is in the queue, for ever or until it is empty; return how much was done.

    Raise EngineError if no database is set, or if it is away at the start.
    """
    if not is_shared(environ):
        fix = f'Set the engine, as in: export {VARIABLE}="postgresql://USER@HOST/DATABASE"'
        raise EngineError("there is no queue without PostgreSQL", fix=fix)
    queue, tier, reading, total = WorkQueue(address_of(environ)), open_tier(TIER), reading_model(), Worked()
    with file_worker() as read:
        while True:
            try:
                files = queue.work(reading, FILES_AT_ONCE, read)
                passages = 0 if files else queue.work(tier.digest, AT_ONCE, lambda texts: encoded(tier, texts))
                is_done = until_done and not files + passages + queue.waiting(tier.digest) + queue.waiting(reading)
            except EngineError as error:
                tell(str(error))
                queue = _reopened(environ)
                continue
            total = Worked(files=total.files + files, passages=total.passages + passages)
            tell(f"read {total.files} files, encoded {total.passages} passages")
            if is_done:
                queue.close()
                return total
            if not files + passages:
                time.sleep(IDLE)


def _reopened(environ: Mapping[str, str]) -> WorkQueue:
    """Return the queue once the database is back."""
    while True:
        time.sleep(PATIENCE)
        try:
            return WorkQueue(address_of(environ))
        except EngineError:
            continue
