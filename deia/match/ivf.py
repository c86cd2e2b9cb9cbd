"""An inverted file over the signs of many passages: which of them lie in the neighbourhoods nearest to a question.

Passages that mean the like stand in one list, behind the middle of what they mean; of a large catalog a question reads
some lists instead of everything (Sivic and Zisserman 2003; Jégou and others 2011). The same is found with numpy as
without. It refuses to promise that the nearest passage is among those lists: bench/recall.py measures how often it is.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

from deia.errors import ArtefactError
from deia.match.static_vectors import similarities
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from mmap import mmap

LISTS, GROUPED = "lists", "grouped"  # names of files, behind the tier's and a dot
PROBED = 32  # lists that a question reads, of those nearest to it
MOST_READ = 100_000  # passages, after which no further list is begun: those of near-copies can be long
HEADER = 2  # how many lists and how many passages, 32 bits each
REBUILD = "Run `deia compile`."


class Lists:
    """The lists of one tier's passages: their middles, who is in which, and the signs in that order."""

    __slots__ = ("_dimensions", "_grouped", "_middles", "_order", "_starts")

    def __init__(self, lists: mmap, grouped: mmap, *, where: str, dimensions: int, passages: int) -> None:
        """Take the two files, mapped.

        Raises:
            ArtefactError: they do not belong to these passages.
        """
        data = memoryview(lists)
        self._dimensions, self._grouped = dimensions, grouped
        numbers = data[: len(data) // 4 * 4].cast("I")
        count, held = (numbers[0], numbers[1]) if len(numbers) >= HEADER else (0, -1)
        middles = 4 * (HEADER + count + 1 + passages)
        whole = (held, len(data), len(self._grouped))
        if whole != (passages, middles + count * dimensions, passages * dimensions // 8):
            raise ArtefactError("the lists of passages do not add up", where=where, fix=REBUILD)
        self._starts = numbers[HEADER : HEADER + count + 1]
        self._order = numbers[HEADER + count + 1 : HEADER + count + 1 + passages]
        self._middles = data[middles:]

    def __len__(self) -> int:
        return len(self._starts) - 1

    @property
    def middles(self) -> bytes:
        """The middle of every list, as `deia.match.static_vectors` stores vectors."""
        return bytes(self._middles)

    def members(self) -> Iterator[list[int]]:
        """Give the passages of every list."""
        return (self._order[start:end].tolist() for start, end in pairwise(self._starts))

    def nearest(self, vector: Sequence[float]) -> list[int]:
        """Give the lists to read for a vector, those nearest to it, in order of number."""
        cosines = similarities(vector, self._middles, self._dimensions)
        ordered = sorted(range(len(cosines)), key=cosines.__getitem__, reverse=True)[:PROBED]
        read = accumulate((self._starts[each + 1] - self._starts[each] for each in ordered), initial=0)
        return sorted(each for each, before in zip(ordered, read, strict=False) if before < MOST_READ)

    def signs(self, lists: Sequence[int]) -> bytes:
        """Give the signs of all passages of some lists, in the order of `passages`."""
        wide = self._dimensions // 8
        ends = [(self._starts[each] * wide, self._starts[each + 1] * wide) for each in lists]
        return b"".join([self._grouped[start:end] for start, end in ends])

    def passages(self, lists: Sequence[int], places: Sequence[int]) -> list[int]:
        """Give the passages at some ascending places of what `signs` gave for the same lists, in order of number."""
        found: list[int] = []
        before, each = 0, iter(lists)
        start = end = 0
        for place in places:
            while place - before >= end - start:
                before += end - start
                number = next(each)
                start, end = self._starts[number], self._starts[number + 1]
            found.append(self._order[start + place - before])
        return sorted(found)
