"""Read files together with workers: the process that takes a source in puts its files into the queue, and reads too.

A piece has the content of a file, so a worker needs no access to anybody's folders. Its result counts only if the
worker has the same version of deia and the same readers. What it cannot read is read where the source is taken in, and
so is everything if the database is away.
"""

from __future__ import annotations

import binascii
import json
import shutil
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from importlib.util import find_spec
from typing import TypeVar

from deia import __version__
from deia.compile.shared_work import Together, together
from deia.engines.engine import EngineError, address_of
from deia.engines.work_queue import WorkQueue, is_shared
from deia.ingest.hidden_secrets import without_secrets
from deia.ingest.ingesting import Made, Others, Piece, read_and_cut
from deia.ingest.library_store import PLACES
from deia.ingest.reader_process import ReaderProcess
from deia.ingest.reading import MAKING, ChunkerConfig, Reading, ReadingError
from deia.knowledge import Chunk
from deia.records import Record

Kind = TypeVar("Kind", bound=Record)

FILES_AT_ONCE = 8
LONGEST = 30.0  # seconds of a batch, after which the rest of it is left to the process that asked
FEWEST = 8  # files that are worth asking others
LARGEST = 8_000_000  # bytes of a file that is handed over
MOST_MADE = 256_000_000  # bytes of what a worker made of a file
IDLE = 0.05  # seconds to wait for the others
READERS = ("pypdfium2", "python_calamine", "selectolax", "tree_sitter_language_pack")
READING, CHUNK = Reading(type="", title="", text=""), Chunk(document="", ordinal=0, heading="", text="", lines=(1, 1))
NOTHING = b""  # the result for a file that could not be read


def reading_model() -> str:
    """Return what reads files here: the version of deia, and the optional readers that are installed."""
    programs = [name for name in READERS if find_spec(name)] + ["tesseract"] * bool(shutil.which("tesseract"))
    return f"reading {__version__}.{MAKING} {' '.join(programs)}"


@contextmanager
def read_by_others(environ: Mapping[str, str]) -> Iterator[Others | None]:
    """Yield the function that reads files together with others, or None if there is no queue."""
    if not is_shared(environ):
        yield None
        return
    shared = _SharedReading(address_of(environ))
    try:
        yield shared.made
    finally:
        shared.close()


class _SharedReading:
    """The queue as one ingest sees it; once it is away, it is not asked again."""

    def __init__(self, address: str) -> None:
        self._address, self._model = address, reading_model()
        self._queue: WorkQueue | None = None
        self._is_away = False
        self._asked: list[bytes] = []  # what is in the queue and its results, until the library has them

    def made(self, pieces: Mapping[str, Piece]) -> Mapping[str, Made]:
        """Return the results for files that others and this process could read; few files are not worth it."""
        results: dict[str, Made] = {}
        if self._is_away or len(pieces) < FEWEST:
            return results
        keys = {piece_key(self._model, key): key for key, piece in pieces.items() if _may_leave(piece)}
        questions = {key: _question(pieces[content_key]) for key, content_key in keys.items()}

        def keep(finished: Mapping[bytes, bytes]) -> Mapping[bytes, bytes]:
            for key, answer in finished.items():
                if made := _made(answer):
                    results[keys[key]] = made
            return finished

        try:
            self._forget()
            self._queue = self._queue or WorkQueue(self._address)
            self._asked = list(questions)
            with file_worker() as read:
                how = Together(model=self._model, at_once=FILES_AT_ONCE, work=read, keep=keep, idle=IDLE)
                together(self._queue, questions, how)
        except EngineError:
            self._is_away = True
        return results

    def _forget(self) -> None:
        if self._queue and self._asked:
            self._queue.forget(self._asked)

    def close(self) -> None:
        """Remove from the queue what the library has, and disconnect."""
        try:
            self._forget()
        except EngineError:  # the rest stays there until the same files are taken in again
            self._is_away = True
        if self._queue:
            self._queue.close()


def piece_key(model: str, content: str) -> bytes:
    """Return the key of a piece: the same content for other readers is another piece."""
    return blake2b(f"{model} {content}".encode(), digest_size=16).digest()


def _may_leave(piece: Piece) -> bool:
    """Return whether a file may be handed over: one that shows a secret stays here."""
    return len(piece.content) <= LARGEST and not without_secrets(piece.content.decode("utf-8", "replace"))[1]


def _question(piece: Piece) -> str:
    content = binascii.b2a_base64(piece.content, newline=False).decode("ascii")
    return json.dumps({"path": piece.path, "config": piece.config.values(), "content": content})


@contextmanager
def file_worker() -> Iterator[Callable[[Sequence[str]], list[bytes]]]:
    """Yield the function that turns pieces into results, in a limited process that ends with the block."""
    with ReaderProcess() as reader:

        def read(questions: Sequence[str]) -> list[bytes]:
            until = time.monotonic() + LONGEST
            return [_answer(reader, question) if time.monotonic() < until else NOTHING for question in questions]

        yield read


def _answer(reader: ReaderProcess, question: str) -> bytes:
    try:
        asked = json.loads(question)
        content = binascii.a2b_base64(asked["content"])
        reading, chunks = read_and_cut(reader, asked["path"], content, ChunkerConfig(**asked["config"]))
    except (ReadingError, ValueError, TypeError, KeyError, RecursionError):
        return NOTHING
    made = {"reading": reading.values(), "chunks": [chunk.values() for chunk in chunks]}
    return zlib.compress(json.dumps(made).encode("ascii"), 1)


def _made(answer: bytes) -> Made | None:
    """Return the reading and the chunks of a result, or None if it makes no sense."""
    try:
        fields = json.loads(zlib.decompressobj().decompress(answer, MOST_MADE)) if answer else {}
        reading = _typed(READING, fields["reading"])
        chunks = [_typed(CHUNK, row) for row in fields["chunks"]]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, zlib.error):
        return None
    last, count = reading.text.count("\n") + 1, len(chunks)
    is_whole = all(
        len(chunk.lines) == 2 and 1 <= chunk.lines[0] <= chunk.lines[1] <= last and -1 <= chunk.parent < count
        for chunk in chunks
    )
    places = [place for name in PLACES for place in _listed(reading.metadata.get(name, ()))]
    are_places = all(list(map(type, _listed(place))) == [str, int] for place in places)
    return (reading, chunks) if is_whole and are_places else None


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, (list, tuple)) else (value,)


def _typed(like: Kind, fields: Mapping[str, object]) -> Kind:
    """Return a record of these fields, each of the type that it has in `like`; raise TypeError if one has another."""
    values: dict[str, object] = {}
    for name, usual in like.values().items():
        value = fields[name]
        if isinstance(usual, tuple) and isinstance(value, list):
            value = tuple(value)
            kinds = (int, str) if name == "notes" else (int,)
            if not all(type(item) in kinds for item in value):
                raise TypeError(name)
        if not isinstance(value, type(usual)):
            raise TypeError(name)
        values[name] = value
    return like.but(**values)
