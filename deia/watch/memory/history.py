"""The past injections of a conversation, read from its log: when, which triggers, and under which event ids.

They are for the status line and for the person who asks why, or says what a lesson was worth. No decision depends on
them. A compaction removes none of them, because the person has seen them anyway.
"""

from __future__ import annotations

from deia import files
from deia.records import TYPE_CHECKING, Record
from deia.watch.memory.log import SUBAGENT, LogEntry, file_name
from deia.watch.memory.recall import parse_entry

if TYPE_CHECKING:
    from collections.abc import Mapping

SAME_EVENT = 3.0  # seconds within which the same triggers are the same event, seen by two processes


class PastInjection(Record):
    """One time that deia told a conversation something."""

    at: float  # seconds since the epoch
    triggers: tuple[str, ...]
    events: Mapping[str, str] = {}  # trigger → the id of its event in the ledger


def past_injections(state: str, conversation: str) -> list[PastInjection]:
    """Return the injections into a conversation and into those of agents that work for it, the latest last.

    The agents' logs are found by name: a conversation's id of letters, digits and dashes begins the name unchanged.
    """
    folder = f"{state}/memory"
    own = file_name(conversation)
    logs = [own, *(name for name in files.names(folder) if name.startswith(own + SUBAGENT))]
    injections = [injection for name in logs for injection in read_injections(files.read(f"{folder}/{name}") or b"")]
    return sorted(injections, key=lambda injection: injection.at)


def read_injections(log: bytes) -> list[PastInjection]:
    """Return the injections that a log records, the latest last."""
    injections: list[PastInjection] = []
    for line in log.split(b"\n"):
        if line.startswith(b'{"at"') and (b'"fired"' in line or b'"escalated"' in line):
            injection = _injection(parse_entry(line))
            if injection is not None and not (injections and _is_same(injections[-1], injection)):
                injections.append(injection)
        elif injections and line.startswith(b'{"aside"') and b'"logged"' in line:
            last = injections[-1]
            known = {trigger: event for trigger, event in parse_entry(line).logged.items() if trigger in last.triggers}
            injections[-1] = last.but(events={**last.events, **known})
    return injections


def _injection(entry: LogEntry) -> PastInjection | None:
    triggers = (*entry.fired, *entry.escalated)
    if not triggers or not entry.at:
        return None
    return PastInjection(at=float(entry.at), triggers=tuple(dict.fromkeys(triggers)))


def _is_same(first: PastInjection, second: PastInjection) -> bool:
    return first.triggers == second.triggers and abs(second.at - first.at) < SAME_EVENT
