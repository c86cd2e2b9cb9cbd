"""Write the vocabulary that misspelt words are corrected against."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deia.match.numerics import np
from deia.match.spelling import BEGINNING, MAGIC, SPREAD, VERSION, deletions, slot
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    plain = [number for number, word in enumerate(words) if word.isascii()]
    others = [number for number, word in enumerate(words) if not word.isascii()]
    pairs = [(slot(left), number) for number in others for left in deletions(words[number], _edits(words[number]))]
    slots = [np.array([where for where, _ in pairs], np.uint64)]
    numbers = [np.array([number for _, number in pairs], np.uint32)]
    for (length, edits), group in _groups(words, plain).items():
        rows = np.array(group, np.uint32)
        beginnings = b"".join(words[number][:length].encode().ljust(8, b"\0") for number in group)
        left, places = _left_out(np.frombuffer(beginnings, "<u8"), length, edits)
        slots.append((left + np.uint64(1)) * np.uint64(SPREAD))
        numbers.append(rows[places])
    return np.concatenate(slots), np.concatenate(numbers)


def _groups(words: Sequence[str], numbers: Iterable[int]) -> dict[tuple[int, int], list[int]]:
    """Group words by the length of their beginnings and the number of characters to leave out."""
    groups: dict[tuple[int, int], list[int]] = {}
    for number in numbers:
        length = min(len(words[number]), BEGINNING)
        groups.setdefault((length, min(_edits(words[number]), length - 1)), []).append(number)
    return groups


def _left_out(beginnings: NDArray[np.uint64], length: int, edits: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return each beginning with up to `edits` of its bytes left out, and the row that it comes from.

    A beginning is eight bytes read as a number. This does for all words at once what `spelling.deletions` and `slot` do
    for one: seven bytes are less than the prime there. A deletion that can be made in two ways is returned once.
    """
    variants: NDArray[np.uint64] = beginnings[:, None]
    layer: NDArray[Any] = variants  # numpy's stubs take the masks below for booleans
    for size in range(length, length - edits, -1):
        shifts = np.arange(size, dtype=np.uint64) * np.uint64(8)
        low = (np.uint64(1) << shifts) - np.uint64(1)
        values = layer[:, :, None]
        layer = ((values & low) | ((values >> np.uint64(8)) & ~low)).reshape(len(beginnings), -1)
        variants = np.concatenate([variants, layer], axis=1)
    variants = np.sort(variants, axis=1)
    is_new = np.ones(variants.shape, bool)
    is_new[:, 1:] = variants[:, 1:] != variants[:, :-1]
    return variants[is_new], np.nonzero(is_new)[0]


def _edits(word: str) -> int:
    """Return how many deletions of a word must be stored so that every correctable misspelling matches one."""
    return 1 if len(word) <= SHORT else 2
