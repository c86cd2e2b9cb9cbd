"""Let one writer at a time change a commons, across all threads and processes.

The lock is the operating system's, on a file beside the index, which is removed after each write. The system frees the
lock of a process that dies.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from typing import Concatenate, ParamSpec, TypeVar

from deia.commons.source_files.read_cache import cache_reads
from deia.files import refuse_special
from deia.problems import CommonsError

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")

LOCK = ".deia-writing"
WAIT = 30.0  # seconds; writing an index of a thousand entries takes about one
POLL = 0.02  # seconds between two attempts


def with_write_lock(
    function: Callable[Concatenate[str, Parameters], Returned],
) -> Callable[Concatenate[str, Parameters], Returned]:
    """Make a function hold the write lock of the commons whose root is its first argument."""

    @functools.wraps(function)
    def locked(root: str, /, *arguments: Parameters.args, **named: Parameters.kwargs) -> Returned:
        """Call the function while holding the lock."""
        with hold_write_lock(root):
            return function(root, *arguments, **named)

    return locked


@contextlib.contextmanager
def hold_write_lock(root: str, *, wait: float = WAIT) -> Iterator[None]:
    """Keep other writers away from the commons at `root`; a thread that holds the lock already may enter again."""
    from filelock import FileLock, Timeout  # noqa: PLC0415 - costs 35 ms, and only writing needs it

    fix = "Check that the folder exists, its permissions, and the space left on the disk."
    if not os.path.isdir(root):  # filelock would make it
        raise CommonsError(f"The commons {root} cannot be written: there is no such folder.", fix=fix)
    path = os.path.join(os.path.realpath(root), LOCK)
    try:
        refuse_special(path)  # opening the lock would empty the file that a link leads to
    except OSError as error:
        raise CommonsError(f"{path} cannot be the lock: {error.strerror}.", fix="Remove it.") from error
    lock = FileLock(path, is_singleton=True, poll_interval=POLL)
    try:
        lock.acquire(timeout=wait)
    except Timeout as error:
        raise CommonsError(
            f"Another process has been writing in {root} for {wait:.0f} s.",
            fix=f"Try again; if that does not help, end the process that holds {path}.",
        ) from error
    except OSError as error:
        raise CommonsError(f"The commons {root} cannot be written: {error.strerror}.", fix=fix) from error
    try:
        with cache_reads():
            yield
    finally:
        if lock.lock_counter == 1:
            with contextlib.suppress(OSError):  # Windows does not remove an open file
                os.unlink(path)  # waiting writers notice this and make a new file
        lock.release()
