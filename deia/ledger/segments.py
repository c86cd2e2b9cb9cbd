"""The files of a ledger: day segments that are still written, Parquet files that older ones became, and which count.

While files are folded into one they lie in a folder `compacting-NAME`; it counts until `NAME.parquet` is there, so that
a crash at any moment neither loses an event nor doubles one. Refuses to read what is in them: that is the warehouse's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from deia.records import Record

SEGMENT, PARQUET = ".jsonl", ".parquet"
COMPACTING = "compacting-"
IMPORTED = "-import-"  # in the names of segments that were taken in
MAGIC = b"PAR1"  # how a Parquet file begins and ends (Parquet format specification)


class Part(Record):
    """One file of a ledger."""

    path: str
    size: int

    @property
    def name(self) -> str:
        """Its name without folders."""
        return self.path.rpartition("/")[2]

    @property
    def day(self) -> str:
        """The day with which its name begins, or the empty text."""
        day = self.name[:10]
        return day if day[4:5] == day[7:8] == "-" and day.replace("-", "").isdecimal() else ""

    def may_reach(self, since: str) -> bool:
        """Say whether events from a time on can be in it, by its name.

        A segment is of a day, one that was taken in of a month; Parquet tells by itself, and what is not called as deia
        calls its files may hold anything.
        """
        told = 7 if IMPORTED in self.name else 10
        return self.packed or not self.day or self.day[:told] >= since[:told]

    @property
    def packed(self) -> bool:
        """Whether it is Parquet."""
        return self.name.endswith(PARQUET)

    @property
    def whole(self) -> bool:
        """Whether it can be read: a Parquet file that was copied in half cannot, of a segment every whole line can."""
        return not self.packed or _ends_well(self.path)


class Parts(Record):
    """The files of one or more ledgers: those that count, and those that cannot be read."""

    counting: tuple[Part, ...]
    damaged: tuple[Part, ...] = ()

    @property
    def segments(self) -> tuple[Part, ...]:
        """Those with a line an event."""
        return tuple(part for part in self.counting if not part.packed)

    @property
    def parquet(self) -> tuple[Part, ...]:
        """Those that were compacted."""
        return tuple(part for part in self.counting if part.packed)

    @property
    def size(self) -> int:
        """Bytes of all of them."""
        return sum(part.size for part in (*self.counting, *self.damaged))


def find_parts(folders: Sequence[str], *, since: str = "") -> Parts:
    """Give the files of some ledgers that may hold events from a time on; a folder that is not there has none."""
    every = [part for folder in folders for part in _of_folder(folder.replace("\\", "/").rstrip("/"))]
    found = [part for part in every if part.may_reach(since)]
    return Parts(
        counting=tuple(part for part in found if part.whole), damaged=tuple(part for part in found if not part.whole)
    )


def _of_folder(folder: str) -> Iterator[Part]:
    names = sorted(_entries(folder))
    for name in names:
        if name.startswith(COMPACTING) and f"{name.removeprefix(COMPACTING)}{PARQUET}" not in names:
            yield from _files(f"{folder}/{name}", sorted(_entries(f"{folder}/{name}")))
    yield from _files(folder, names)


def _files(folder: str, names: Sequence[str]) -> Iterator[Part]:
    for name in names:
        path = f"{folder}/{name}"
        if name.endswith((SEGMENT, PARQUET)) and os.path.isfile(path) and not os.path.islink(path):
            yield Part(path=path, size=_size(path))


def _entries(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _ends_well(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            begins = file.read(4)
            file.seek(-4, os.SEEK_END)
            return begins == MAGIC == file.read(4)
    except OSError:
        return False
