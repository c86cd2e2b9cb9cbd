"""Take a source into the library: what is new or changed is read and cut, what is gone is forgotten.

Files are recorded in small transactions. An ingest that is killed goes on later where it stopped, and no file is ever
half in the library. A file that cannot be read is marked, and the rest goes on.
"""

from __future__ import annotations

import functools
import os
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import closing, nullcontext
from hashlib import blake2b

from filelock import FileLock

from deia import __version__, files, freshness
from deia.collecting import uncollected
from deia.folders import LIBRARY_STAMPS
from deia.git_command import GitError
from deia.ingest.added_chunkers import added_chunkers, chosen, with_native_code
from deia.ingest.detect import detect_type
from deia.ingest.hidden_secrets import without_secrets
from deia.ingest.library_store import FAILED, PENDING, PROCESSED, PROCESSING, READ, SKIPPED, Library, Registered
from deia.ingest.reader_process import ReaderProcess
from deia.ingest.reading import MAKING, ChunkerConfig, Reading, ReadingError
from deia.ingest.source import (
    CHUNKS,
    FOLDER,
    MOST_BYTES,
    UNCHANGED,
    UNLISTED,
    Found,
    Opened,
    Source,
    SourceError,
    without_password,
)
from deia.ingest.source_kinds.from_folder import FolderFiles
from deia.knowledge import Chunk
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from deia.ingest.custom.cutting import CustomChunker

BATCH_SECONDS = 1.0  # of work that a kill can lose
BATCH = 500  # files
AHEAD = 200  # files that are handed to others together
AHEAD_BYTES = 16_000_000  # of these files
LOCK = "lock"
MOST_STAMPS = 500  # files of a source whose stamps every answer compares, in a millisecond or two
SHOWN_LINES = 5  # numbers of lines with secrets that a note names
NO_TYPE = "a kind of file that nothing here can read"
NOT_LISTED = "this folder cannot be listed; what was read in it before stays"
TOO_LARGE = f"it cannot be read, or is larger than {MOST_BYTES // 1_000_000} MB"


class Outcome(Record):
    """What the ingest of a source did."""

    name: str
    documents: int = 0  # of the source, in all
    chunks: int = 0
    read: int = 0  # files that were read this time
    removed: int = 0
    failed: int = 0
    skipped: int = 0
    noted: int = 0  # files about which there is something to say
    seconds: float = 0.0
    error: str = ""  # why the source as a whole could not be taken in
    said: str = ""  # what its registration changed, or which sources of the same place it is beside


class Piece(Record):
    """A file that is to be read and cut."""

    path: str
    content: bytes
    config: ChunkerConfig


Made = tuple[Reading, list[Chunk]]
Others = Callable[[Mapping[str, Piece]], Mapping[str, Made]]  # returns what others made of files, by the contents' keys


class Progress(Record):
    """How far an ingest has come."""

    name: str
    files: int  # done
    of: int
    chunks: int
    seconds: float


def no_progress(_progress: Progress) -> None:
    """Report nothing."""


def no_work() -> None:
    """Do nothing."""


def open_source(library: Library, registered: Registered) -> Opened:
    """Return a source, opened; raise SourceError or ReadingError if that is impossible."""
    source = registered.source
    match source.kind:
        case "folder":
            return FolderFiles(source)
        case "upload":
            return FolderFiles(source.but(place=uploads(library, source.name)))
        case "chunks":
            from deia.ingest.source_kinds.from_chunks import ChunkFiles  # noqa: PLC0415 - XML, which few need

            return ChunkFiles(source)
        case "git":
            from deia.ingest.source_kinds.from_git import GitFiles  # noqa: PLC0415 - the network, which folders lack

            return GitFiles(source, f"{library.folder}/git/{source.name}")
        case "url":
            from deia.ingest.source_kinds.from_url import UrlFiles  # noqa: PLC0415 - likewise

            return UrlFiles(source, registered.mark)
        case _:
            from deia.ingest.source_kinds.from_s3 import S3Files  # noqa: PLC0415 - likewise

            return S3Files(source)


