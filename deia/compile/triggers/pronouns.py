"""`<it>` in a phrase: the phrase with a pronoun in one slot, and the words that must have been said before.

Pronouns are not resolved further: what was mentioned last, or whether `it` means something else, does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence

from deia.compile.triggers.lowered import Group, Row
from deia.records import Record
from deia.watch.compiled_trigger import Slot

PRONOUNS = ("everything", "it", "that", "them", "these", "this", "those")
WHOLE_THING = [["whole"], ["thing"]]


class Referring(Record):
    """A phrase with a pronoun for its object: its slots, the groups that gate it, and what the pronoun stands for."""

    slots: list[Slot]
    groups: Row
    antecedent: str  # the name under which the conversation's memory keeps that the object was mentioned
    antecedent_rows: tuple[Row, ...]


def referring(slots: Sequence[Slot], groups_of: Sequence[Sequence[Group]], object_slot: int) -> Referring:
    """Return a lowered phrase with pronouns in its object slot; `groups_of` has the groups that each slot needs."""
    gap, singles, longer, _ = slots[object_slot]
    pronoun: Slot = (gap, list(PRONOUNS), [WHOLE_THING], 0)
    groups = [group for number, needed in enumerate(groups_of) if number != object_slot for group in needed]
    alternatives = [tuple(Group(forms) for forms in alternative) for alternative in longer]
    text = "|".join([*singles, *(" ".join(forms[0] for forms in alternative) for alternative in longer)])
    return Referring(
        slots=[pronoun if number == object_slot else slot for number, slot in enumerate(slots)],
        groups=(*groups, Group((*PRONOUNS, "thing"))),
        antecedent=f"<it> {text}",
        antecedent_rows=(*(((Group(singles),),) if singles else ()), *alternatives),
    )
