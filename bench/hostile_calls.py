"""Calls of deia within limits: in a fork of this process that has everything imported, or as a process of its own."""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

LIMIT = 60.0  # seconds until a call counts as hung
CPU_LIMIT = 30  # seconds
MEMORY_LIMIT = 8 << 30  # bytes of addresses, so that a runaway call does not harm the machine
MB = 1024  # ru_maxrss is in KiB


class Call(NamedTuple):
    """What a call came to."""

    out: str
    err: str
    code: int  # below 0: the signal that ended it
    cpu: float  # seconds
    wall: float
    peak: float  # MB

    @property
    def figures(self) -> tuple[float, float, float]:
        """The seconds of CPU and wall time, and the MB."""
        return round(self.cpu, 3), round(self.wall, 3), round(self.peak)


def run(
    action: Sequence[str] | Callable[[], object], *, cwd: str, environ: Mapping[str, str], given: bytes = b""
) -> Call:
    """Run a command, or a function in a fork, with its own input, output, folder and environment."""
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write(given)
        stdin.seek(0)
        began = time.perf_counter()
        child = os.fork()
        if not child:
            _become(action, cwd, environ, (stdin.fileno(), stdout.fileno(), stderr.fileno()))
        status, usage = _wait(child)
        wall = time.perf_counter() - began
        code = os.waitstatus_to_exitcode(status)
        out, err = _text(stdout.fileno()), _text(stderr.fileno())
    return Call(out, err, code=code, cpu=usage.ru_utime + usage.ru_stime, wall=wall, peak=usage.ru_maxrss / MB)


def _text(handle: int) -> str:
    return os.pread(handle, os.fstat(handle).st_size, 0).decode("utf-8", "backslashreplace")


def _wait(child: int) -> tuple[int, resource.struct_rusage]:
    """Wait for a child, and end it with all that it started once its time is up."""
    watched = os.pidfd_open(child)
    try:
        if not select.select([watched], [], [], LIMIT)[0]:
            os.killpg(child, signal.SIGKILL)
    finally:
        os.close(watched)
    _, status, usage = os.wait4(child, 0)
    return status, usage


def _become(
    action: Sequence[str] | Callable[[], object], cwd: str, environ: Mapping[str, str], streams: Sequence[int]
) -> None:
    """Be the child: never return."""
    code = 99
    try:
        os.setpgid(0, 0)
        for number, handle in enumerate(streams):
            os.dup2(handle, number)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
        os.chdir(cwd)
        if not callable(action):
            os.execve(action[0], list(action), dict(environ))  # noqa: S606 - our own interpreter
        _take_environment(environ)
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, mode) for number, mode in enumerate("rww"))
        action()
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except BaseException:  # noqa: BLE001 - as an interpreter of its own would print it
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _take_environment(environ: Mapping[str, str]) -> None:
    """Replace the environment, also where deia reads it without `os`."""
    import posix  # noqa: PLC0415 - not on every system, and only a child needs it

    os.environ.clear()
    os.environ.update(environ)
    posix.environ.clear()
    posix.environ.update({os.fsencode(name): os.fsencode(value) for name, value in environ.items()})
