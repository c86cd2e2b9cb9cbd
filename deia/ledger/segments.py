"""The files of a ledger: segments with a line per event for each day, and Parquet files that older segments became.

Files that are being folded into one lie in a folder `compacting-NAME`, which counts as part of the ledger until
`NAME.parquet` exists. A crash at any moment therefore neither loses nor duplicates an event.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from deia import files
from deia.records import Record

SEGMENT, PARQUET = ".jsonl", ".parquet"
COMPACTING = "compacting-"
WILDCARDS = frozenset("*?[")  # of DuckDB
MAGIC = b"PAR1"  # how a Parquet file begins and ends (Parquet format specification)


class Part(Record):
    """One file of a ledger."""

    path: str
    size: int

    @property
    def name(self) -> str:
        """The file name without folders."""
        return self.path.rpartition("/")[2]

    @property
    def day(self) -> str:
        """The day at the beginning of the name, or ""."""
        day = self.name[:10]
        return day if day[4:5] == day[7:8] == "-" and day.replace("-", "").isdecimal() else ""

    @property
    def is_parquet(self) -> bool:
        """Whether this is a Parquet file."""
        return self.name.endswith(PARQUET)

    @property
    def is_readable(self) -> bool:
        """Whether the file can be read; an incomplete Parquet file cannot, of a segment every complete line can.

        Nor can one whose name DuckDB would not understand, or would take for a pattern that stands for others too.
        """
        is_plain = WILDCARDS.isdisjoint(self.name) and is_text(self.name)
        return is_plain and (not self.is_parquet or _has_parquet_marks(self.path))


class Parts(Record):
    """The files of one or more ledgers, readable and damaged ones."""

    readable: tuple[Part, ...]
    damaged: tuple[Part, ...] = ()

    @property
    def segments(self) -> tuple[Part, ...]:
        """The readable files with a line per event."""
        return tuple(part for part in self.readable if not part.is_parquet)

    @property
    def parquet(self) -> tuple[Part, ...]:
        """The readable Parquet files."""
        return tuple(part for part in self.readable if part.is_parquet)

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(part.size for part in (*self.readable, *self.damaged))


def find_parts(folders: Sequence[str], *, since: str = "") -> Parts:
    """Return the files of some ledgers that may contain events since a time; a missing folder has none."""
    candidates = [part for folder in folders for part in _of_folder(files.forward(folder).rstrip("/"))]
    # A segment covers a day. Parquet files filter by themselves, and files of other names can contain anything.
    parts = [part for part in candidates if part.is_parquet or not part.day or part.day >= since[:10]]
    return Parts(
        readable=tuple(part for part in parts if part.is_readable),
        damaged=tuple(part for part in parts if not part.is_readable),
    )


def nameable(folder: str, scratch: str) -> str:
    """Return a path of a folder that DuckDB understands: a link in `scratch` if its own path is not valid Unicode."""
    if is_text(folder):
        return folder
    link = f"{scratch}/{len(os.listdir(scratch))}"
    os.symlink(folder, link)
    return link


def is_text(name: str) -> bool:
    """Return whether a name is valid Unicode, as hardly any is not."""
    return name == name.encode("utf-8", "replace").decode()


def _of_folder(folder: str) -> Iterator[Part]:
    names = files.names(folder)
    for name in names:
        if os.path.islink(f"{folder}/{name}"):
            continue
        if name.startswith(COMPACTING) and f"{name.removeprefix(COMPACTING)}{PARQUET}" not in names:
            yield from _files(f"{folder}/{name}", files.names(f"{folder}/{name}"))
    yield from _files(folder, names)


def _files(folder: str, names: Sequence[str]) -> Iterator[Part]:
    for name in names:
        path = f"{folder}/{name}"
        if name.endswith((SEGMENT, PARQUET)) and os.path.isfile(path) and not os.path.islink(path):
            stamp = files.stamp(path)
            yield Part(path=path, size=stamp[0] if stamp else 0)


def _has_parquet_marks(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            begins = file.read(4)
            file.seek(-4, os.SEEK_END)
            return begins == MAGIC == file.read(4)
    except OSError:
        return False
