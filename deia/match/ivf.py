"""An inverted file (IVF) over passage signs, so that a query reads only the lists nearest to it.

Passages with similar meaning share a list, which is described by its centroid (Sivic and Zisserman 2003; Jégou and
others 2011). Results are the same with and without numpy. The search is approximate: the nearest passage may be in a
list that is not read. bench/recall.py measures how often that happens.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

from deia.errors import ArtefactError
from deia.match.static_vectors import similarities
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from mmap import mmap

LISTS, GROUPED = "lists", "grouped"  # file names, after the tier's name and a dot
PROBED = 32  # lists that a query reads at most
MOST_READ = 100_000  # passages after which no further list is read; lists of near-copies can be long
HEADER = 2  # 32-bit numbers: the count of lists and the count of passages
REBUILD = "Run `deia compile`."


class Lists:
    """The lists of one tier's passages: their centroids, their members, and the signs in list order."""

    __slots__ = ("_dimensions", "_grouped", "_middles", "_order", "_starts")

    def __init__(self, lists: mmap, grouped: mmap, *, where: str, dimensions: int, passages: int) -> None:
        """Read the two memory-mapped files."""
        data = memoryview(lists)
        self._dimensions, self._grouped = dimensions, grouped
        numbers = data[: len(data) // 4 * 4].cast("I")
        count, members = (numbers[0], numbers[1]) if len(numbers) >= HEADER else (0, -1)
        middles = 4 * (HEADER + count + 1 + passages)
        sizes = (members, len(data), len(self._grouped))
        if sizes != (passages, middles + count * dimensions, passages * dimensions // 8):
            raise ArtefactError("the passage lists do not match the catalog", where=where, fix=REBUILD)
        self._starts = numbers[HEADER : HEADER + count + 1]
        self._order = numbers[HEADER + count + 1 : HEADER + count + 1 + passages]
        self._middles = data[middles:]

    def __len__(self) -> int:
        return len(self._starts) - 1

    @property
    def middles(self) -> bytes:
        """The centroid of every list, stored as `deia.match.static_vectors` stores vectors."""
        return bytes(self._middles)

    def members(self) -> Iterator[list[int]]:
        """Return the passages of every list."""
        return (self._order[start:end].tolist() for start, end in pairwise(self._starts))

    def nearest(self, vector: Sequence[float]) -> list[int]:
        """Return the numbers of the lists nearest to a vector, in ascending order."""
        cosines = similarities(vector, self._middles, self._dimensions)
        ordered = sorted(range(len(cosines)), key=cosines.__getitem__, reverse=True)[:PROBED]
        totals = accumulate((self._starts[number + 1] - self._starts[number] for number in ordered), initial=0)
        return sorted(number for number, already_read in zip(ordered, totals, strict=False) if already_read < MOST_READ)

    def signs(self, lists: Sequence[int]) -> bytes:
        """Return the signs of all passages in some lists, in the order that `passages` expects."""
        wide = self._dimensions // 8
        ends = [(self._starts[number] * wide, self._starts[number + 1] * wide) for number in lists]
        return b"".join([self._grouped[start:end] for start, end in ends])

    def passages(self, lists: Sequence[int], places: Sequence[int]) -> list[int]:
        """Return the passages at some ascending positions of what `signs` returned for the same lists, sorted."""
        members: list[int] = []
        before, remaining = 0, iter(lists)
        start = end = 0
        for place in places:
            while place - before >= end - start:
                before += end - start
                number = next(remaining)
                start, end = self._starts[number], self._starts[number + 1]
            members.append(self._order[start + place - before])
        return sorted(members)
