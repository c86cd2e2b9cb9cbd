"""Write the vocabulary that misspelt words are corrected against."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

from deia.match.numerics import NDArray, np
from deia.match.spelling import MAGIC, VERSION, deletions, slot

SMALLEST_BITS = 4
SHORT = 5  # no word this short is two edits away from a word that is long enough to allow two


def vocabulary_bytes(counts: Mapping[str, int]) -> bytes:
    """Return words and their counts in the layout that `Vocabulary` reads; the same counts give the same bytes."""
    words = sorted(counts)
    slots, numbers = _deletions(words)
    order = np.lexsort((numbers, slots))
    slots, numbers = slots[order], numbers[order]
    bits = max(SMALLEST_BITS, len(slots).bit_length() - 2)
    borders = np.arange((1 << bits) + 1, dtype=np.uint64)
    buckets = np.searchsorted(slots >> np.uint64(64 - bits), borders).astype(np.uint32)
    texts = [word.encode() for word in words]
    ends = np.concatenate(([0], np.cumsum([len(text) for text in texts], dtype=np.uint32))).astype(np.uint32)
    blob = b"".join(texts)
    header = np.array([MAGIC, VERSION, len(words), bits, len(slots), len(blob)], dtype=np.uint32)
    tags = (slots & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    tallies = np.array([counts[word] for word in words], dtype=np.uint32)
    return b"".join(part.tobytes() for part in (header, buckets, numbers, tags, tallies, ends)) + blob


def _deletions(words: Sequence[str]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Return the slots of all words' deletions, and for each slot the number of its word."""
    slots, numbers = array("Q"), array("I")
    for number, word in enumerate(words):
        left = deletions(word, _edits(word))
        slots.extend(map(slot, left))
        numbers.extend([number] * len(left))
    return np.array(slots, np.uint64), np.array(numbers, np.uint32)


def _edits(word: str) -> int:
    """Return how many deletions of a word must be stored so that every correctable misspelling matches one."""
    return 1 if len(word) <= SHORT else 2
