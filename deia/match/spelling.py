"""Misspelt words corrected against the commons' own vocabulary, by a deletion index in a mapped file.

Two words within n edits meet in a common string after at most n deletions from each (the idea of SymSpell), so the
deletions of every known word's beginning are stored beforehand, and a lookup is a few probes. It refuses to touch a
word that the vocabulary has, and to correct a short word at all: asking for everything alike is what ruins exact
questions.
"""

from __future__ import annotations

import mmap
import os
from itertools import pairwise

from deia.errors import ArtefactError
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAGIC = 0x64656961
VERSION = 1
HEADER = 6  # magic, version, words, bucket bits, entries, bytes of text
BEGINNING = 7  # characters of a word whose deletions are stored; more than the edits, so nothing within them is missed
SHORT = 5  # characters of a word that has neighbours by mere chance
SHORTEST, LONGEST = 3, 32  # characters of a word in the vocabulary
REBUILD = "Run `deia compile`."
_PRIME = (1 << 61) - 1
SPREAD = 0x9E3779B97F4A7C15  # 2^64 divided by the golden ratio, which spreads the bits of neighbouring words


def edits_allowed(length: int) -> int:
    """Give how many edits a word of this length may be away: none up to 3 characters, one up to 7, two beyond."""
    return 0 if length <= 3 else 1 if length <= 7 else 2


def worth_keeping(word: str) -> bool:
    """Tell whether a word belongs into the vocabulary: letters only, neither too short nor too long to be mistyped."""
    return SHORTEST <= len(word) <= LONGEST and word.isalpha()


def deletions(word: str, edits: int) -> set[str]:
    """Give the beginning of a word with up to this many of its characters left out."""
    start = word[:BEGINNING]
    found = {start}
    layer = {start}
    for _ in range(min(edits, len(start) - 1)):
        layer = {left[:at] + left[at + 1 :] for left in layer for at in range(len(left))}
        found |= layer
    return found


def slot(text: str) -> int:
    """Give 64 well-spread bits for a string, the same in every process, which `hash` is not."""
    return (int.from_bytes(text.encode("utf-8", "replace"), "little") % _PRIME + 1) * SPREAD & 0xFFFFFFFFFFFFFFFF


def distance(left: str, right: str, most: int) -> int:
    """Count the insertions, deletions, substitutions and swaps between two words; `most` + 1 where there are more.

    The optimal string alignment distance, after Damerau (1964): no substring is edited twice.
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


def nearest(word: str, names: Iterable[str], *, most: int = 3) -> list[str]:
    """Give the few names that somebody who typed `word` may have meant, best first."""
    asked = word[:LONGEST]
    ranked: list[tuple[int, str]] = []
    for name in names:
        far = (
            0
            if asked and (name.startswith(asked) or asked.startswith(name))
            else distance(asked, name, len(asked) // 3 + 1)
        )
        if far <= len(asked) // 3 + 1:
            ranked.append((far, name))
    return [name for _, name in sorted(ranked)[:most]]


class Vocabulary:
    """An opened deletion index: the words of the commons with the number of passages that hold them."""

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
            raise ArtefactError("this is no vocabulary of this version", where=path, fix=REBUILD)
        words, bits, entries, size = numbers[2:HEADER]
        ends = [HEADER]
        for length in ((1 << bits) + 1, entries, entries, words, words + 1):
            ends.append(ends[-1] + length)
        if bits > 32 or ends[-1] * 4 + size > len(whole):
            raise ArtefactError("the vocabulary is cut short", where=path, fix=REBUILD)
        self._shift = 64 - bits
        self._buckets, self._entries, self._tags, self._counts, self._texts = (
            numbers[start:end] for start, end in pairwise(ends)
        )
        self._text = whole[ends[-1] * 4 : ends[-1] * 4 + size]

    def __len__(self) -> int:
        return len(self._counts)

    def words(self) -> Iterator[tuple[str, int]]:
        """Give every word with its count."""
        return ((self._word(number), self._counts[number]) for number in range(len(self)))

    def count(self, word: str) -> int:
        """Give how many passages hold a word, 0 where none does."""
        return next(
            (self._counts[number] for number in self._meeting(word[:BEGINNING]) if self._word(number) == word), 0
        )

    def corrections(self, word: str, *, edits: int | None = None) -> list[str]:
        """Give the known words nearest to an unknown one, the most frequent first; nearer ones hide those two away.

        Those that begin with another letter come last, and of a short word they are not its misspelling at all: people
        seldom mistype a first letter (about one misspelling in thirteen: Pollock and Zamora, 1984), and short words
        have many neighbours by chance.
        """
        allowed = edits_allowed(len(word)) if edits is None else edits
        if len(word) > LONGEST:
            return []
        for most in range(1, allowed + 1):
            near = {self._word(number): number for left in deletions(word, most) for number in self._meeting(left)}
            found = [
                (known[:1] != word[:1], -self._counts[number], known)
                for known, number in near.items()
                if distance(word, known, most) <= most
            ]
            kept = [known for moved, _, known in sorted(found) if not moved or len(word) > SHORT]
            if kept:
                return kept
        return []

    def _meeting(self, left: str) -> Iterator[int]:
        """Give the words that have this string among their deletions, and now and then another."""
        where = slot(left)
        bucket, tag = where >> self._shift, where & 0xFFFFFFFF
        for at in range(self._buckets[bucket], self._buckets[bucket + 1]):
            if self._tags[at] == tag:
                yield self._entries[at]

    def _word(self, number: int) -> str:
        return str(self._text[self._texts[number] : self._texts[number + 1]], "utf-8", "replace")
