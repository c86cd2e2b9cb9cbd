"""Write the vocabulary that misspelt words are corrected against.

It refuses to decide what a word is: it is given counts.
"""

from __future__ import annotations

from deia.match.fuzzy import MAGIC, VERSION, deletions, slot
from deia.match.numerics import np
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SMALLEST_BITS = 4
SHORT = 5  # a word this short is never two edits away from one long enough to be allowed two


def vocabulary_bytes(counts: Mapping[str, int]) -> bytes:
    """Lay out words with their counts as `Vocabulary` reads them; the same counts give the same bytes."""
    words = sorted(counts)
    pairs = [(slot(left), number) for number, word in enumerate(words) for left in deletions(word, _edits(word))]
    slots = np.array([pair[0] for pair in pairs], dtype=np.uint64)
    numbers = np.array([pair[1] for pair in pairs], dtype=np.uint32)
    order = np.lexsort((numbers, slots))
    slots, numbers = slots[order], numbers[order]
    bits = max(SMALLEST_BITS, len(pairs).bit_length() - 2)
    borders = np.arange((1 << bits) + 1, dtype=np.uint64)
    buckets = np.searchsorted(slots >> np.uint64(64 - bits), borders).astype(np.uint32)
    texts = [word.encode() for word in words]
    ends = np.concatenate(([0], np.cumsum([len(text) for text in texts], dtype=np.uint32))).astype(np.uint32)
    blob = b"".join(texts)
    header = np.array([MAGIC, VERSION, len(words), bits, len(pairs), len(blob)], dtype=np.uint32)
    tags = (slots & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    tallies = np.array([counts[word] for word in words], dtype=np.uint32)
    return b"".join(part.tobytes() for part in (header, buckets, numbers, tags, tallies, ends)) + blob


def _edits(word: str) -> int:
    """Give how many deletions of a word must be stored, so that every misspelling that may be corrected meets it."""
    return 1 if len(word) <= SHORT else 2
