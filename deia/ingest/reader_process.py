"""Read and cut untrusted files in a process of its own, which has limits on its memory and its time.

Parsers in C read bytes that anybody may have written. What crashes them, makes them run on, or eats memory ends a
process that holds nothing else; the file is refused, and the next one is read by a new process. Each side sends a line
of JSON, the asking one the bytes of the file behind it: a broken reader can send nothing but text.
"""

from __future__ import annotations

import binascii
import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, TypeVar

from deia.ingest.chunk import DEFAULT, chunk
from deia.ingest.custom.cutting import CustomChunker, component_runner, custom_chunker
from deia.ingest.read import read
from deia.ingest.reading import ChunkerConfig, Reading, ReadingError
from deia.knowledge import Chunk

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
CUT_SECONDS, CUT_SECONDS_A_CHARACTER = 0.25, 1e-6  # of CPU time, for a chunker of the person's own
OVERTIME = 75  # the exit code of a process whose chunker took too long
WATCH = 0.02  # seconds between two looks at the time


class ReaderProcess:
    """A process that reads and cuts files, one after the other; it is started when the first file comes."""

    def __init__(self, *, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._seconds, self._memory = seconds, memory
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def read(self, path: str, content: bytes) -> Reading:
        """Return what a file says, as `deia.ingest.read.read` does; raise `ReadingError` if it breaks a limit, too."""
        return self._ask(path, {"path": path, "size": len(content)}, content, _reading)

    def chunk(
        self,
        reading: Reading,
        *,
        id: str,  # noqa: A002
        config: ChunkerConfig = DEFAULT,
        custom: CustomChunker | None = None,
    ) -> list[Chunk]:
        """Return the chunks of a reading, as `deia.ingest.chunk.chunk` does, or by a chunker of the person's own."""
        question = {"path": reading.path, "id": id, "config": config.values(), "reading": reading.values()}
        asked = {**question, "custom": custom.values()} if custom else question
        return self._ask(reading.path, asked, b"", _chunks)

    def native_code(self, name: str, module: bytes) -> bytes:
        """Return what a component is compiled to; raise `ReadingError` if it is none of a chunker."""
        return self._ask(name, {"module": name, "size": len(module)}, module, binascii.a2b_base64)

    def _ask(self, path: str, question: dict[str, Any], content: bytes, taken: Callable[[Any], Value]) -> Value:
        asked = json.dumps(question).encode("ascii") + b"\n" + content
        seconds = min(self._seconds, FEWEST_SECONDS + len(asked) // BYTES_A_SECOND)
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

    def _answer(self, question: bytes, seconds: float, expired: threading.Event) -> dict[str, Any]:
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
                (sys.executable, isolation, "-m", "deia.ingest.reader_process", str(self._memory)),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                creationflags=NO_WINDOW if sys.platform == "win32" else 0,
            )  # fmt: skip
        return self._process


def _reading(fields: dict[str, Any]) -> Reading:
    return Reading(**{**fields, "pages": tuple(fields["pages"]), "notes": tuple(fields["notes"])})


def _chunks(rows: list[dict[str, Any]]) -> list[Chunk]:
    return [Chunk(**{**row, "lines": (row["lines"][0], row["lines"][1])}) for row in rows]


def main() -> None:
    """Answer each question on standard input, until there are no more."""
    _limit(int(sys.argv[1]))
    source, to = sys.stdin.buffer, sys.stdout.buffer
    while line := source.readline():
        question = json.loads(line)
        try:
            answer = {"value": _value(question, source.read(question.get("size", 0)))}
        except ReadingError as error:
            answer = {"error": error.message, "where": error.where, "fix": error.fix}
        to.write(json.dumps(answer).encode("ascii") + b"\n")
        to.flush()


def _value(question: dict[str, Any], content: bytes) -> object:
    if "module" in question:
        return binascii.b2a_base64(component_runner().compiled(content).serialize(), newline=False).decode("ascii")
    if "reading" not in question:
        return read(question["path"], content).values()
    reading, config = _reading(question["reading"]), ChunkerConfig(**question["config"])
    if "custom" in question:
        return _cut(CustomChunker(**question["custom"]), reading, question["id"], config)
    return [each.values() for each in chunk(reading, id=question["id"], config=config)]


def _cut(custom: CustomChunker, reading: Reading, document: str, config: ChunkerConfig) -> object:
    try:
        cut = custom_chunker(custom)
        with _watched(CUT_SECONDS + CUT_SECONDS_A_CHARACTER * len(reading.text)):
            return [each.values() for each in cut(reading, document, config)]
    except ReadingError as error:
        what = f"the chunker {custom.name} cannot cut it: {error.message}"
        raise ReadingError(what, where=reading.path, fix=error.fix) from error


@contextlib.contextmanager
def _watched(seconds: float) -> Iterator[None]:
    """End this process if what is done takes more CPU time; a busy machine fails nobody."""
    done, until = threading.Event(), time.process_time() + seconds

    def watch() -> None:
        while not done.wait(WATCH):
            if time.process_time() > until:
                os._exit(OVERTIME)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
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


if __name__ == "__main__":
    main()
