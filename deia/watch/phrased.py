"""Which rows of the gate have their phrase in a turn: its words in order, close enough, outside code and quotation.

Asked where nothing but words of phrases would have a turn read, since `commit` and `again` stand in half of all that
is said. Refuses to tell more than that: stance, pronouns and names are for the judge.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.watch.gate import CLAUSE
from deia.watch.phrases import Words, find_phrase
from deia.watch.regions import cut
from deia.watch.speech import speech_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from deia.records import Turn
    from deia.watch.artefact import Artefact

MOST_CUT = 12_000  # characters; cutting more than that costs about what judging would


def holding_phrase(artefact: Artefact, turn: Turn, rows: Collection[int]) -> set[int]:
    """Give those of some rows whose phrase a turn holds; of a turn too long for that, all."""
    text = speech_of(turn) if turn.role == "tool_call" else turn.text
    if len(text) > MOST_CUT:
        return set(rows)
    words = Words(cut(text).tokens)
    return {number for number in rows if _stands(artefact, number, words)}


def _stands(artefact: Artefact, number: int, words: Words) -> bool:
    target, who, _ = artefact.row(number)
    trigger = artefact.trigger(target)
    clause = [*trigger.get("all", ()), *trigger["any"], *trigger.get("until", ())][who >> CLAUSE]
    places = (clause["v"], clause["it"]) if "it" in clause else (clause["v"],)
    return any(True for one in places for _ in find_phrase(one, words))
