"""An open commons that a server answers from, used by one thread at a time, and that thread.

Only deia's own errors reach the protocol. Any other is logged with its place, and the client learns only that it
happened.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from deia import files, freshness
from deia.compile.take_in import is_replica, is_up_to_date
from deia.errors import ArtefactError, DeiaError
from deia.fast_json import Json
from deia.folders import (
    LIBRARY_STATE,
    NOWHERE,
    is_packaged,
    library_collections,
    library_folder,
    notes_folder,
    trusted_lines,
)
from deia.librarian import Librarian
from deia.problems import CommonsError
from deia.records import Record

AGENT = "mcp"
SEARCH_TOOL = "query_global_commons"  # the tool with which a caller finds a document whose name it does not know
LOOK = 1.0  # seconds between two checks of the sources

Value = TypeVar("Value")


class Reply(Record):
    """The answer of a tool: its structured content, and the same as text for a model."""

    fields: Mapping[str, Json]
    text: str
    clusters: tuple[str, ...] = ()  # to choose from, if a question was too broad
    changed: bool = False  # whether sources were written, so that the compiled files are out of date
    source: str = ""  # of the library, which is to be taken in


class Desk:
    """An open commons; not for several threads at once.

    Whoever asks a `remote` desk sees nothing of the machine that it runs on, and only with `shows_reports` what others
    asked.

    Raises:
        CommonsError: `root` contains no commons, or its library is a replica and collections of it are asked for.
        SettingsError: a setting is malformed.
    """

    def __init__(
        self, root: str | None = None, *, agent: str = AGENT, collections: Sequence[str] = (), ledger: bool = True,
        is_remote: bool = False, shows_reports: bool = True,
    ) -> None:  # fmt: skip
        self._options = root, agent, collections
        self._ledger = ledger
        self.is_remote, self.shows_reports = is_remote or bool(collections), shows_reports and not collections
        self.folder = NOWHERE if self.is_remote else files.forward(os.getcwd())
        self._trusted = trusted_lines(os.environ)
        self._take(self._open())

    def _open(self) -> Librarian:
        root, agent, collections = self._options
        librarian = Librarian(root, agent=agent, ledger=self._ledger, keep_fresh=False, collections=collections)
        if library_collections(collections) and is_replica(library_folder(librarian.root, os.environ)):
            fix = "Let the machine where it is taken in serve them."
            raise CommonsError("the library here is a replica, of which no collections can be given away", fix=fix)
        return librarian

    def _take(self, librarian: Librarian) -> None:
        self.librarian = librarian
        self.collections = librarian.collections
        self.root = librarian.root
        self.derived = librarian.derived
        self._last_look: tuple[float, str] = (-LOOK, "")

    def follow_trust(self) -> None:
        """Open the commons anew if the person trusts or distrusts it meanwhile, or another one in its place.

        If it cannot be opened then, it stays as it was, and the reason is logged.
        """
        trusted = trusted_lines(os.environ)
        if trusted == self._trusted:
            return
        self._trusted = trusted
        try:
            opened = self._open()
        except DeiaError as error:
            self.librarian.log("error", {"error": str(error)[:500], "where": "opening the commons anew"})
            return
        if (opened.root, opened.settings.trusted) != (self.root, self.librarian.settings.trusted):
            self._take(opened)

    def twin(self) -> Desk:
        """Return another desk over the same commons, for a thread of its own."""
        root, agent, collections = self._options
        return Desk(
            root, agent=agent, collections=collections, ledger=self._ledger, is_remote=self.is_remote,
            shows_reports=self.shows_reports,
        )  # fmt: skip

    @property
    def writable(self) -> str:
        """The commons to write to; raise CommonsError if it is the packaged starter commons, or a folder of notes."""
        if is_packaged(self.root):
            problem = "this project has no commons of its own, and the starter commons cannot be changed"
            raise CommonsError(problem, fix="A person can create one by typing: deia init")
        if files.full(self.root) == notes_folder(os.environ):
            raise CommonsError("this is a folder of notes, in which nothing is written", fix="A person changes them.")
        return self.root

    @property
    def today(self) -> str:
        """The local date."""
        return time.strftime("%Y-%m-%d")

    @property
    def stamp(self) -> str:
        """The current time to the second, as a name that sorts by time."""
        return time.strftime("%Y%m%dT%H%M%S")

    def is_compiled(self) -> bool:
        """Return whether there are compiled files."""
        needed = ("triggers", "catalog", *(("library/catalog",) if self._has_part_of_library() else ()))
        return all(files.exists(f"{self.derived}/{name}") for name in needed)

    def is_library_behind(self) -> bool:
        """Return whether the collections of the library that are given away have to be compiled.

        The whole of the library is compiled by whoever took something in.
        """
        return self._has_part_of_library() and not is_up_to_date(self.root, os.environ, self.derived)

    def _has_part_of_library(self) -> bool:
        folder = library_folder(self.root, os.environ)
        is_there = files.exists(f"{folder}/{LIBRARY_STATE}") and not is_replica(folder)
        return bool(library_collections(self.collections)) and is_there

    def changed_source(self) -> str:
        """Return a source that changed since the last compile, or an empty text.

        A server of collections does not name it, because it may belong to another part of the commons.
        """
        kinds = (freshness.DOCUMENTS, freshness.TRIGGERS)
        source = next(filter(None, (freshness.changed(self.derived, self.root, kind) for kind in kinds)), "")
        return "something" if source and self.collections else source

    def recently_changed_source(self) -> str:
        """Return `changed_source` as of the last second; every answer needs it, and a check takes some milliseconds."""
        now = time.monotonic()
        if now - self._last_look[0] >= LOOK:
            self._last_look = now, self.changed_source()
        return self._last_look[1]

    def generation(self) -> tuple[bytes | None, tuple[int, int] | None]:
        """Return a value that differs after the compiled files were replaced."""
        return files.read(f"{self.derived}/catalog"), files.stamp(f"{self.derived}/triggers")

    def retry(self, read: Callable[[], Value]) -> Value:
        """Read from the compiled files, a second time if a compile replaced them meanwhile."""
        try:
            return read()
        except (ArtefactError, OSError):
            if not self.is_compiled():
                raise
        return read()


class DeskThread:
    """Runs tasks for a desk one after another, outside the event loop."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="deia-desk")

    async def run(self, task: Callable[[], Value]) -> Value:
        """Run a task with what the person trusts now; if the caller is cancelled before it begins, it is not run."""

        def follow_trust_and_run() -> Value:
            self.desk.follow_trust()
            return task()

        future = self._thread.submit(follow_trust_and_run)
        waiting = asyncio.wrap_future(future)
        try:
            await asyncio.wait([waiting])
        finally:
            if not waiting.done():
                future.cancel()
        error = waiting.exception()
        if error is None:
            return waiting.result()
        if isinstance(error, DeiaError):
            raise error
        raise self._log(error) from error

    def _log(self, error: BaseException) -> DeiaError:
        """Log an unexpected error and return one for the client."""
        frame, where = error.__traceback__, ""
        while frame is not None:
            where = f"{frame.tb_frame.f_code.co_filename.replace(chr(92), '/').rpartition('/')[2]}:{frame.tb_lineno}"
            frame = frame.tb_next
        self.desk.librarian.log("error", {"error": f"{type(error).__name__}: {error}"[:500], "where": where})
        return ArtefactError(
            f"something went wrong inside deia ({type(error).__name__} at {where})",
            fix="Try another question; a person can see the details with: deia log --event error",
        )

    def close(self) -> None:
        """Finish the task that is running and start no other."""
        self._thread.shutdown(wait=True, cancel_futures=True)
