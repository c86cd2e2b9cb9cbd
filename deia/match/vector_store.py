"""The memory-mapped vectors of a catalog's passages and documents: lookup by number, and search for near ones.

The search compares signs, one bit per dimension. Their agreement approximates the cosine and is cheap enough to compare
a query with every passage without numpy (0.16 µs each); callers take more candidates than they need and compare those
exactly. A process that searches again and again loads numpy, which is ten times faster with the same result. In a large
catalog only the lists nearest to the query are read; without lists, more than MOST_SCANNED passages are not scanned.
"""

from __future__ import annotations

import mmap
import os
import sys
from bisect import bisect_right
from struct import iter_unpack

from deia.errors import ArtefactError
from deia.match.ivf import GROUPED, LISTS, Lists
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from types import ModuleType

    from numpy import uint16
    from numpy.typing import NDArray

    Distances = list[int] | NDArray[uint16]

CODES, SIGNS, ABOUT, STARTS = "codes", "signs", "about", "starts"  # file names, after the tier's name and a dot
MOST_SCANNED = 200_000  # passages without lists; in larger catalogs only passages found by words are compared
OFTEN = 8  # scans in one process from which loading numpy pays off
REBUILD = "Run `deia compile`."


class Raw(Record):
    """The part of each file that belongs to some documents."""

    codes: memoryview
    signs: memoryview
    about: memoryview
    starts: memoryview  # the first passage of each document, and one past the last


class Vectors:
    """One tier's vectors in a catalog's folder; passages are numbered consecutively, document by document."""

    __slots__ = ("_about", "_codes", "_lists", "_scans", "_signs", "_starts", "dimensions")

    def __init__(self, folder: str, *, tier: str, dimensions: int) -> None:
        """Map the files."""
        self.dimensions = dimensions
        self._scans = 0
        self._codes, self._signs, self._about, starts = (
            _mapped(os.path.join(folder, f"{tier}.{name}")) for name in (CODES, SIGNS, ABOUT, STARTS)
        )
        self._starts = memoryview(starts)[: len(starts) // 4 * 4].cast("I")
        wanted = (len(self) * dimensions, len(self) * dimensions // 8, (len(self._starts) - 1) * dimensions)
        if tuple(len(data) - 1 for data in (self._codes, self._signs, self._about)) != wanted:
            raise ArtefactError("the passage vectors do not belong together", where=folder, fix=REBUILD)
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
        """Return a passage's number, from its document's number and its ordinal in it."""
        return self._starts[document] + ordinal

    def count(self, document: int) -> int:
        """Return how many passages a document has."""
        return self._starts[document + 1] - self._starts[document]

    def place(self, passage: int) -> tuple[int, int]:
        """Return the document number and the ordinal of a passage."""
        document = bisect_right(self._starts, passage) - 1
        return document, passage - self._starts[document]

    def passages(self, numbers: Iterable[int]) -> bytes:
        """Return the concatenated codes of passages."""
        return _gathered(self._codes, numbers, self.dimensions)

    def documents(self, numbers: Iterable[int]) -> bytes:
        """Return the concatenated codes of whole documents."""
        return _gathered(self._about, numbers, self.dimensions)

    def raw(self, documents: range) -> Raw:
        """Return the stored bytes of consecutive documents."""
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
        """Return the `most` passages whose signs agree best with a vector, of some documents or of all, unordered.

        Of passages that agree equally well, those with lower numbers win.
        """
        listed = self._lists if among is None else None
        if not any(vector) or (listed is None and len(self) > MOST_SCANNED and among is None):
            return []
        self._scans += 1
        query_bits = sum([1 << place for place, value in enumerate(vector) if value > 0])
        numpy = _numpy(wanted=self._scans >= OFTEN)
        if listed is not None:
            lists = listed.nearest(vector)
            return listed.passages(lists, _least(self._distances(numpy, query_bits, listed.signs(lists)), most))
        if among is None:
            return _least(self._distances(numpy, query_bits, self._signs), most)
        numbers = [passage for document in sorted(among) for passage in self.of(document)]
        signs = _gathered(self._signs, numbers, self.dimensions // 8)
        return [numbers[place] for place in _least(self._distances(numpy, query_bits, signs), most)]

    def of(self, document: int) -> range:
        """Return the numbers of a document's passages."""
        return range(self._starts[document], self._starts[document + 1])

    def _distances(self, numpy: ModuleType | None, query_bits: int, signs: bytes | mmap.mmap) -> Distances:
        """Count, for each sign vector, the bits in which it differs from the query."""
        wide, from_bytes = self.dimensions // 8, int.from_bytes
        count = len(signs) // wide
        if numpy is None:
            rows = iter_unpack(f"{wide}s", memoryview(signs)[: count * wide])
            return [(from_bytes(row, "little") ^ query_bits).bit_count() for (row,) in rows]
        unit = next(size for size in (8, 4, 2, 1) if wide % size == 0)
        rows = numpy.frombuffer(signs, f"u{unit}", count=count * wide // unit).reshape(count, wide // unit)
        mask = numpy.frombuffer(query_bits.to_bytes(wide, "little"), f"u{unit}")
        differing: NDArray[uint16] = numpy.zeros(count, "u2")
        for column, bits in enumerate(mask):
            differing += numpy.bitwise_count(rows[:, column] ^ bits)
        return differing


def _least(distances: Distances, most: int) -> list[int]:
    """Return the positions of the `most` smallest numbers, ascending; ties go to the first positions."""
    if len(distances) <= most:
        return list(range(len(distances)))
    if isinstance(distances, list):
        last = sorted(distances)[most - 1]
        near = [place for place, distance in enumerate(distances) if distance <= last]
        below = [place for place in near if distances[place] < last]
        equal = [place for place in near if distances[place] == last]
    else:
        ordered = distances.copy()
        ordered.partition(most - 1)
        last = ordered[most - 1]
        below = (distances < last).nonzero()[0].tolist()
        equal = (distances == last).nonzero()[0].tolist()
    return sorted([*below, *equal[: most - len(below)]])


def _numpy(*, wanted: bool) -> ModuleType | None:
    """Return numpy if it is loaded or wanted here and can count bits (numpy 2), else None."""
    if wanted:
        from deia.match.numerics import load_numpy  # noqa: PLC0415 - a cold search does not load it

        load_numpy()
    numpy = sys.modules.get("numpy")
    return numpy if hasattr(numpy, "bitwise_count") else None


def _gathered(data: mmap.mmap, numbers: Iterable[int], wide: int) -> bytes:
    if (numpy := _numpy(wanted=False)) is None:
        return b"".join([data[wide * number : wide * (number + 1)] for number in numbers])
    rows = numpy.frombuffer(data, "u1", count=len(data) // wide * wide).reshape(-1, wide)
    codes: bytes = rows[numpy.fromiter(numbers, "i8")].tobytes()
    return codes


def _mapped(path: str) -> mmap.mmap:
    try:
        with open(path, "rb", buffering=0) as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise ArtefactError(f"the passage vectors cannot be read: {error}", where=path, fix=REBUILD) from error
