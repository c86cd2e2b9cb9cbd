"""The second gate for changed text and phrases: keep the rows whose pattern or phrase the turn really holds.

The words of such rows occur in a large part of all edits and messages, so this runs before anything is judged. It does
not look at the earlier content of a file, at paths or at stance; those are for the judge.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.watch.compiled_trigger import OUTPUT, CompiledClause, CompiledPattern
from deia.watch.gate.word_gate import CLAUSE, WRITTEN
from deia.watch.turn.regex import is_in, trust
from deia.watch.turn.tool_call import command_of, is_shell, strings

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from deia.watch.gate.artefact import Artefact

MOST_SEARCHED = 60_000  # characters; a pattern takes a millisecond for so many
PATCHES = ("*** ", "+++ ", "--- ")  # a text with one of these may be a patch, where a mark precedes each line
PRINTING = ("echo ", "printf ")


def holding(artefact: Artefact, turn: Turn, rows: Collection[int]) -> set[int]:
    """Return the rows whose pattern or phrase a turn holds; all of them if the turn is too long to search."""
    clauses = {number: _clause(artefact, number) for number in rows}
    written = {number: clause for number, clause in clauses.items() if artefact.row(number)[1] & WRITTEN}
    kept = _holding_pattern(artefact, turn, written) if written else set()
    phrases = {number: clause for number, clause in clauses.items() if number not in written}
    if phrases:
        from deia.watch.gate.phrase_gate import holding_phrase  # noqa: PLC0415 - most turns have no words of a phrase

        kept |= holding_phrase(artefact, turn, phrases)
    return kept


def _clause(artefact: Artefact, number: int) -> CompiledClause:
    target, who, _ = artefact.row(number)
    return artefact.clause(target, (who >> CLAUSE) - 1)


def _holding_pattern(artefact: Artefact, turn: Turn, clauses: Mapping[int, CompiledClause]) -> set[int]:
    shell = turn.role == "tool_call" and is_shell(turn)
    texts = [command_of(turn)] if shell else [*strings(turn.tool_input or {})]
    texts = texts if turn.role == "tool_call" else [turn.text]
    if sum(map(len, texts)) > MOST_SEARCHED or (shell and "sed " in texts[0]):
        return set(clauses)
    trust(artefact.meta.regex)
    texts += [_unmarked(text) for text in texts if any(sign in text for sign in PATCHES)]
    if shell and any(sign in texts[0] for sign in PRINTING):
        texts += _printed(texts[0])
    return {number for number, clause in clauses.items() if _holds(_pattern(clause), texts)}


def _unmarked(patch: str) -> str:
    return "\n".join([line[1:] for line in patch.split("\n")])


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


def _holds(pattern: CompiledPattern | None, texts: Sequence[str]) -> bool:
    return pattern is not None and any(is_in(pattern, text) for text in texts)
