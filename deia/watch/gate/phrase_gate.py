"""The second gate for phrases: keep the rows whose phrase the turn holds, in order and outside code and quotations.

It runs only if nothing else would have the turn parsed, because `commit` and `again` occur in half of all messages. It
does not look at stance, pronouns or names; those are for the judge.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.watch.prose.phrases import Words, find_phrase
from deia.watch.prose.regions import cut
from deia.watch.turn.spoken_tool_input import speech_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deia.records import Turn
    from deia.watch.compiled_trigger import CompiledClause

MOST_CUT = 12_000  # characters; cutting a longer text into regions costs about as much as judging it


def holding_phrase(turn: Turn, clauses: Mapping[int, CompiledClause]) -> set[int]:
    """Return the rows, of these with their clauses, whose phrase a turn holds; all of them if the turn is too long."""
    text = speech_of(turn) if turn.role == "tool_call" else turn.text
    if len(text) > MOST_CUT:
        return set(clauses)
    words = Words(cut(text).tokens)
    return {number for number, clause in clauses.items() if _is_in(clause, words)}


def _is_in(clause: CompiledClause, words: Words) -> bool:
    return any(True for slots in (clause.slots, clause.pronoun_slots) if slots for _ in find_phrase(slots, words))
