"""Which rows of the gate have their phrase in a turn: its words in order, close enough, outside code and quotation.

Asked where nothing but words of phrases would have a turn read, since `commit` and `again` stand in half of all that
is said. Refuses to tell more than that: stance, pronouns and names are for the judge.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.watch.prose.phrases import Words, find_phrase
from deia.watch.prose.regions import cut
from deia.watch.turn.spoken_tool_input import speech_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from deia.records import Turn

MOST_CUT = 12_000  # characters; cutting more than that costs about what judging would


def holding_phrase(turn: Turn, clauses: Mapping[int, Any]) -> set[int]:
    """Give those of some rows, each with its clause, whose phrase a turn holds; of a turn too long for that, all."""
    text = speech_of(turn) if turn.role == "tool_call" else turn.text
    if len(text) > MOST_CUT:
        return set(clauses)
    words = Words(cut(text).tokens)
    return {number for number, clause in clauses.items() if _stands(clause, words)}


def _stands(clause: Any, words: Words) -> bool:
    places = (clause["v"], clause["it"]) if "it" in clause else (clause["v"],)
    return any(True for one in places for _ in find_phrase(one, words))
