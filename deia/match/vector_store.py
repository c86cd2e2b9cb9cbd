"""The vectors of a catalog's passages and documents, mapped: looked up by number, and searched for near ones.

The search goes by signs: one bit a dimension, whose agreement is a coarse cosine, cheap enough to hold a question
against every passage without numpy (0.16 µs each); who asks takes more than needed and compares those exactly. In a
process that asks again and again numpy is loaded, and does it ten times faster with the same result. Of a large
catalog only the lists nearest to the question are read. It refuses to scan beyond MOST_SCANNED.
"""

from __future__ import annotations

import mmap
import os
import sys
from bisect import bisect_right

from deia.errors import ArtefactError
from deia.match.ivf import GROUPED, LISTS, Lists
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

CODES, SIGNS, ABOUT, STARTS = "codes", "signs", "about", "starts"  # names of files, behind the tier's and a dot
MOST_SCANNED = 200_000  # passages without lists; beyond, only what words find is held against the question
OFTEN = 8  # scans of one process, from which numpy is worth its start
REBUILD = "Run `deia compile`."


class Raw(Record):
    """Some documents' part of each file."""

    codes: memoryview
    signs: memoryview
    about: memoryview
    starts: memoryview  # the number of the first passage of each, and of what follows the last


class Vectors:
    """One tier's vectors in a catalog's folder; passages are numbered through, document after document."""

    __slots__ = ("_about", "_codes", "_lists", "_scans", "_signs", "_starts", "dimensions")

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
        self._lists = self._opened_lists(folder, tier)

    def _opened_lists(self, folder: str, tier: str) -> Lists | None:
        places = [os.path.join(folder, f"{tier}.{name}") for name in (LISTS, GROUPED)]
        if not os.path.exists(places[0]):
            return None
        return Lists(*map(_mapped, places), where=folder, dimensions=self.dimensions, passages=len(self))

    @property
    def lists(self) -> Lists | None:
        """The lists by which a large catalog is searched, or None."""
        return self._lists

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

    def raw(self, documents: range) -> Raw:
        """Give what is stored of some documents, one after another."""
        wide = self.dimensions
        starts = self._starts[documents.start : documents.stop + 1]
        first, end = starts[0], starts[len(documents)]
        return Raw(
            codes=memoryview(self._codes)[first * wide : end * wide],
            signs=memoryview(self._signs)[first * wide // 8 : end * wide // 8],
            about=memoryview(self._about)[documents.start * wide : documents.stop * wide],
            starts=starts,
        )

    def near(self, vector: Sequence[float], *, most: int, among: Collection[int] | None = None) -> list[int]:
        """Give the passages whose signs agree best with a vector's, of some documents or of all; in no order.

        Of those that agree equally well the first count.
        """
        listed = self._lists if among is None else None
        if not any(vector) or (listed is None and len(self) > MOST_SCANNED and among is None):
            return []
        self._scans += 1
        asked = sum([1 << place for place, value in enumerate(vector) if value > 0])
        numpy = _numpy(wanted=self._scans >= OFTEN)
        if listed is not None:
            lists = listed.nearest(vector)
            return listed.passages(lists, _least(self._distances(numpy, asked, listed.signs(lists)), most))
        if among is None:
            return _least(self._distances(numpy, asked, self._signs), most)
        numbers = [each for document in sorted(among) for each in self._of(document)]
        signs = _gathered(self._signs, numbers, self.dimensions // 8)
        return [numbers[place] for place in _least(self._distances(numpy, asked, signs), most)]

    def _of(self, document: int) -> range:
        return range(self._starts[document], self._starts[document + 1])

    def _distances(self, numpy: Any, asked: int, signs: bytes | mmap.mmap) -> Any:
        """Count for each of some signs the bits in which they differ from what is asked."""
        wide, number = self.dimensions // 8, int.from_bytes
        count = len(signs) // wide
        if numpy is None:
            starts = range(0, count * wide, wide)
            return [(number(signs[start : start + wide], "little") ^ asked).bit_count() for start in starts]
        unit = next(size for size in (8, 4, 2, 1) if wide % size == 0)
        rows = numpy.frombuffer(signs, f"u{unit}", count=count * wide // unit).reshape(count, wide // unit)
        mask = numpy.frombuffer(asked.to_bytes(wide, "little"), f"u{unit}")
        differing = numpy.zeros(count, "u2")
        for column, bits in enumerate(mask):
            differing += numpy.bitwise_count(rows[:, column] ^ bits)
        return differing


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
    if (numpy := _numpy(wanted=False)) is None:
        return b"".join([data[wide * number : wide * (number + 1)] for number in numbers])
    rows = numpy.frombuffer(data, "u1", count=len(data) // wide * wide).reshape(-1, wide)
    found: bytes = rows[numpy.fromiter(numbers, "i8")].tobytes()
    return found


def _mapped(path: str) -> mmap.mmap:
    try:
        with open(path, "rb", buffering=0) as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise ArtefactError(f"the passages' vectors cannot be read: {error}", where=path, fix=REBUILD) from error
