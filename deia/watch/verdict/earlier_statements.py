"""Marks: statements from earlier in a conversation that still count, such as a freeze, or that this is production.

A mark has clauses that set it and clauses that take it back. A mere mention sets no mark: the clauses are confirmed and
their stance is checked, as for any trigger.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.text import one_line, shorten, words
from deia.watch.clauses.confirm import Match, confirm
from deia.watch.prose.stance_names import ANNOUNCED, NEGATED, REPORTED, REQUESTED, counts

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from deia.watch.compiled_trigger import CompiledClause
    from deia.watch.gate.artefact import Artefact
    from deia.watch.memory.recall import Memory
    from deia.watch.turn.parsed_turn import Reading

PRODUCTION = "<production>"  # the mark of a conversation that works on production; no trigger has this id
PRODUCTION_TURNS = 30  # turns for which the mark raises the urgency; few people use a shell longer without naming it
SETTING_STANCES = frozenset((ANNOUNCED, REQUESTED, REPORTED))
HYPOTHETICAL = frozenset("if when once unless whenever suppose imagine whether would could might".split())
MOST_SHOWN = 100  # characters of a statement


class Statement(Record):
    """A statement that set a mark."""

    text: str
    ago: int  # turns; 0 means this turn


def marks_of(artefact: Artefact, numbers: Collection[int], reading: Reading) -> dict[str, str]:
    """Return the marks that a turn sets, each with the words that set it; those it takes back have empty texts."""
    first = artefact.meta.triggers
    marks: dict[str, str] = {}
    for number in numbers:
        if number >= first:
            mark = artefact.mark(number)
            statement = _statement(mark.any, reading)
            # A run that reports both, such as failed and passed packages, has failed.
            if _statement(mark.until, reading) and not (statement and reading.turn.role == "tool_result"):
                marks[mark.mark] = ""
            elif statement:
                marks[mark.mark] = statement
    return marks


def _statement(clauses: Sequence[CompiledClause], reading: Reading) -> str:
    """Return the words by which a turn meets one of some clauses, or ""."""
    for clause in clauses:
        for match in confirm(clause, reading):
            is_meant = counts(match.stance, SETTING_STANCES) or (match.stance == NEGATED and clause.denies)
            if is_meant and not _is_hypothetical(match):
                return shorten(one_line(match.excerpt), MOST_SHOWN)
    return ""


def _is_hypothetical(match: Match) -> bool:
    """Return whether a statement is asked about or supposed: "should we have a freeze?", "if we announce a freeze"."""
    if match.command is not None:
        return False
    before = match.around.partition(match.excerpt)[0]
    return match.around.rstrip().endswith(("?", "\uff1f")) or not HYPOTHETICAL.isdisjoint(words(before))


def in_force(memory: Memory, own: Mapping[str, str]) -> dict[str, Statement]:
    """Return the marks that count for a turn: those of earlier turns, updated by the turn itself."""
    marks = {name: Statement(text=text, ago=memory.turns - turn + 1) for name, (turn, text) in memory.marks.items()}
    for name, text in own.items():
        if text:
            marks[name] = Statement(text=text, ago=0)
        else:
            marks.pop(name, None)
    return marks