def uploads(library: Library, name: str) -> str:
    """Return the folder of the files that were handed over for a source."""
    return f"{library.folder}/uploads/{name}"


def remove(library: Library, name: str) -> None:
    """Take a source, what was read of it and what was fetched for it out of the library."""
    with FileLock(f"{library.folder}/{LOCK}"):
        library.remove_source(name)
        shutil.rmtree(f"{library.folder}/git/{name}", ignore_errors=True)
        shutil.rmtree(uploads(library, name), ignore_errors=True)
        files.remove(stamps_path(library, name))
        library.publish()


def stamps_path(library: Library, name: str) -> str:
    """Return the file with the stamps of a source's files, by which an answer notices that one changed."""
    return f"{library.folder}/{LIBRARY_STAMPS}/{name}"


def _stamps(opened: Opened, source: Source, found: Sequence[Found]) -> bytes:
    """Return the stamps of a folder's files, or of its folders if it has many; of other sources there are none."""
    if source.kind != FOLDER or not isinstance(opened, FolderFiles):
        return b""
    return freshness.stamp_text("", opened.stamps(found, MOST_STAMPS)).encode("utf-8", "surrogateescape")


def ingest(  # noqa: PLR0913 - what is taken in, how, and with what
    library: Library,
    registered: Registered,
    *,
    force: bool = False,
    failed: bool = False,
    progress: Callable[[Progress], None] = no_progress,
    environ: Mapping[str, str] = {},
    others: Others | None = None,
    reader: ReaderProcess | None = None,
    meanwhile: Callable[[], None] = no_work,
) -> Outcome:
    """Bring the library up to date with a source; return the outcome, which its status also records.

    With `force` every file is read again, with `failed` those that could not be read. In `environ` are the person's
    own chunkers. What `others` cannot read is read here, by the `reader` if there is one already; `meanwhile` is called
    while it starts.
    """
    name = registered.source.name
    began = time.monotonic()
    with FileLock(f"{library.folder}/{LOCK}"):
        library.set_status(name, PROCESSING)
        status, error, mark, run = PENDING, "", None, None  # what is interrupted goes on later
        try:
            wanted = registered.but(mark="") if force or failed else registered
            running = nullcontext(reader) if reader else ReaderProcess()
            with closing(open_source(library, wanted)) as opened, running as process:
                run = _Run(library, registered, opened, process, progress, environ, others)
                with uncollected() if isinstance(opened, FolderFiles) else nullcontext():  # others wait long
                    run.look(force=force, failed=failed)
                stamps = _stamps(opened, registered.source, run.found)
                run.take_in(meanwhile, force=force)
            status, mark = PROCESSED, getattr(opened, "mark", None)
            files.keep(stamps_path(library, name), stamps)  # empty if what changed cannot be told by them
        except (SourceError, ReadingError, GitError) as problem:
            status, error = FAILED, without_password(str(problem), registered.source.place)
        finally:
            library.set_status(name, status, error=error, mark=mark)
            library.publish()
    current = next(candidate for candidate in library.sources() if candidate.source.name == name)
    noted = sum(state == READ for _, state, _ in library.notes(name))
    return Outcome(
        name=name, documents=current.documents, chunks=current.chunks, failed=current.failed, skipped=current.skipped,
        error=error, noted=noted, read=run.read if run else 0, removed=run.removed if run else 0,
        seconds=time.monotonic() - began,
    )  # fmt: skip


