"""The second gate for phrases: keep the rows whose phrase the turn holds, in order and outside code and quotations.

It runs only if nothing else would have the turn parsed, because `commit` and `again` occur in half of all messages. It
does not look at stance, pronouns or names; those are for the judge.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.watch.compiled_trigger import ACTS, CompiledClause
from deia.watch.prose.phrases import Words, find_phrase
from deia.watch.prose.regions import Prose, cut, unwrapped
from deia.watch.turn.spoken_tool_input import speech_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deia.watch.gate.artefact import Artefact

MOST_CUT = 12_000  # characters; cutting a longer text into regions costs about as much as judging it


def holding_phrase(artefact: Artefact, turn: Turn, clauses: Mapping[int, CompiledClause]) -> set[int]:
    """Return the rows, of these with their clauses, whose phrase or act a turn holds; all if the turn is too long."""
    text = speech_of(turn) if turn.role == "tool_call" else turn.text
    text = unwrapped(text) if turn.role == "user" else text
    if len(text) > MOST_CUT:
        return set(clauses)
    prose = cut(text)
    words = Words(prose.tokens)
    acts = {number: clause for number, clause in clauses.items() if clause.kind in ACTS}
    kept = {number for number, clause in clauses.items() if number not in acts and _is_in(clause, words)}
    return kept | (_holding_act(artefact, prose, acts) if acts else set())


def _holding_act(artefact: Artefact, prose: Prose, clauses: Mapping[int, CompiledClause]) -> set[int]:
    from deia.watch.prose.act_conditions import unmet  # noqa: PLC0415 - few turns have the words of an act
    from deia.watch.prose.acts import frames  # noqa: PLC0415 - as above

    vocabularies = {clause.vocabulary for clause in clauses.values()}
    read = {known: frames(prose.masked, prose.tokens, artefact.act_words(known)) for known in vocabularies}
    return {
        number
        for number, clause in clauses.items()
        if any(not unmet(act, frame) for _, act in clause.acts for frame in read[clause.vocabulary])
    }


def _is_in(clause: CompiledClause, words: Words) -> bool:
    return any(True for slots in (clause.slots, clause.pronoun_slots) if slots for _ in find_phrase(slots, words))
