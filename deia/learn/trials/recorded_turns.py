"""Recorded turns in which triggers fired, with what the ledger says about them: the material of cases and `unless`.

Transcripts are read as `deia trigger replay` reads them. A conversation is recognised by the host's own id, or by the
name of its file; those that the ledger does not know are skipped. Texts are redacted before they are kept.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from deia.evaluate.replay_files import json_object, transcript_files
from deia.evaluate.transcripts import Reader, read_conversations
from deia.fast_json import Json
from deia.learn.trigger_drafts import FiredTurn
from deia.records import Turn
from deia.redaction import HIDDEN, is_secret_name, redact
from deia.watch.authoring.replay import Replay
from deia.watch.clauses.folder_signs import signs_around
from deia.watch.gate.artefact import Artefact

IDS = ("sessionId", "session_id", "conversation_id", "conversationId", "conversation")
MOST_TEXT = 1500  # characters of a turn in a case
MOST_WHOLE = 64_000_000  # bytes of a file
BEFORE = 2  # earlier turns in a case, if the last one alone does not fire


def read_fired_turns(
    artefact: Artefact, names: Sequence[str], weights: Mapping[tuple[str, str], float]
) -> list[FiredTurn]:
    """Return the turns of transcripts in which triggers fired that the ledger has a weight for.

    `weights` is by conversation and trigger. Raise QueryError if there is nothing at a path.
    """
    known = {conversation for conversation, _ in weights}
    fired_turns: list[FiredTurn] = []
    for path in transcript_files(names):
        for conversation, turns, folder in _conversations(path):
            if conversation in known:
                fired_turns += _fired(artefact, conversation, turns, folder, weights)
    return fired_turns


def _fired(
    artefact: Artefact, conversation: str, turns: Sequence[Turn], folder: str, weights: Mapping[tuple[str, str], float]
) -> Iterator[FiredTurn]:
    """Yield the turns of one conversation in which triggers fired that the ledger has a weight for."""
    replay = Replay(artefact)
    around = signs_around(folder) if folder else None
    for at, turn in enumerate(turns):
        for firing in replay.judge(turn, folder=around):
            weight = weights.get((conversation, firing.trigger), 0.0)
            text = _text(turn)
            if weight and text:
                case = _case(artefact, firing.trigger, turns[max(0, at - BEFORE) : at + 1])
                yield FiredTurn(
                    trigger=firing.trigger, weight=weight, case=case, text=text, conversation=conversation,
                    action=firing.action, because=redact(firing.because),
                )  # fmt: skip


def _command(turn: Turn) -> str | None:
    command = turn.tool_input.get("command") if isinstance(turn.tool_input, dict) else None
    return command if isinstance(command, str) else None


def _text(turn: Turn) -> str:
    return redact(turn.text or _command(turn) or "")[:MOST_TEXT]


def _case(artefact: Artefact, trigger: str, turns: Sequence[Turn]) -> Json:
    """Return a case for a trigger, with as few turns as make it fire."""
    alone = any(firing.trigger == trigger for firing in Replay(artefact).judge(turns[-1]))
    return case_of(turns[-1:] if alone else turns)


def case_of(turns: Sequence[Turn]) -> Json:
    """Return some turns as a file of cases has them, without secrets."""
    if len(turns) == 1 and turns[0].role == "user":
        return _text(turns[0])
    return {"turns": [_turn(turn) for turn in turns]}


def _turn(turn: Turn) -> dict[str, Json]:
    values: dict[str, Json] = {"role": turn.role}
    if turn.tool:
        values["tool"] = turn.tool
    command = _command(turn)
    if turn.tool_input:
        arguments = {str(name): _redacted(str(name), value) for name, value in turn.tool_input.items()}
        values["tool_input"] = arguments if command is None else {**arguments, "command": redact(command)[:MOST_TEXT]}
    if not turn.tool_input or turn.text not in ("", command):
        values["text"] = _text(turn)
    return values | ({"failed": True} if turn.failed else {})


def _redacted(name: str, value: object) -> Json:
    """Return a value of a tool's input without secrets; a list, a map, a number and a yes or no stay what they are."""
    if isinstance(value, str):
        return HIDDEN if value and is_secret_name(name.lower()) else redact(value)
    if isinstance(value, Mapping):
        return {redact(str(key)): _redacted(str(key), item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_redacted(name, item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float)) else redact(str(value))


def _conversations(path: str) -> Iterator[tuple[str, list[Turn], str]]:
    """Yield the conversations of a file: id, turns and working folder."""
    with open(path, "rb") as file:
        data = file.read(MOST_WHOLE).decode("utf-8-sig", "replace")
    name = os.path.splitext(os.path.basename(path))[0]
    items = [item for item in map(json_object, data.split("\n")) if item]
    if not path.lower().endswith((".jsonl", ".ndjson", ".log")) or not items:
        for number, turns in enumerate(read_conversations(data), 1):
            yield (name if number == 1 else f"{name}:{number}"), turns, ""
        return
    readers: dict[str, tuple[Reader, list[Turn]]] = {}
    for item in items:
        ident = next((str(item[key]) for key in IDS if isinstance(item.get(key), str) and item[key]), name)
        reader, turns = readers.setdefault(ident, (Reader(), []))
        turns += [turn.but(index=len(turns) + number) for number, turn in enumerate(reader.turns(item), 1)]
    yield from ((ident, turns, reader.folder) for ident, (reader, turns) in readers.items())
