"""Prepare documents in order: in several processes if there are many, otherwise in this one.

The processes run `worker_process` over pipes, because a pool of `multiprocessing` would run the importing program again
in each. Whatever another process fails to prepare, this process prepares itself.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue

from deia.compile.catalog.document_store import Volume
from deia.compile.catalog.prepare import BATCH, Prepared, as_prepared, packed, prepared
from deia.compile.catalog.worker_process import home, read_frame, write_frame

PARALLEL_FROM = 4_000  # documents; a process takes 0.4 s to start
MOST_PROCESSES = 4  # this process, which writes the results, keeps up with no more
AHEAD = 2  # batches that wait for each process
NO_WINDOW = 0x08000000  # Windows: start without a console


def each_prepared(
    volumes: Sequence[Volume],
    *,
    static: bool,
    with_passages: Callable[[], bool],
    fill: Callable[[Sequence[Volume]], Sequence[Volume]] = list,
) -> Generator[tuple[Sequence[Volume], Prepared]]:
    """Yield batches of documents, in order, with what they come to; `with_passages` is asked before each batch.

    `fill` reads the texts of a batch that are not read yet.
    """
    batches = (fill(volumes[start : start + BATCH]) for start in range(0, len(volumes), BATCH))
    count = min(_processors(), MOST_PROCESSES) if len(volumes) >= PARALLEL_FROM else 1
    if count < 2:
        for batch in batches:
            yield batch, prepared(batch, static=static, with_passages=with_passages())
        return
    with contextlib.closing(_prepared_elsewhere(batches, count, static=static, with_passages=with_passages)) as results:
        for batch, result in results:
            yield batch, result or prepared(batch, static=static, with_passages=with_passages())


def _prepared_elsewhere(
    batches: Iterable[Sequence[Volume]], count: int, *, static: bool, with_passages: Callable[[], bool]
) -> Generator[tuple[Sequence[Volume], Prepared | None]]:
    """Yield each batch, in order, with what other processes make of it, or None if they failed."""
    idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
    processes = [process for process in (_start() for _ in range(count)) if process]
    for process in processes:
        idle.put(process)

    def prepare(batch: Sequence[Volume], *, with_passages: bool) -> Prepared | None:
        """Have an idle process prepare a batch; a process that has ended fails at once."""
        process = idle.get()
        try:
            return _prepare_in(process, batch, static=static, with_passages=with_passages)
        finally:
            idle.put(process)

    waiting: deque[tuple[Sequence[Volume], Future[Prepared | None]]] = deque()
    pool = ThreadPoolExecutor(len(processes) or 1)
    try:
        for batch in batches:
            if not processes:
                yield batch, None
                continue
            waiting.append((batch, pool.submit(prepare, batch, with_passages=with_passages())))
            if len(waiting) > AHEAD * count:
                yield waiting[0][0], waiting.popleft()[1].result()
        while waiting:
            yield waiting[0][0], waiting.popleft()[1].result()
    finally:
        for process in processes:
            process.kill()
        pool.shutdown(cancel_futures=True)
        for process in processes:
            _end(process)


def _processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start() -> subprocess.Popen[bytes] | None:
    """Start a worker process with the interpreter that runs here; return None if that is impossible."""
    if "python" not in os.path.basename(sys.executable or "").lower():
        return None
    command = (
        sys.executable,
        "-I" if sys.flags.isolated else "-P",
        "-m",
        "deia.compile.catalog.worker_process",
        home(),
    )
    try:
        return subprocess.Popen(  # noqa: S603 - this interpreter, and a module of deia
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            creationflags=NO_WINDOW if sys.platform == "win32" else 0,
        )  # fmt: skip
    except OSError:
        return None


def _prepare_in(
    process: subprocess.Popen[bytes], batch: Sequence[Volume], *, static: bool, with_passages: bool
) -> Prepared | None:
    if process.stdin is None or process.stdout is None:
        return None
    try:
        values, texts = packed(batch)
        write_frame(process.stdin, (values, static, with_passages), texts)
        return as_prepared(*read_frame(process.stdout))
    except (OSError, EOFError, ValueError, TypeError, AttributeError, IndexError):
        _end(process)  # its next output could be the answer to an earlier batch
        return None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()
    process.wait()
