"""The second gate for changed text and phrases: keep the rows whose pattern or phrase the turn really holds.

The words of such rows occur in a large part of all edits and messages (`commit` and `again` in half of them), so this
runs before anything is judged, and for phrases only if nothing else would have the turn parsed. It does not look at the
earlier content of a file, at paths, pronouns, names or stance; those are for the judge.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.watch.compiled_trigger import ACTS, INCOMING, OUTPUT, CompiledClause, CompiledPattern
from deia.watch.gate.word_gate import CLAUSE, WRITTEN
from deia.watch.turn.regex import is_in, trust
from deia.watch.turn.tool_call import command_of, is_shell, strings

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from deia.watch.gate.artefact import Artefact
    from deia.watch.prose.regions import Prose

MOST_SEARCHED = 60_000  # characters; a pattern takes a millisecond for so many
PATCHES = ("*** ", "+++ ", "--- ")  # a text with one of these may be a patch, where a mark precedes each line
PRINTING = ("echo ", "printf ")
MOST_CUT = 12_000  # characters; cutting a longer text into regions costs about as much as judging it


def holding(artefact: Artefact, turn: Turn, rows: Collection[int]) -> set[int]:
    """Return the rows whose pattern or phrase a turn holds; all of them if the turn is too long to search."""
    clauses = {}
    for number in rows:
        target, who, _ = artefact.row(number)
        clauses[number] = artefact.clause(target, (who >> CLAUSE) - 1)
    incoming = {number: clause for number, clause in clauses.items() if clause.kind == INCOMING}
    others = {number: clause for number, clause in clauses.items() if number not in incoming}
    written = {number: clause for number, clause in others.items() if artefact.row(number)[1] & WRITTEN}
    phrases = {number: clause for number, clause in others.items() if number not in written}
    kept = _holding_pattern(artefact, turn, written) if written else set()
    kept |= _holding_order(artefact, turn, incoming) if incoming else set()
    return kept | (holding_phrase(artefact, turn, phrases) if phrases else set())


def _holding_pattern(artefact: Artefact, turn: Turn, clauses: Mapping[int, CompiledClause]) -> set[int]:
    shell = turn.role == "tool_call" and is_shell(turn)
    texts = [command_of(turn)] if shell else [*strings(turn.tool_input or {})]
    texts = texts if turn.role == "tool_call" else [turn.text]
    if sum(map(len, texts)) > MOST_SEARCHED or (shell and "sed " in texts[0]):
        return set(clauses)
    trust(artefact.meta.regex)
    patches = [text for text in texts if any(sign in text for sign in PATCHES)]
    texts += ["\n".join([line[1:] for line in patch.split("\n")]) for patch in patches]
    if shell and any(sign in texts[0] for sign in PRINTING):
        texts += _printed(texts[0])
    patterns = {number: _pattern(clause) for number, clause in clauses.items()}
    return {number for number, pattern in patterns.items() if pattern and any(is_in(pattern, text) for text in texts)}


def _printed(command: str) -> list[str]:
    """Return what a command line may print into a file, once for each way to read its quotes."""
    bare = command.replace("\\n", "\n").replace(">", "\n").replace("|", "\n")
    for sign in PRINTING:
        bare = bare.replace(sign, "\n")
    readings = [bare.replace('"', "\n"), bare.replace("'", "\n"), bare.replace('"', "").replace("'", "")]
    unescaped = bare.replace('\\"', "\1")
    return [*readings, unescaped.replace('"', "\n").replace("\1", '"')] if unescaped != bare else readings


def _pattern(clause: CompiledClause) -> CompiledPattern | None:
    return clause.written("adds") or clause.written("drops") or clause.written(OUTPUT)


def _holding_order(artefact: Artefact, turn: Turn, clauses: Mapping[int, CompiledClause]) -> set[int]:
    from deia.watch.turn.material import matches, place_of, unescaped  # noqa: PLC0415 - few have words of an order

    if len(turn.text) > MOST_SEARCHED:
        return set(clauses)
    trust(artefact.meta.regex)
    text = unescaped(turn.text)
    kept = {number for number, clause in clauses.items() if any(True for _ in matches(clause, text))}
    return kept if kept and place_of(turn) else set()


def holding_phrase(artefact: Artefact, turn: Turn, clauses: Mapping[int, CompiledClause]) -> set[int]:
    """Return the rows, of these with their clauses, whose phrase or act a turn holds; all if the turn is too long."""
    from deia.watch.prose.phrases import Words, find_phrase  # noqa: PLC0415 - most turns have no words of a phrase
    from deia.watch.prose.regions import cut, unwrapped  # noqa: PLC0415 - as above
    from deia.watch.turn.spoken_tool_input import speech_of  # noqa: PLC0415 - as above

    text = speech_of(turn) if turn.role == "tool_call" else turn.text
    text = unwrapped(text) if turn.role == "user" else text
    if len(text) > MOST_CUT:
        return set(clauses)
    prose = cut(text)
    words = Words(prose.tokens)
    acts = {number: clause for number, clause in clauses.items() if clause.kind in ACTS}
    slots_of = {
        number: (clauses[number].slots, clauses[number].pronoun_slots) for number in clauses.keys() - acts.keys()
    }
    kept = {number for number, every in slots_of.items() for slots in every if slots and any(find_phrase(slots, words))}
    return kept | (_holding_act(artefact, prose, acts) if acts else set())


def _holding_act(artefact: Artefact, prose: Prose, clauses: Mapping[int, CompiledClause]) -> set[int]:
    from deia.watch.prose.acts import frames, unmet  # noqa: PLC0415 - few turns have the words of an act

    vocabularies = {clause.vocabulary for clause in clauses.values()}
    read = {known: frames(prose.masked, prose.tokens, artefact.act_words(known)) for known in vocabularies}
    return {
        number
        for number, clause in clauses.items()
        if any(not unmet(act, frame) for _, act in clause.acts for frame in read[clause.vocabulary])
    }
