"""Prepare documents in order: in several processes if there are many, otherwise in this one.

A process of a pool imports the main program again, so there is a pool only if that is a program of deia's own. Whatever
other processes fail to prepare, this process prepares itself.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from deia.compile.catalog.document_store import Volume
from deia.compile.catalog.prepare import BATCH, Prepared, prepared
from deia.folders import PACKAGE

PARALLEL_FROM = 4_000  # documents; a process takes 0.4 s to start
MOST_PROCESSES = 4  # this process, which writes the results, keeps up with no more
AHEAD = 2  # batches that wait for each process


def each_prepared(
    volumes: Sequence[Volume],
    *,
    static: bool,
    with_passages: Callable[[], bool],
    fill: Callable[[Sequence[Volume]], Sequence[Volume]] = list,
) -> Generator[tuple[Sequence[Volume], Prepared]]:
    """Yield batches of documents, in order, with their prepared forms; `with_passages` is asked before each batch.

    `fill` reads the texts of a batch that are not read yet.
    """
    batches = (fill(volumes[start : start + BATCH]) for start in range(0, len(volumes), BATCH))
    count = _processes() if len(volumes) >= PARALLEL_FROM else 1
    if count < 2:
        yield from ((batch, prepared(batch, static=static, with_passages=with_passages())) for batch in batches)
        return
    waiting: deque[tuple[Sequence[Volume], Callable[[], Prepared], Future[Prepared] | None]] = deque()
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"))
    try:
        for batch in batches:
            prepare = partial(prepared, batch, static=static, with_passages=with_passages())
            waiting.append((batch, prepare, _submitted(pool, prepare)))
            if len(waiting) > AHEAD * count:
                yield _finished(*waiting.popleft())
        while waiting:
            yield _finished(*waiting.popleft())
    finally:
        pool.shutdown(cancel_futures=True)


def _submitted(pool: ProcessPoolExecutor, prepare: Callable[[], Prepared]) -> Future[Prepared] | None:
    try:
        return pool.submit(prepare)
    except (BrokenExecutor, OSError):
        return None


def _finished(
    batch: Sequence[Volume], prepare: Callable[[], Prepared], future: Future[Prepared] | None
) -> tuple[Sequence[Volume], Prepared]:
    try:
        return batch, future.result() if future else prepare()
    except (BrokenExecutor, OSError):
        return batch, prepare()


def _processes() -> int:
    """Return how many processes may work at once."""
    main = str(getattr(sys.modules["__main__"], "__file__", None) or PACKAGE).replace("\\", "/")
    program = main.removesuffix("/__main__.py").rpartition("/")[2]
    is_ours = main.startswith(PACKAGE) or program in {"deia", "deia.exe"}
    if not is_ours or "python" not in os.path.basename(sys.executable or "").lower():
        return 1
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(processors, MOST_PROCESSES)
