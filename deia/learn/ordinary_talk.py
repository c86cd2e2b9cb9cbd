"""Ordinary talk as bags of words: what a new keyword or word for a document must not be found by.

`deia/models/background.txt` (made by tools/background.py) has pieces of documentation and of harmless announcements,
each as its sorted words that carry meaning. It stands for text in which nobody asks for a lesson.
"""

from __future__ import annotations

from functools import cache

from deia.files import read
from deia.folders import MODELS
from deia.problems import CommonsError

FILE = "background.txt"


@cache
def bags() -> tuple[str, ...]:
    """Return the pieces of ordinary talk that came with deia, each as its sorted words."""
    place = f"{MODELS}/{FILE}"
    content = read(place)
    if content is None:
        fix = "Install deia again: its background of ordinary talk is missing."
        raise CommonsError("nothing can be learned", where=place, fix=fix)
    return tuple(content.decode("utf-8", "replace").splitlines())
