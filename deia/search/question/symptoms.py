"""Read what people say of a broken thing whose cause they do not know: "my site won't load" is about outages and DNS.

The table is `symptoms.txt` beside this module.
"""

from __future__ import annotations

from collections.abc import Sequence

from deia.records import Record
from deia.tables import Tables

FAULTS = frozenset("arent cannot cant couldnt didnt doesnt dont isnt never no not nothing wont wouldnt".split())
MOST_WORDS = 12  # of a complaint; a longer text says more than that something is broken
ALWAYS = "!"
TABLES = Tables(__file__)


class Complaint(Record):
    """What a complaint names, and the words that lessons use for what may cause it."""

    everyday: frozenset[str] = frozenset()
    causes: tuple[str, ...] = ()


def complaint(said: Sequence[str]) -> Complaint:
    """Return the complaint in a text, given by its folded words; one without causes if it is none."""
    words, fault = set(said), not FAULTS.isdisjoint(said)
    everyday: set[str] = set()
    causes: list[str] = []
    for line in TABLES.lines("symptoms") if len(said) <= MOST_WORDS else ():
        things, states, lesson_words = (part.split() for part in line.split(" : "))
        is_so = {state.rstrip(ALWAYS) for state in states if fault or state.endswith(ALWAYS)}
        if words & {*things} and words & is_so:
            everyday |= words & {*things, *is_so}
            causes += lesson_words
    return Complaint(everyday=frozenset(everyday), causes=tuple(dict.fromkeys(causes)))
