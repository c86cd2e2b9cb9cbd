"""Read complaints about something broken whose cause is not known: "my site won't load" is about outages and DNS.

The table is `symptoms.txt` beside this module.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Sequence

FAULTS = frozenset("arent cannot cant couldnt didnt doesnt dont isnt never no not nothing wont wouldnt".split())
MOST_WORDS = 12  # of a complaint; a longer text says more than that something is broken
ALWAYS = "!"
TABLES = Tables(__file__)


class Complaint(Record):
    """The everyday words of a complaint, and the words that lessons use for its possible causes."""

    everyday: frozenset[str] = frozenset()
    causes: tuple[str, ...] = ()


def complaint(words: Sequence[str]) -> Complaint:
    """Return the complaint in a text, given by its folded words; it has no causes if the text does not complain."""
    word_set, fault = set(words), not FAULTS.isdisjoint(words)
    everyday: set[str] = set()
    causes: list[str] = []
    for line in TABLES.lines("symptoms") if len(words) <= MOST_WORDS else ():
        things, states, lesson_words = (part.split() for part in line.split(" : "))
        fitting_states = {state.rstrip(ALWAYS) for state in states if fault or state.endswith(ALWAYS)}
        if word_set & {*things} and word_set & fitting_states:
            everyday |= word_set & {*things, *fitting_states}
            causes += lesson_words
    return Complaint(everyday=frozenset(everyday), causes=tuple(dict.fromkeys(causes)))
