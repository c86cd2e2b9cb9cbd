"""What a conversation was told, read from its log: when, which triggers spoke, and as which events they were logged.

For the person who asks why or says what it was worth, and for a status line; nothing is decided by it. A compaction
takes nothing out: the person has seen it all the same.
"""

from __future__ import annotations

from deia import files
from deia.fast_json import loads
from deia.records import TYPE_CHECKING, Record
from deia.watch.memory.log import SUBAGENT, file_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

TWICE = 3.0  # seconds within which the same triggers are the same event, seen by two processes


class Told(Record):
    """One time that deia spoke in a conversation."""

    at: float  # seconds since the epoch
    triggers: tuple[str, ...]
    events: Mapping[str, str] = {}  # trigger → the id of its event in the ledger


def told_anywhere(state: str, conversation: str) -> list[Told]:
    """Give what was told in a conversation and in those of agents that work for it, the last at the end.

    Agents are found by the names of their logs, which an id of letters, digits and dashes stands in as it is.
    """
    folder = f"{state}/memory"
    try:
        names = files.system.listdir(folder)
    except OSError:
        names = []
    own = file_name(conversation)
    every = [own, *(name for name in names if name.startswith(own + SUBAGENT))]
    told = [one for name in every for one in told_in(files.read(f"{folder}/{name}") or b"")]
    return sorted(told, key=_when)


def _when(told: Told) -> float:
    return told.at


def told_in(log: bytes) -> list[Told]:
    """Give what was told, the last at the end; lines that say something else are passed over."""
    found: list[Told] = []
    for each in log.split(b"\n"):
        if each.startswith(b'{"at"') and (b'"fired"' in each or b'"escalated"' in each):
            one = _told(_entry(each))
            if one is not None and not (found and _is_same(found[-1], one)):
                found.append(one)
        elif found and each.startswith(b'{"aside"') and b'"logged"' in each:
            found[-1] = _with_events(found[-1], _entry(each).get("logged"))
    return found


def _entry(each: bytes) -> dict[str, Any]:
    try:
        value = loads(each.decode("ascii", "replace"))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _told(entry: dict[str, Any]) -> Told | None:
    at, fired = entry.get("at"), entry.get("fired")
    triggers = [*(fired if isinstance(fired, dict) else ()), *_names(entry.get("escalated"))]
    if not triggers or not isinstance(at, (int, float)):
        return None
    return Told(at=float(at), triggers=tuple(dict.fromkeys(triggers)))


def _names(value: Any) -> Sequence[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _is_same(one: Told, other: Told) -> bool:
    return one.triggers == other.triggers and abs(other.at - one.at) < TWICE


def _with_events(one: Told, events: Any) -> Told:
    if not isinstance(events, dict):
        return one
    known = {name: event for name, event in events.items() if name in one.triggers and isinstance(event, str)}
    return one.but(events={**one.events, **known})
