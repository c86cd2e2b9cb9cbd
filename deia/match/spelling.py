"""Spelling correction against the commons' own vocabulary, with a deletion index in a memory-mapped file.

Two words within n edits of each other share a string after at most n deletions from each (the idea of SymSpell). The
deletions of every known word's beginning are stored in advance, so a lookup takes only a few probes. Words that are in
the vocabulary and very short words are never corrected: fuzzy matching of every word would ruin exact queries.
"""

from __future__ import annotations

import mmap
import os
from itertools import pairwise

from deia.errors import ArtefactError
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = 0x64656961
VERSION = 1
HEADER = 6  # magic, version, words, bucket bits, entries, bytes of text
BEGINNING = 7  # characters of a word whose deletions are stored; more than the allowed edits, so no word is missed
SHORT = 5  # characters; words up to this length have neighbours by chance
SHORTEST, LONGEST = 3, 32  # characters of a word in the vocabulary
REBUILD = "Run `deia compile`."
_PRIME = (1 << 61) - 1
SPREAD = 0x9E3779B97F4A7C15  # 2^64 divided by the golden ratio: spreads the hashes of similar words


def edits_allowed(length: int) -> int:
    """Return how many edits a word of this length may be away: 0 up to 3 characters, 1 up to 7, 2 beyond."""
    return 0 if length <= 3 else 1 if length <= 7 else 2


def worth_keeping(word: str) -> bool:
    """Return whether a word belongs in the vocabulary: letters only, neither too short nor too long."""
    return SHORTEST <= len(word) <= LONGEST and word.isalpha()


def deletions(word: str, edits: int) -> set[str]:
    """Return the beginning of a word with up to this many of its characters removed."""
    start = word[:BEGINNING]
    made = {start}
    layer = {start}
    for _ in range(min(edits, len(start) - 1)):
        layer = {left[:at] + left[at + 1 :] for left in layer for at in range(len(left))}
        made |= layer
    return made


def slot(text: str) -> int:
    """Return a well-spread 64-bit hash of a string that, unlike `hash`, is the same in every process."""
    return (int.from_bytes(text.encode("utf-8", "replace"), "little") % _PRIME + 1) * SPREAD & 0xFFFFFFFFFFFFFFFF


def distance(left: str, right: str, most: int) -> int:
    """Return the number of insertions, deletions, substitutions and swaps between two words, at most `most` + 1.

    This is the optimal string alignment distance, after Damerau (1964): no substring is edited twice.
    """
    if abs(len(left) - len(right)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        twice, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(row[j - 1] + 1, before[j] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, twice[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


class Vocabulary:
    """An open deletion index: the words of the commons, each with the number of passages that contain it."""

    __slots__ = ("_buckets", "_counts", "_entries", "_map", "_shift", "_tags", "_text", "_texts")

    def __init__(self, path: str) -> None:
        try:
            handle = os.open(path, os.O_RDONLY)
        except OSError as error:
            raise ArtefactError(
                f"the vocabulary cannot be opened: {error.strerror}", where=path, fix=REBUILD
            ) from error
        try:
            self._map = mmap.mmap(handle, 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:  # an empty file cannot be mapped
            raise ArtefactError("the vocabulary is empty", where=path, fix=REBUILD) from error
        finally:
            os.close(handle)
        self._lay_out(path)

    def _lay_out(self, path: str) -> None:
        whole = memoryview(self._map)
        numbers = whole[: len(whole) // 4 * 4].cast("I")
        if len(numbers) < HEADER or (numbers[0], numbers[1]) != (MAGIC, VERSION):
            raise ArtefactError("the vocabulary was written by another version of deia", where=path, fix=REBUILD)
        words, bits, entries, size = numbers[2:HEADER]
        ends = [HEADER]
        for length in ((1 << bits) + 1, entries, entries, words, words + 1):
            ends.append(ends[-1] + length)
        if bits > 32 or ends[-1] * 4 + size > len(whole):
            raise ArtefactError("the vocabulary is truncated", where=path, fix=REBUILD)
        self._shift = 64 - bits
        self._buckets, self._entries, self._tags, self._counts, self._texts = (
            numbers[start:end] for start, end in pairwise(ends)
        )
        self._text = whole[ends[-1] * 4 : ends[-1] * 4 + size]

    def __len__(self) -> int:
        return len(self._counts)

    def words(self) -> Iterator[tuple[str, int]]:
        """Return every word with its count."""
        return ((self._word(number), self._counts[number]) for number in range(len(self)))

    def count(self, word: str) -> int:
        """Return how many passages contain a word."""
        return next(
            (self._counts[number] for number in self._meeting(word[:BEGINNING]) if self._word(number) == word), 0
        )

    def corrections(self, word: str) -> list[str]:
        """Return the known words nearest to an unknown one, most frequent first; words at distance 1 hide those at 2.

        Words with another first letter come last, and are no corrections at all for a short word: people seldom mistype
        the first letter (about one misspelling in thirteen: Pollock and Zamora, 1984), and short words have many
        neighbours by chance.
        """
        allowed = edits_allowed(len(word))
        if len(word) > LONGEST:
            return []
        for most in range(1, allowed + 1):
            near = {
                self._word(number): number for deletion in deletions(word, most) for number in self._meeting(deletion)
            }
            candidates = [
                (candidate[:1] != word[:1], -self._counts[number], candidate)
                for candidate, number in near.items()
                if distance(word, candidate, most) <= most
            ]
            kept = [candidate for moved, _, candidate in sorted(candidates) if not moved or len(word) > SHORT]
            if kept:
                return kept
        return []

    def _meeting(self, left: str) -> Iterator[int]:
        """Yield the numbers of words that have this string among their deletions, and rarely some that do not."""
        where = slot(left)
        bucket, tag = where >> self._shift, where & 0xFFFFFFFF
        for at in range(self._buckets[bucket], self._buckets[bucket + 1]):
            if self._tags[at] == tag:
                yield self._entries[at]

    def _word(self, number: int) -> str:
        return str(self._text[self._texts[number] : self._texts[number + 1]], "utf-8", "replace")
