"""How often software is described with a word anywhere: what a commons says more often than that is its own subject.

A word that a commons knows says little for a question if everybody uses it as much. The levels were counted by
tools/usual_words.py, in descriptions of free software of every subject; this reads them, and refuses to guess: a word
that is not there is as rare as one that hardly any description has.
"""

from __future__ import annotations

import mmap
from math import log

from deia.folders import MODELS
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

FILE = "usual_words.txt"  # a line a stem, in order: the stem, a space, its level; the first is of those not there
SEPARATOR = " "
LEVELS = 4  # a nat; whole nats, and unrounded, measured alike
DESCRIPTION = 115.0  # bytes: of a line 46 and of a whole description 289 in the mean, and a level is of both
_opened: list[mmap.mmap] = []


def usual(stems: Iterable[str], *, length: float = DESCRIPTION) -> dict[str, float]:
    """Give for each stem how much it tells where software is described, in nats: the rarer, the more.

    It is what it would tell in passages of a `length` in bytes: the longer they are, the more of them hold a word.
    """
    if not _opened:
        with open(f"{MODELS}/{FILE}", "rb", buffering=0) as file:
            _opened.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    data, longer = _opened[0], log(length / DESCRIPTION)
    return {stem: _level(data, f"{stem}{SEPARATOR}".encode("utf-8", "replace")) / LEVELS - longer for stem in stems}


def _level(data: mmap.mmap, key: bytes) -> int:
    """Find a row's level by halving; `low` and `high` are where rows begin."""
    low, high = 0, len(data)
    while low < high:
        start = data.rfind(b"\n", low, (low + high) // 2) + 1 or low
        end = data.find(b"\n", start) + 1
        row = data[start:end]
        if row.startswith(key):
            return int(row[len(key) :])
        low, high = (end, high) if row < key else (low, start)
    return int(data[len(SEPARATOR) : data.find(b"\n")])
