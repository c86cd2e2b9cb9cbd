"""Marks: what was said earlier in a conversation and still counts, such as a freeze, or that this is production.

A mark has clauses that set it and clauses that take it back. Pure: turns and memory come in; the turn's own marks, or
those in force, go out. Refuses mere mention: what sets a mark is confirmed and given a stance as any clause is.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.text import one_line, shorten, words
from deia.watch.clauses.confirm import confirm
from deia.watch.prose.stance_names import ANNOUNCED, NEGATED, REPORTED, REQUESTED, counts

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from deia.watch.clauses.confirm import Match
    from deia.watch.gate.artefact import Artefact
    from deia.watch.memory.log import Memory
    from deia.watch.turn.parsed_turn import Reading

PRODUCTION = "<production>"  # the mark by which a conversation is known to work on production; no trigger has this id
PRODUCTION_TURNS = 30  # for so many turns it raises the urgency; a shell or context is seldom kept longer unnamed
SETS = frozenset((ANNOUNCED, REQUESTED, REPORTED))
SUPPOSING = frozenset("if when once unless whenever suppose imagine whether would could might".split())
MOST_SHOWN = 100  # characters of what was said


class Said(Record):
    """What set a mark, and how many turns ago; 0 is this turn."""

    text: str
    ago: int


def marks_of(artefact: Artefact, numbers: Collection[int], reading: Reading) -> dict[str, str]:
    """Give the marks that a turn sets, with the words that do, and those that it takes back, with an empty text."""
    first = artefact.meta["triggers"]
    found: dict[str, str] = {}
    for number in numbers:
        if number >= first:
            mark = artefact.trigger(number)
            said = _said(mark["any"], reading)
            if _said(mark["until"], reading):
                found[mark["mark"]] = ""
            elif said:
                found[mark["mark"]] = said
    return found


def _said(clauses: list[dict[str, Any]], reading: Reading) -> str:
    for clause in clauses:
        for match in confirm(clause, reading):
            meant = counts(match.stance, SETS) or (match.stance == NEGATED and clause.get("denies"))
            if meant and not _supposed(match):
                return shorten(one_line(match.excerpt), MOST_SHOWN)
    return ""


def _supposed(match: Match) -> bool:
    """Hear a state that is only asked about or supposed: "should we have a freeze?", "if we announce a freeze"."""
    if match.command is not None:
        return False
    before = match.around.partition(match.excerpt)[0]
    return match.around.rstrip().endswith(("?", "\uff1f")) or not SUPPOSING.isdisjoint(words(before))


def in_force(memory: Memory, own: Mapping[str, str]) -> dict[str, Said]:
    """Give the marks that count for a turn: those of earlier turns, changed by what the turn itself says."""
    found = {name: Said(text=text, ago=memory.turns - turn + 1) for name, (turn, text) in memory.marks.items()}
    for name, text in own.items():
        if text:
            found[name] = Said(text=text, ago=0)
        else:
            found.pop(name, None)
    return found
