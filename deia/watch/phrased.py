"""Which rows of the gate have in a turn what their words belong to: a phrase that is said, a pattern that is written.

Asked where nothing but words of such rows would have a turn read, since `commit` and `again` stand in half of all that
is said. Refuses to tell more than that: stance, pronouns, names and what stood there before are for the judge.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.watch.gate import CLAUSE, command_of, is_shell, segments, strings
from deia.watch.phrases import Words, find_phrase
from deia.watch.regexes import find, trust
from deia.watch.regions import cut
from deia.watch.speech import speech_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from deia.records import Turn
    from deia.watch.artefact import Artefact

MOST_CUT = 12_000  # characters; cutting more than that costs about what judging would
MOST_SOUGHT = 60_000  # characters of what is written; as many in segments take a millisecond a pattern
# Where what is written stands otherwise than in the call: a patch's lines, what a shell unquotes, parts of a `s/a/b/`.
REWRITTEN = ("*** ", "+++ ")
REPLACING = ("sed ",)
PRINTING = ("echo ", "printf ")


def holding_phrase(artefact: Artefact, turn: Turn, rows: Collection[int]) -> set[int]:
    """Give those of some rows whose phrase or pattern a turn holds; of a turn too long for that, all."""
    clauses = {number: _clause(artefact, number) for number in rows}
    written = {number: clause for number, clause in clauses.items() if clause["k"] == "write"}
    found = _written(artefact, turn, written) if written else set()
    said = {number: clause for number, clause in clauses.items() if clause["k"] != "write"}
    if not said:
        return found
    text = speech_of(turn) if turn.role == "tool_call" else turn.text
    if len(text) > MOST_CUT:
        return found.union(said)
    words = Words(cut(text).tokens)
    return found.union(number for number, clause in said.items() if _is_said(clause, words))


def _clause(artefact: Artefact, number: int) -> Any:
    target, who, _ = artefact.row(number)
    trigger = artefact.trigger(target)
    return [*trigger.get("all", ()), *trigger["any"], *trigger.get("until", ())][who >> CLAUSE]


def _is_said(clause: Any, words: Words) -> bool:
    places = (clause["v"], clause["it"]) if "it" in clause else (clause["v"],)
    return any(True for one in places for _ in find_phrase(one, words))


def _written(artefact: Artefact, turn: Turn, clauses: dict[int, Any]) -> set[int]:
    texts = [command_of(turn)] if is_shell(turn) else [*strings(turn.tool_input or {})]
    signs = REPLACING if is_shell(turn) else REWRITTEN
    if sum(map(len, texts)) > MOST_SOUGHT or any(sign in text for text in texts for sign in signs):
        return set(clauses)
    trust(artefact.meta["regex"])
    if is_shell(turn) and any(sign in texts[0] for sign in PRINTING):
        texts += _printed(texts[0])
    pieces = [piece for text in texts for piece in segments(text)]
    return {number for number, clause in clauses.items() if _holds(clause.get("adds") or clause["drops"], pieces)}


def _printed(command: str) -> list[str]:
    """Give what a command line may print, as it would stand in a file: each way to read its quotes begins new lines."""
    bare = command.replace("\\n", "\n").replace(">", "\n").replace("|", "\n")
    for sign in PRINTING:
        bare = bare.replace(sign, "\n")
    read = [bare.replace('"', "\n"), bare.replace("'", "\n"), bare.replace('"', "").replace("'", "")]
    unescaped = bare.replace('\\"', "\1")
    return [*read, unescaped.replace('"', "\n").replace("\1", '"')] if unescaped != bare else read


def _holds(pattern: Any, pieces: Sequence[str]) -> bool:
    return any(True for piece in pieces for _ in find(pattern, piece))
