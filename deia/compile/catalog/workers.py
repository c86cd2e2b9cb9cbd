"""Documents prepared by several processes where there are many, in order, and by this one where there are few.

The processes are our own (`working`), over pipes: a pool of `multiprocessing` would run the program that imported deia
once more in each. Refuses to let a compile fail for want of them: what no other process did, this one does.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue

from deia.compile.catalog.document_store import Volume
from deia.compile.catalog.prepare import TOGETHER, Prepared, as_prepared, packed, prepared
from deia.compile.catalog.worker_process import home, read_frame, write_frame

FROM = 4_000  # documents; a process takes 0.4 s to begin
MOST = 4  # processes: this one, which writes, keeps up with no more
AHEAD = 2  # batches that wait for each process
NO_WINDOW = 0x08000000  # Windows: start without a console


def each_prepared(
    volumes: Sequence[Volume], *, static: bool, said: Callable[[], bool]
) -> Generator[tuple[Sequence[Volume], Prepared]]:
    """Yield documents, some at a time and in order, with what they come to; `said` is asked for each time.

    Raises:
        ArtefactError: the word vectors are missing or damaged.
    """
    batches = [volumes[start : start + TOGETHER] for start in range(0, len(volumes), TOGETHER)]
    count = min(_processors(), MOST) if len(volumes) >= FROM else 1
    if count < 2:
        for batch in batches:
            yield batch, prepared(batch, static=static, said=said())
        return
    with contextlib.closing(_elsewhere(batches, count, static=static, said=said)) as made:
        for batch, found in zip(batches, made, strict=True):
            yield batch, found or prepared(batch, static=static, said=said())


def _elsewhere(
    batches: Sequence[Sequence[Volume]], count: int, *, static: bool, said: Callable[[], bool]
) -> Generator[Prepared | None]:
    """Yield what other processes make of each batch, in order; None for what they did not."""
    idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
    started = [process for process in (_start() for _ in range(count)) if process]
    for process in started:
        idle.put(process)

    def ask(batch: Sequence[Volume], *, said: bool) -> Prepared | None:
        """Have a process that is idle prepare a batch; one that was ended fails again at once."""
        process = idle.get()
        try:
            return _asked(process, batch, static=static, said=said)
        finally:
            idle.put(process)

    waiting: deque[Future[Prepared | None]] = deque()
    pool = ThreadPoolExecutor(len(started) or 1)
    try:
        for batch in batches:
            if not started:
                yield None
                continue
            waiting.append(pool.submit(ask, batch, said=said()))
            if len(waiting) > AHEAD * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for process in started:
            process.kill()
        pool.shutdown(cancel_futures=True)
        for process in started:
            _end(process)


def _processors() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start() -> subprocess.Popen[bytes] | None:
    """Start a process, by the interpreter that runs here; None where there is none to start."""
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
        return subprocess.Popen(  # noqa: S603 - this interpreter, a module of ours
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            creationflags=NO_WINDOW if sys.platform == "win32" else 0,
        )  # fmt: skip
    except OSError:
        return None


def _asked(process: subprocess.Popen[bytes], batch: Sequence[Volume], *, static: bool, said: bool) -> Prepared | None:
    if process.stdin is None or process.stdout is None:
        return None
    try:
        given, texts = packed(batch)
        write_frame(process.stdin, (given, static, said), texts)
        return as_prepared(*read_frame(process.stdout))
    except (OSError, EOFError, ValueError, TypeError, AttributeError, IndexError):
        _end(process)  # what it says from here on could be the answer to another question
        return None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe:
            with contextlib.suppress(OSError):
                pipe.close()
    process.wait()
