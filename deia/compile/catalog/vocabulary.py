"""Write the vocabulary that misspelt words are corrected against.

It refuses to decide what a word is: it is given counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deia.match.numerics import np
from deia.match.spelling import BEGINNING, MAGIC, SPREAD, VERSION, deletions, slot
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALLEST_BITS = 4
SHORT = 5  # a word this short is never two edits away from one long enough to be allowed two


def vocabulary_bytes(counts: Mapping[str, int]) -> bytes:
    """Lay out words with their counts as `Vocabulary` reads them; the same counts give the same bytes."""
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
    """Give the slots of all words' deletions, and the number of the word behind each."""
    plain = [number for number, word in enumerate(words) if word.isascii()]
    others = [number for number, word in enumerate(words) if not word.isascii()]
    pairs = [(slot(left), number) for number in others for left in deletions(words[number], _edits(words[number]))]
    slots = [np.array([where for where, _ in pairs], np.uint64)]
    numbers = [np.array([number for _, number in pairs], np.uint32)]
    for (length, edits), held in _alike(words, plain).items():
        rows = np.array(held, np.uint32)
        beginnings = b"".join(words[number][:length].encode().ljust(8, b"\0") for number in held)
        left, places = _left_out(np.frombuffer(beginnings, "<u8"), length, edits)
        slots.append((left + np.uint64(1)) * np.uint64(SPREAD))
        numbers.append(rows[places])
    return np.concatenate(slots), np.concatenate(numbers)


def _alike(words: Sequence[str], numbers: Iterable[int]) -> dict[tuple[int, int], list[int]]:
    """Put words together whose beginnings have one length, and of which as many characters are left out."""
    found: dict[tuple[int, int], list[int]] = {}
    for number in numbers:
        length = min(len(words[number]), BEGINNING)
        found.setdefault((length, min(_edits(words[number]), length - 1)), []).append(number)
    return found


def _left_out(beginnings: NDArray[np.uint64], length: int, edits: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Give each of these, eight bytes read as a number, with up to so many of its bytes left out, and its place.

    As `spelling.deletions` and `slot` do one by one: seven bytes are less than the prime there. A deletion that
    two ways lead to is given once.
    """
    found: NDArray[Any] = beginnings[:, None]
    layer: NDArray[Any] = found
    for size in range(length, length - edits, -1):
        shifts = np.arange(size, dtype=np.uint64) * np.uint64(8)
        low = (np.uint64(1) << shifts) - np.uint64(1)
        each = layer[:, :, None]
        layer = ((each & low) | ((each >> np.uint64(8)) & ~low)).reshape(len(beginnings), -1)
        found = np.concatenate([found, layer], axis=1)
    found = np.sort(found, axis=1)
    new = np.ones(found.shape, bool)
    new[:, 1:] = found[:, 1:] != found[:, :-1]
    return found[new], np.nonzero(new)[0]


def _edits(word: str) -> int:
    """Give how many deletions of a word must be stored, so that every misspelling that may be corrected meets it."""
    return 1 if len(word) <= SHORT else 2