def planned(library: Library, registered: Registered, environ: Mapping[str, str] = {}) -> Iterator[tuple[str, str]]:
    """Yield what taking a source in would do, file by file: `read`, `removed`, or nothing for one that is unchanged.

    A file whose stamp says too little is compared by its content, as it is when the source is taken in.
    """
    source = registered.source
    known, chunkers = library.known(source.name), added_chunkers(environ)
    is_as_before = any(before.source == source for before in library.registry())
    with closing(open_source(library, registered)) as opened:
        found = [file for file in opened.files() if _matters(file, source, known)]
        for file in found:
            stamp, key, state = known.get(file.path, ("", "", ""))
            is_same = file.stamp == UNCHANGED or (is_as_before and bool(stamp) and file.stamp == stamp)
            if key and not is_same:
                custom = chosen(file.path, source.config, chunkers)
                content = opened.read(file) or b""
                is_same = key == _key(file.path, content, source, custom.hash if custom else "") and state != FAILED
            yield file.path, "" if is_same else "read"
    yield from ((path, "removed") for path in sorted(gone_from(known, found)))


class _Run:
    """One run over the files of a source."""

    def __init__(
        self,
        library: Library,
        registered: Registered,
        opened: Opened,
        reader: ReaderProcess,
        progress: Callable[[Progress], None],
        environ: Mapping[str, str],
        others: Others | None,
    ) -> None:
        self._library, self._registered, self._opened, self._reader = library, registered, opened, reader
        self._others = others
        self._contents: dict[str, bytes | None] = {}  # of files that others were asked to read, by path
        self._made: dict[str, Made] = {}
        self._tell = progress
        self._chunkers = added_chunkers(environ)
        self._ready = functools.cache(lambda custom: with_native_code(custom, environ))
        self._chunks = 0
        self._known: dict[str, tuple[str, str, str]] = {}
        self._waiting: list[Found] = []
        self.found: list[Found] = []
        self.read = self.removed = 0

    def look(self, *, force: bool, failed: bool) -> None:
        """Find the files of the source, and which of them have to be read; then a reader is started, too."""
        with uncollected():
            self._known = self._library.known(self._registered.source.name)
        for file in self._opened.files():
            if not _matters(file, self._registered.source, self._known):
                continue
            self.found.append(file)
            if force or _is_due(file, self._known.get(file.path), failed=failed):
                if not self._waiting:
                    self._reader.start()  # which takes as long as listing thousands of files
                self._waiting.append(file)

    def take_in(self, meanwhile: Callable[[], None], *, force: bool) -> None:
        """Read what is new or changed of the files that were found, and forget what is gone."""
        name, known, waiting, began = self._registered.source.name, self._known, self._waiting, time.monotonic()
        gone = gone_from(known, self.found)
        if waiting:
            meanwhile()
        done = 0
        while done < len(waiting):
            batch = waiting[done : done + BATCH]
            if self._others:
                batch = self._ask_others(batch, known, force=force)
            until = time.monotonic() + BATCH_SECONDS
            with self._library.transaction():
                for file in batch:
                    self._take(file, known.get(file.path, ("", "", "")), force=force)
                    done += 1
                    if time.monotonic() > until:
                        break
            seconds = time.monotonic() - began
            self._tell(Progress(name=name, files=done, of=len(waiting), chunks=self._chunks, seconds=seconds))
        if gone:
            with self._library.transaction():
                self._library.drop(name, gone)
            self.removed = len(gone)

    def _ask_others(self, batch: list[Found], known: Mapping[str, tuple[str, str, str]], *, force: bool) -> list[Found]:
        """Have others read the first files of a batch; return these files."""
        pieces: dict[str, Piece] = {}
        size, asked = 0, 0
        for file in batch[:AHEAD]:
            if size > AHEAD_BYTES:
                break
            asked += 1
            is_held = file.path in self._contents
            content = self._contents[file.path] if is_held else self._opened.read(file)
            size += len(content or b"")
            if not is_held:
                self._contents[file.path] = content
                custom = chosen(file.path, self._registered.source.config, self._chunkers)
                if content is None or custom or self._registered.source.kind == CHUNKS:
                    continue
                key = _key(file.path, content, self._registered.source, "")
                is_new = force or (key != known.get(file.path, ("", "", ""))[1] and not self._library.has(key))
                if is_new and detect_type(file.path, content):
                    pieces[key] = Piece(path=file.path, content=content, config=self._registered.source.config)
        self._made.update(self._others(pieces) if self._others and pieces else {})
        return batch[:asked]

    def _take(self, file: Found, before: tuple[str, str, str], *, force: bool) -> None:
        """Take one file in."""
        content = self._contents.pop(file.path) if file.path in self._contents else self._opened.read(file)
        if content is None:
            note = NOT_LISTED if file.stamp == UNLISTED else TOO_LARGE
            self._library.put(self._registered, file, "", state=FAILED, note=note)
            return
        _, known_key, state = before
        custom = chosen(file.path, self._registered.source.config, self._chunkers)
        key = _key(file.path, content, self._registered.source, custom.hash if custom else "")
        if key == known_key and state == READ and not force:
            self._library.put(self._registered, file, key)
            return
        if not detect_type(file.path, content):
            self._library.put(self._registered, file, key, state=SKIPPED, note=NO_TYPE)
            return
        try:
            if force or not self._library.has(key):
                self._keep(file, content, key, custom)
            self._chunks += self._library.put(self._registered, file, key)
            self.read += 1
        except ReadingError as error:
            note = str(ReadingError(error.message, fix=error.fix))  # the path stands beside it
            self._library.put(self._registered, file, key, state=FAILED, note=note)

    def _keep(self, file: Found, content: bytes, key: str, custom: CustomChunker | None) -> None:
        """Read and cut a file, and keep the result."""
        source = self._registered.source
        if source.kind == CHUNKS:
            from deia.ingest.source_kinds.from_chunks import rebuilt  # noqa: PLC0415 - likewise

            self._library.keep(key, *rebuilt(file.path, content))
            return
        ready = self._ready(custom) if custom else None
        made = None if custom else self._made.pop(key, None)
        made = made or read_and_cut(self._reader, file.path, content, source.config, custom=ready)
        self._library.keep(key, *made)


