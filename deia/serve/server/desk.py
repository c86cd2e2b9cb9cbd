"""What a server answers from: one librarian, asked by one thread at a time, and the writing tools of its commons.

Knows nothing of protocols. Refuses to write into the packaged starter commons.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from deia import __version__, files, freshness
from deia.compile.manifest import read_manifest
from deia.errors import ArtefactError, CommonsError
from deia.folders import is_packaged
from deia.librarian import Librarian
from deia.records import Record

if TYPE_CHECKING:
    Read = TypeVar("Read")

AGENT = "mcp"
SEARCHES = "query_global_commons"  # the tool by which a caller finds what it cannot name
LOOK = 1.0  # seconds between two looks at the sources


class Reply(Record):
    """What a tool answers: its structured content, and the same in words for a model."""

    fields: Mapping[str, Any]
    text: str
    changed: bool = False  # whether sources were written, so that the compiled files are behind


class Desk:
    """A commons open for asking; not for several threads at once.

    Raises:
        CommonsError: `root` names no commons.
        SettingsError: a setting is malformed.
    """

    def __init__(self, root: str | None = None, *, agent: str = AGENT, collections: Sequence[str] = ()) -> None:
        self._given = root, agent, collections
        self.librarian = Librarian(root, agent=agent, keep_fresh=False, collections=collections)
        self.collections = self.librarian.collections
        self.root = self.librarian.root
        self.derived = self.librarian.derived
        self.folder = os.getcwd().replace("\\", "/")
        self._looked: tuple[float, str] = (-LOOK, "")

    def twin(self) -> Desk:
        """Give another desk over the same commons, for a thread of its own."""
        root, agent, collections = self._given
        return Desk(root, agent=agent, collections=collections)

    @property
    def writable(self) -> str:
        """The commons to write into.

        Raises:
            CommonsError: it is the packaged starter commons.
        """
        if is_packaged(self.root):
            raise CommonsError(
                "this project has no commons of its own, and the starter commons is not written to",
                fix="A person starts one by typing: deia init",
            )
        return self.root

    @property
    def today(self) -> str:
        """The date here."""
        return time.strftime("%Y-%m-%d")

    @property
    def stamp(self) -> str:
        """The second, as a name that sorts."""
        return time.strftime("%Y%m%dT%H%M%S")

    def is_of_another_version(self) -> bool:
        """Say whether another version of deia made the compiled files: nothing else tells that its models changed."""
        return read_manifest(self.derived).deia != __version__

    def is_compiled(self) -> bool:
        """Return whether there are compiled files."""
        return files.exists(f"{self.derived}/triggers") and files.exists(f"{self.derived}/catalog")

    def stale(self) -> str:
        """Give a source that changed since the files were compiled, or the empty text; of a part, not which."""
        found = freshness.changed(self.derived, self.root, freshness.DOCUMENTS) or freshness.changed(
            self.derived, self.root, freshness.TRIGGERS
        )
        return "something" if found and self.collections else found

    def behind(self) -> str:
        """Give what `stale` gave within the last second: every answer says it, and a look costs what a search does."""
        now = time.monotonic()
        if now - self._looked[0] >= LOOK:
            self._looked = now, self.stale()
        return self._looked[1]

    def generation(self) -> tuple[Any, ...]:
        """Give what changes when the compiled files do."""
        return files.read(f"{self.derived}/catalog"), files.stamp(f"{self.derived}/triggers")

    def steady(self, read: Callable[[], Read]) -> Read:
        """Read from the compiled files, once more where a compile swept them away in between.

        Raises:
            ArtefactError: they cannot be read.
        """
        try:
            return read()
        except (ArtefactError, OSError):
            if not self.is_compiled():
                raise
        return read()
