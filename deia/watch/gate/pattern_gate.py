"""Which rows of the gate have what their words belong to: a pattern in what is written, a phrase in what is said.

Asked before anything is judged, since their words alone stand in a good part of all edits and of all that is said.
Refuses to tell more than that: what stood there before, paths and stance are for the judge.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.watch.gate.word_gate import CLAUSE, WRITTEN
from deia.watch.turn.regex import find_all, trust, unfolded
from deia.watch.turn.tool_call import command_of, is_shell, strings

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from deia.records import Turn
    from deia.watch.gate.artefact import Artefact

MOST_SOUGHT = 60_000  # characters of what is written; as many in segments take a millisecond a pattern
PATCHES = ("*** ", "+++ ", "--- ")  # in which every line has a mark before it
PRINTING = ("echo ", "printf ")


def holding(artefact: Artefact, turn: Turn, rows: Collection[int]) -> set[int]:
    """Give those of some rows whose pattern or phrase a turn holds; of a turn too long for that, all."""
    clauses = {number: _clause(artefact, number) for number in rows}
    written = {number: clause for number, clause in clauses.items() if artefact.row(number)[1] & WRITTEN}
    found = _written(artefact, turn, written) if written else set()
    said = {number: clause for number, clause in clauses.items() if number not in written}
    if said:
        from deia.watch.gate.phrase_gate import holding_phrase  # noqa: PLC0415 - most turns have no words of a phrase

        found |= holding_phrase(turn, said)
    return found


def _clause(artefact: Artefact, number: int) -> Any:
    target, who, _ = artefact.row(number)
    trigger = artefact.trigger(target)
    return [*trigger.get("all", ()), *trigger["any"], *trigger.get("until", ())][(who >> CLAUSE) - 1]


def _written(artefact: Artefact, turn: Turn, clauses: Mapping[int, Any]) -> set[int]:
    shell = is_shell(turn)
    texts = [command_of(turn)] if shell else [*strings(turn.tool_input or {})]
    if sum(map(len, texts)) > MOST_SOUGHT or (shell and "sed " in texts[0]):
        return set(clauses)
    trust(artefact.meta["regex"])
    texts += [_unmarked(text) for text in texts if any(sign in text for sign in PATCHES)]
    if shell and any(sign in texts[0] for sign in PRINTING):
        texts += _printed(texts[0])
    return {number for number, clause in clauses.items() if _holds(_sought(clause), texts)}


def _unmarked(patch: str) -> str:
    return "\n".join([line[1:] for line in patch.split("\n")])


def _printed(command: str) -> list[str]:
    """Give what a command line may print, as it would stand in a file: each way to read its quotes begins new lines."""
    bare = command.replace("\\n", "\n").replace(">", "\n").replace("|", "\n")
    for sign in PRINTING:
        bare = bare.replace(sign, "\n")
    read = [bare.replace('"', "\n"), bare.replace("'", "\n"), bare.replace('"', "").replace("'", "")]
    unescaped = bare.replace('\\"', "\1")
    return [*read, unescaped.replace('"', "\n").replace("\1", '"')] if unescaped != bare else read


def _sought(clause: Any) -> Any:
    return unfolded(clause, "adds" if "adds" in clause else "drops")


def _holds(pattern: Any, texts: Sequence[str]) -> bool:
    return any(True for text in texts for _ in find_all(pattern, text))