def read_and_cut(
    reader: ReaderProcess, path: str, content: bytes, config: ChunkerConfig, *, custom: CustomChunker | None = None
) -> Made:
    """Return what a file says without its secrets, and its chunks; raise ReadingError if it cannot be read."""
    reading = reader.read(path, content)
    text, lines = without_secrets(reading.text)
    if lines:
        shown = ", ".join(map(str, lines[:SHOWN_LINES])) + (", …" if len(lines) > SHOWN_LINES else "")
        note = f"Secrets were left out, in {'line' if len(lines) == 1 else 'lines'} {shown}."
        reading = reading.but(text=text, notes=(*reading.notes, note))
    return reading, reader.chunk(reading, id=path, config=config, custom=custom)


def gone_from(known: Iterable[str], found: Sequence[Found]) -> set[str]:
    """Return the known files that are gone; what lies in folders that cannot be listed is not."""
    paths = {file.path for file in found}
    unlisted = tuple(file.path for file in found if file.stamp == UNLISTED)
    return {path for path in known if path not in paths and not path.startswith(unlisted)}


def _matters(file: Found, source: Source, known: Iterable[str]) -> bool:
    """Return whether a file, or a folder that cannot be listed, is of the source as far as that can be told."""
    return file.stamp != UNLISTED or not source.filter or any(path.startswith(file.path) for path in known)


def _is_due(file: Found, known: tuple[str, str, str] | None, *, failed: bool) -> bool:
    """Return whether a file has to be looked at."""
    if known is None:
        return True
    stamp, _, state = known
    return not stamp or file.stamp not in (stamp, UNCHANGED) or (failed and state == FAILED)


def _key(path: str, content: bytes, source: Source, custom: str) -> str:
    """Return the name under which the text and the chunks of a content are kept."""
    name = os.path.basename(path)
    ending = name.rpartition(".")[2] if "." in name else name
    how = repr((__version__, MAKING, ending, sorted(source.chunker.items()), source.kind == CHUNKS, custom))
    return blake2b(content, digest_size=16, key=blake2b(how.encode(), digest_size=16).digest()).hexdigest()
