"""Ordinary talk as bags of words, and the weight of a word by how rare it is in them.

`deia/models/background.txt` (made by tools/background.py) has pieces of documentation and of harmless announcements,
each as its sorted words that carry meaning. It stands for text in which nobody needs a warning. To measure false alarms
in real conversations, use `deia triggers replay`.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from math import log10

from deia.errors import ArtefactError
from deia.files import read
from deia.folders import MODELS

FILE = "background.txt"


@cache
def bags() -> tuple[str, ...]:
    """Return the pieces of ordinary talk that came with deia, each as its sorted words.

    Raises:
        ArtefactError: the file is missing.
    """
    place = f"{MODELS}/{FILE}"
    content = read(place)
    if content is None:
        fix = "Install deia again: its background for `meaning` clauses is missing."
        raise ArtefactError("a `meaning` clause cannot be calibrated", where=place, fix=fix)
    return tuple(content.decode("utf-8", "replace").splitlines())


@cache
def holding() -> dict[str, tuple[int, ...]]:
    """Return the numbers of the pieces that contain each word; one that contains it twice is there twice.

    Raises:
        ArtefactError: the file is missing.
    """
    numbers_of: dict[str, list[int]] = {}
    for number, bag in enumerate(bags()):
        for word in bag.split():
            numbers_of.setdefault(word, []).append(number)
    return {word: tuple(numbers) for word, numbers in numbers_of.items()}


def weight_of(words: Collection[str]) -> int:
    """Return how rare it is that one of these words occurs, in hundredths of a power of ten: 200 for one in 100."""
    pieces = {number for word in words for number in holding().get(word, ())}
    return round(100 * log10(len(bags()) / max(len(pieces), 1)))
