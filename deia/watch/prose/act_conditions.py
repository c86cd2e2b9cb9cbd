"""The conditions of an `act` clause on an act that was read in a sentence."""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from deia.watch.compiled_trigger import CompiledAct
    from deia.watch.prose.acts import Frame

TABLES = Tables(__file__)
PARTS_OF_CODE = TABLES.words("parts of code")
CODE = TABLES.words("code")
STAND_INS = TABLES.words("stand-ins")
PART_OF = frozenset(("from", "of"))


def unmet(act: CompiledAct, frame: Frame) -> str:
    """Return the name of the first condition that an act does not meet, as clauses write it, or "" if it meets all."""
    if frame.acts.isdisjoint(act.do):
        return "do"
    if act.what and frame.things.isdisjoint(act.what):
        return "what"
    if is_in_code(frame) and not names_part(act, frame):
        return "place"
    beside = beside_object(frame)
    if any_present(act.unlike, beside):
        return "not"
    if act.where and not any_present(act.where, beside):
        return "where"
    if act.how and not any_present(act.how, frame.words.difference(frame.verb.split())):
        return "how"
    if act.near and not any_present(act.near, frame.beyond.difference(frame.verb.split())):
        return "near"
    return "all" if act.whole and not frame.whole else ""


def beside_object(frame: Frame) -> set[str]:
    """Return the words of an act's object and place."""
    return {*frame.modifiers, frame.head, *frame.places}


def is_in_code(frame: Frame) -> bool:
    """Return whether an object is a part of code or text: "remove the bucket from the map", "reset it in the mock"."""
    places = frame.places
    if not frame.things.isdisjoint(CODE):
        return False
    part = not places.isdisjoint(PARTS_OF_CODE) and not places.isdisjoint(PART_OF)
    return part or not places.isdisjoint(STAND_INS)


def names_part(act: CompiledAct, frame: Frame) -> bool:
    """Return whether an act itself asks for the part of code that was said: "clear the variables of the function"."""
    parts = frame.places & (PARTS_OF_CODE | STAND_INS)
    asked = (group for items in (act.where, act.how, act.near) for item in items for group in item)
    return any(not parts.isdisjoint(group) for group in asked)


def any_present(items: Iterable[Sequence[Sequence[str]]], words: Collection[str]) -> bool:
    """Return whether a form of each word of one of the items is among some words."""
    return any(all(any(form in words for form in alike) for alike in item) for item in items)
