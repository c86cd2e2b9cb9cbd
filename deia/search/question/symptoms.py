"""Read what people say of a broken thing whose cause they do not know: "my site won't load" is about outages and DNS.

The table is `symptoms.txt` beside this module.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from deia.records import Record

FAULTS = frozenset("arent cannot cant couldnt didnt doesnt dont isnt never no not nothing wont wouldnt".split())
MOST_WORDS = 12  # of a complaint; a longer text says more than that something is broken
ALWAYS = "!"


class Complaint(Record):
    """What a complaint names, and the words that lessons use for what may cause it."""

    everyday: frozenset[str] = frozenset()
    causes: tuple[str, ...] = ()


def complaint(said: Sequence[str]) -> Complaint:
    """Return the complaint in a text, given by its folded words; one without causes if it is none."""
    words, fault = set(said), not FAULTS.isdisjoint(said)
    everyday: set[str] = set()
    causes: list[str] = []
    for things, states, lesson_words in _table() if len(said) <= MOST_WORDS else ():
        is_so = {state.rstrip(ALWAYS) for state in states if fault or state.endswith(ALWAYS)}
        if words & {*things} and words & is_so:
            everyday |= words & {*things, *is_so}
            causes += lesson_words
    return Complaint(everyday=frozenset(everyday), causes=tuple(dict.fromkeys(causes)))


def _table() -> Iterator[list[list[str]]]:
    with open(os.path.join(os.path.dirname(__file__), "symptoms.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                yield [part.split() for part in line.split(" : ")]
