"""The vectors of a catalog's passages and documents, mapped: looked up by number, and searched for near ones.

The search goes by signs: one bit a dimension, whose agreement is a coarse cosine, cheap enough to hold a question
against every passage without numpy (0.16 µs each); who asks takes more than needed and compares those exactly. In a
process that asks again and again numpy is loaded, and does it ten times faster with the same result. It refuses to
scan beyond MOST_SCANNED.
"""

from __future__ import annotations

import mmap
import os
import sys
from bisect import bisect_right

from deia.errors import ArtefactError
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

CODES, SIGNS, ABOUT, STARTS = "codes", "signs", "about", "starts"  # names of files, behind the tier's and a dot
MOST_SCANNED = 200_000  # passages; beyond, only what words find is held against the question
OFTEN = 8  # scans of one process, from which numpy is worth its start
REBUILD = "Run `deia compile`."


class Vectors:
    """One tier's vectors in a catalog's folder; passages are numbered through, document after document."""

    __slots__ = ("_about", "_codes", "_scans", "_signs", "_starts", "dimensions")

    def __init__(self, folder: str, *, tier: str, dimensions: int) -> None:
        """Map the files.

        Raises:
            ArtefactError: one is missing, or they do not belong together.
        """
        self.dimensions = dimensions
        self._scans = 0
        self._codes, self._signs, self._about, starts = (
            _mapped(os.path.join(folder, f"{tier}.{name}")) for name in (CODES, SIGNS, ABOUT, STARTS)
        )
        self._starts = memoryview(starts)[: len(starts) // 4 * 4].cast("I")
        wanted = (len(self) * dimensions, len(self) * dimensions // 8, (len(self._starts) - 1) * dimensions)
        if tuple(len(data) - 1 for data in (self._codes, self._signs, self._about)) != wanted:  # each ends with a byte
            raise ArtefactError("the passages' vectors do not add up", where=folder, fix=REBUILD)

    def __len__(self) -> int:
        return self._starts[len(self._starts) - 1]

    def passage(self, document: int, ordinal: int) -> int:
        """Give a passage's number by its document's number and its place there."""
        return self._starts[document] + ordinal

    def place(self, passage: int) -> tuple[int, int]:
        """Give a passage's document and its place there."""
        document = bisect_right(self._starts, passage) - 1
        return document, passage - self._starts[document]

    def passages(self, numbers: Iterable[int]) -> bytes:
        """Give the codes of passages, one after another."""
        return _gathered(self._codes, numbers, self.dimensions)

    def documents(self, numbers: Iterable[int]) -> bytes:
        """Give the codes of what documents are about, one after another."""
        return _gathered(self._about, numbers, self.dimensions)

    def raw(self, document: int) -> tuple[bytes, bytes]:
        """Give the codes of a document's passages, and of what it is about, as they are stored."""
        first, end = self._starts[document : document + 2]
        wide = self.dimensions
        return self._codes[first * wide : end * wide], self._about[document * wide : (document + 1) * wide]

    def near(self, vector: Sequence[float], *, most: int, among: Collection[int] | None = None) -> list[int]:
        """Give the passages whose signs agree best with a vector's, of some documents or of all; in no order.

        Of those that agree equally well the first count.
        """
        if len(self) > MOST_SCANNED or not any(vector):
            return []
        self._scans += 1
        asked = sum([1 << place for place, value in enumerate(vector) if value > 0])
        numbers = None if among is None else [each for document in sorted(among) for each in self._of(document)]
        numpy = _numpy(wanted=self._scans >= OFTEN)
        found = self._distances(asked, numbers) if numpy is None else self._fast_distances(numpy, asked, numbers)
        nearest = _least(found, most)
        return nearest if numbers is None else [numbers[place] for place in nearest]

    def _of(self, document: int) -> range:
        return range(self._starts[document], self._starts[document + 1])

    def _distances(self, asked: int, numbers: Sequence[int] | None) -> list[int]:
        signs, wide, number = self._signs, self.dimensions // 8, int.from_bytes
        starts = range(0, len(self) * wide, wide) if numbers is None else [wide * passage for passage in numbers]
        return [(number(signs[start : start + wide], "little") ^ asked).bit_count() for start in starts]

    def _fast_distances(self, numpy: Any, asked: int, numbers: Sequence[int] | None) -> list[int]:
        wide = self.dimensions // 8
        rows = numpy.frombuffer(self._signs, "u1", count=len(self) * wide).reshape(-1, wide)
        if numbers is not None:
            rows = rows[numbers]
        signs = numpy.frombuffer(asked.to_bytes(wide, "little"), "u1")
        found: list[int] = numpy.bitwise_count(rows ^ signs).sum(1, dtype="u2")
        return found


def _least(distances: Any, most: int) -> list[int]:
    """Give the places of the least numbers, in order of place; of the largest that still count the first."""
    if len(distances) <= most:
        return list(range(len(distances)))
    if isinstance(distances, list):
        last = sorted(distances)[most - 1]
        below = [place for place, distance in enumerate(distances) if distance < last]
        equal = [place for place, distance in enumerate(distances) if distance == last]
    else:
        ordered = distances.copy()
        ordered.partition(most - 1)
        last = ordered[most - 1]
        below = (distances < last).nonzero()[0].tolist()
        equal = (distances == last).nonzero()[0].tolist()
    return sorted([*below, *equal[: most - len(below)]])


def _numpy(*, wanted: bool) -> Any:
    """Give numpy where this process has it or wants it, and where it can count bits (numpy 2)."""
    if wanted:
        from deia.match.numerics import np  # noqa: F401, PLC0415 - a cold search must do without it
    numpy = sys.modules.get("numpy")
    return numpy if hasattr(numpy, "bitwise_count") else None


def _gathered(data: mmap.mmap, numbers: Iterable[int], wide: int) -> bytes:
    return b"".join([data[wide * number : wide * (number + 1)] for number in numbers])


def _mapped(path: str) -> mmap.mmap:
    try:
        with open(path, "rb", buffering=0) as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise ArtefactError(f"the passages' vectors cannot be read: {error}", where=path, fix=REBUILD) from error
