"""How often each word occurs in general software text. A word that a commons uses much more often is one of its topics.

A word that a commons contains says little about a query if all software text uses it as much. tools/usual_words.py
counted the levels in descriptions of free software on every subject. A word that is not in the file counts as being as
rare as the rarest words in it.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from math import log

from deia.folders import MODELS

# One line per stem, sorted: the stem, a space, its level. The first line, without a stem, has the level of all others.
FILE = "usual_words.txt"
SEPARATOR = " "
LEVELS = 4  # per nat; levels in whole nats, and without rounding, measured alike
# Bytes of the text that a level is for: between a line (46 on average) and a whole description (289).
DESCRIPTION = 115.0
_opened: list[mmap.mmap] = []


def general_information(stems: Iterable[str], *, length: float = DESCRIPTION) -> dict[str, float]:
    """Return, for each stem, its information in general software text, in nats: the rarer, the higher.

    The values are for passages of `length` bytes: the longer passages are, the more of them contain a word.
    """
    if not _opened:
        with open(f"{MODELS}/{FILE}", "rb", buffering=0) as file:
            _opened.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    data, longer = _opened[0], log(length / DESCRIPTION)
    return {stem: _level(data, f"{stem}{SEPARATOR}".encode("utf-8", "replace")) / LEVELS - longer for stem in stems}


def _level(data: mmap.mmap, key: bytes) -> int:
    """Return a row's level by binary search; `low` and `high` are positions at which rows begin."""
    low, high = 0, len(data)
    while low < high:
        start = data.rfind(b"\n", low, (low + high) // 2) + 1 or low
        end = data.find(b"\n", start) + 1
        row = data[start:end]
        if row.startswith(key):
            return int(row[len(key) :])
        low, high = (end, high) if row < key else (low, start)
    return int(data[len(SEPARATOR) : data.find(b"\n")])
