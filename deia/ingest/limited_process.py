"""A process of its own for work on untrusted text, which has limits on its memory and its time.

Parsers read bytes that anybody may have written. What crashes them, makes them run on, or eats memory ends a process
that holds nothing else; the file is refused, and the next one is taken by a new process. Each side sends a line of
JSON, the asking one the bytes of the file behind it: a broken reader can send nothing but text.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from deia.ingest.reading import ReadingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import Self

Value = TypeVar("Value")

SECONDS = 60.0  # for one file
FEWEST_SECONDS = 20.0  # for a small one
BYTES_A_SECOND = 100_000  # of a larger one
MEMORY = 3 << 30  # bytes of address space, most of which is never used
NO_WINDOW = 0x08000000
OVERTIME = 75  # the exit code of a process whose chunker took too long
Fields: TypeAlias = dict[str, Any]  # of a question or an answer, which one side writes and the other one knows
WATCH = 0.02  # seconds between two looks at the time


class LimitedProcess:
    """A process that answers questions, one after the other; it is started when the first one comes."""

    module = ""  # that is run, and calls `answer_questions`

    def __init__(self, *, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._seconds, self._memory = seconds, memory
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def start(self) -> None:
        """Start the process before the first question comes, which then finds it ready."""
        with contextlib.suppress(OSError):  # the first question reports it
            self._running()

    def ask(
        self,
        path: str,
        question: Fields,
        content: bytes,
        taken: Callable[[Any], Value],
        *,
        fewest: float = FEWEST_SECONDS,
    ) -> Value:
        """Return what `taken` makes of the answer; raise ReadingError if there is none, or a limit was broken."""
        asked = json.dumps(question).encode("ascii") + b"\n" + content
        seconds = min(self._seconds, fewest + len(asked) // BYTES_A_SECOND)
        expired = threading.Event()
        try:
            answer = self._answer(asked, seconds, expired)
            if "error" not in answer:
                return taken(answer["value"])
        except (OSError, ValueError, TypeError, KeyError, IndexError) as error:
            ended = self._process
            self.close()
            if ended and ended.returncode == OVERTIME:
                raise ReadingError("its chunker took too long, and was stopped", where=path) from error
            late = f"it took longer than {seconds:g} seconds"
            what = late if expired.is_set() else "its reader broke down or needed too much memory"
            raise ReadingError(f"{what}, and was stopped", where=path) from error
        raise ReadingError(answer["error"], where=answer["where"], fix=answer["fix"])

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    if pipe:
                        pipe.close()
            process.wait()

    def _answer(self, question: bytes, seconds: float, expired: threading.Event) -> Fields:
        process = self._running()
        if process.stdin is None or process.stdout is None:
            raise OSError("no pipes")

        def stop() -> None:
            expired.set()
            process.kill()

        timer = threading.Timer(seconds, stop)
        timer.start()
        try:
            process.stdin.write(question)
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
        finally:
            timer.cancel()
        return {"error": ""} if not isinstance(answer, dict) else answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            isolation = "-I" if sys.flags.isolated else "-P"
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, and this module
                (sys.executable, isolation, "-m", self.module, str(self._memory)),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                creationflags=NO_WINDOW if sys.platform == "win32" else 0,
            )  # fmt: skip
        return self._process


def answer_questions(value_of: Callable[[Fields, bytes], object]) -> None:
    """Answer each question on standard input, until there are no more: what a module of a limited process does."""
    _limit(int(sys.argv[1]))
    source, to = sys.stdin.buffer, sys.stdout.buffer
    while line := source.readline():
        question = json.loads(line)
        try:
            answer = {"value": value_of(question, source.read(question.get("size", 0)))}
        except ReadingError as error:
            answer = {"error": error.message, "where": error.where, "fix": error.fix}
        to.write(json.dumps(answer).encode("ascii") + b"\n")
        to.flush()


@contextlib.contextmanager
def watched(seconds: float) -> Iterator[None]:
    """End this process if what is done takes more CPU time; a busy machine fails nobody, nor what is done next."""
    done, until, deciding = threading.Event(), time.process_time() + seconds, threading.Lock()

    def watch() -> None:
        while not done.wait(WATCH):
            with deciding:
                if time.process_time() > until and not done.is_set():
                    os._exit(OVERTIME)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        with deciding:
            done.set()


def _limit(memory: int) -> None:
    """Keep this process from growing and from writing files, where the system can."""
    try:
        import resource  # noqa: PLC0415 - Windows has none
    except ImportError:
        return
    for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0)):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))
