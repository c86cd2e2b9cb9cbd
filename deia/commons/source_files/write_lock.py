"""One writer of a commons at a time, in whatever process: who reads a file, changes it and writes it back is alone.

The lock is the system's, on a file beside the index that is gone when nobody writes; a process that dies frees it.
Refuses to wait without end.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from deia.commons.source_files.read_cache import cache_reads
from deia.errors import CommonsError

if TYPE_CHECKING:
    Given = ParamSpec("Given")
    Gives = TypeVar("Gives")

LOCK = ".deia-writing"
WAIT = 30.0  # seconds; a write of an index of a thousand entries takes about one
AGAIN = 0.02  # seconds between two tries
_MINE = threading.local()


def with_write_lock(function: Callable[Concatenate[str, Given], Gives]) -> Callable[Concatenate[str, Given], Gives]:
    """Make a function, whose first argument is the root of a commons, the only writer there while it runs."""

    @functools.wraps(function)
    def held(root: str, /, *given: Given.args, **named: Given.kwargs) -> Gives:
        """Run the function alone."""
        with hold_write_lock(root):
            return function(root, *given, **named)

    return held


@contextlib.contextmanager
def hold_write_lock(root: str, *, wait: float = WAIT) -> Iterator[None]:
    """Let nobody else write in the commons at `root` meanwhile; who is alone already goes on.

    Raises:
        CommonsError: somebody else goes on writing for longer than `wait` seconds, or the folder cannot be written.
    """
    mine: set[str] = _MINE.__dict__.setdefault("roots", set())
    place = os.path.realpath(root)
    if place in mine:
        yield
        return
    path = os.path.join(place, LOCK)
    try:
        handle = _taken(path, until=time.monotonic() + wait)
    except OSError as error:
        fix = "Check that it is there, its permissions, and the space left on the disk."
        raise CommonsError(f"The commons {root} cannot be written: {error.strerror}.", fix=fix) from error
    if handle is None:
        fix = f"Try again; if that does not help, end the process that holds {path}."
        raise CommonsError(f"Somebody else has been writing in {root} for {wait:.0f} s.", fix=fix)
    mine.add(place)
    try:
        with cache_reads():
            yield
    finally:
        mine.discard(place)
        with contextlib.suppress(OSError):  # Windows keeps a file that is open
            os.unlink(path)
        os.close(handle)


def _taken(path: str, *, until: float) -> int | None:
    """Give an open file that is locked and still has its name; None where that did not come about in time."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
        try:
            if _locks(handle) and _is_named(handle, path):
                return handle
        except OSError:
            os.close(handle)
            raise
        os.close(handle)
        if time.monotonic() >= until:
            return None
        time.sleep(AGAIN)


def _locks(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415 - exists there only

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415 - exists there only

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _is_named(handle: int, path: str) -> bool:
    """Say whether a file is still the one of that name: the one before us takes it away when done."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
