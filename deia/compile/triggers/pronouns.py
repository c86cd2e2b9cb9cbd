"""`<it>` in a phrase: the phrase with a pronoun in one place, and the words that must have been said for it to count.

Refuses to resolve further: whose word was said last, or whether `it` means another thing, is not asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deia.compile.triggers.lowered import Group
from deia.records import Record

PRONOUNS = ("everything", "it", "that", "them", "these", "this", "those")
WHOLE_THING = [["whole"], ["thing"]]


class Referring(Record):
    """A phrase with a pronoun for its object: its places, the groups that gate it, and what it may stand for."""

    places: list[Any]
    groups: tuple[Group, ...]
    name: str  # under which the conversation's memory keeps that the object was named
    named: tuple[tuple[Group, ...], ...]


def referring(places: Sequence[Any], needed: Sequence[Sequence[Group]], meant: int) -> Referring:
    """Put pronouns into the place `meant` of a lowered phrase; `needed` has the groups that each place brings along."""
    gap, singles, longer, _ = places[meant]
    pronoun = [gap, list(PRONOUNS), [WHOLE_THING], 0]
    groups = [group for number, one in enumerate(needed) if number != meant for group in one]
    options = [tuple(Group(alike) for alike in option) for option in longer]
    shown = "|".join([*singles, *(" ".join(alike[0] for alike in option) for option in longer)])
    return Referring(
        places=[pronoun if number == meant else place for number, place in enumerate(places)],
        groups=(*groups, Group((*PRONOUNS, "thing"))),
        name=f"<it> {shown}",
        named=(*(((Group(singles),),) if singles else ()), *options),
    )
