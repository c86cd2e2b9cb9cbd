"""Ordinary talk as bags of words, and how much a word tells that is rare in it.

`deia/models/background.txt` holds pieces of documentation and of harmless announcements, each as the sorted words that
carry meaning (made by tools/background.py). It stands for text in which nobody needs a warning, and refuses to be more:
it is no measure of real conversations, for which there is `deia triggers replay`.
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
    """Give the pieces of ordinary talk that came with deia, as sorted words.

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
    """Give the pieces that hold each word, by number, one that holds it twice two times.

    Raises:
        ArtefactError: the file is missing.
    """
    found: dict[str, list[int]] = {}
    for number, bag in enumerate(bags()):
        for word in bag.split():
            found.setdefault(word, []).append(number)
    return {word: tuple(numbers) for word, numbers in found.items()}


def weight_of(words: Collection[str]) -> int:
    """Give how much it tells that one of some words is there, in hundredths of a power of ten: 200 for one in 100."""
    held = {number for word in words for number in holding().get(word, ())}
    return round(100 * log10(len(bags()) / max(len(held), 1)))
