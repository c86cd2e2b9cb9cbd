"""Permissions: a code that was shown with a stopped call lets its triggers pass, once or for the whole conversation.

Codes are random, belong to one conversation and expire. They are kept in an append-only file in the person's own
folder. Permission is given in a terminal: an agent's tool call that would give it is refused (`self_protection`). An
agent that writes into the folder by means that no call shows cannot be told from the person, whose rights it has.
"""

from __future__ import annotations

from deia import files
from deia.fast_json import Json, dumps, loads
from deia.folders import LEAVES
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # 32 characters, without those that are easily confused
CODE_LENGTH = 6
CODE_SECONDS = 1800.0  # for which a code can be used
CONVERSATION_SECONDS = 86_400.0  # for which permission for a conversation lasts
MOST_BYTES = 65_536  # read from the end of the file: some hundred codes


class Leave(Record):
    """What a code stands for, and how far permission was given."""

    code: str
    conversation: str
    triggers: tuple[str, ...]
    until: float
    given: str = ""  # once, conversation, or "" if no permission was given yet


def _path(state: str) -> str:
    return f"{state}/{LEAVES}"


def _write(state: str, entry: dict[str, Json]) -> bool:
    return files.append(_path(state), b"\n" + dumps(entry).encode() + b"\n")


def offer(state: str, conversation: str, triggers: Collection[str], *, now: float) -> str:
    """Return a new code for a call that was just stopped, or "" if it cannot be stored."""
    code = "".join(LETTERS[byte % len(LETTERS)] for byte in files.system.urandom(CODE_LENGTH))
    entry: dict[str, Json] = {"offer": code, "conversation": conversation, "triggers": list(triggers)}
    entry["until"] = now + CODE_SECONDS
    return code if _write(state, entry) else ""


def offered(state: str, code: str, *, now: float) -> Leave | None:
    """Return what a code stands for, or None if the code cannot be used."""
    return _leaves(state, now).get(code.strip().upper())


def grant(state: str, code: str, *, now: float, whole: bool = False) -> Leave | None:
    """Let one call pass by permission for a code; return None if the code is unknown, expired or used up."""
    leave = offered(state, code, now=now)
    if leave is None:
        return None
    until = now + CONVERSATION_SECONDS if whole else leave.until
    granted = leave.but(given="conversation" if whole else "once", until=until)
    entry: dict[str, Json] = {"grant": granted.code, "scope": granted.given, "until": until}
    return granted if _write(state, entry) else None


def allowed(state: str, conversation: str, *, now: float) -> tuple[Leave, ...]:
    """Return the permissions in force for a conversation."""
    leaves = _leaves(state, now).values()
    return tuple(leave for leave in leaves if leave.given and leave.conversation == conversation)


def pending(state: str, *, now: float) -> tuple[Leave, ...]:
    """Return what could be allowed: the codes that can be used and for which no permission was given yet."""
    return tuple(leave for leave in _leaves(state, now).values() if not leave.given)


def spend(state: str, leaves: Collection[Leave], passed: Collection[str]) -> None:
    """Use up the one-time permissions that let one of the `passed` triggers pass."""
    for leave in leaves:
        if leave.given == "once" and not set(passed).isdisjoint(leave.triggers):
            _write(state, {"used": leave.code})


def _leaves(state: str, now: float) -> dict[str, Leave]:
    leaves: dict[str, Leave] = {}
    for entry in _entries(files.read_end(_path(state), MOST_BYTES)):
        code = str(entry.get("offer") or entry.get("grant") or entry.get("used"))
        until = entry.get("until")
        triggers = entry.get("triggers")
        if "offer" in entry and isinstance(until, (int, float)) and isinstance(triggers, list):
            triggers = tuple(map(str, triggers))
            leaves[code] = Leave(code=code, conversation=str(entry.get("conversation")), triggers=triggers, until=until)
        elif "grant" in entry and code in leaves and isinstance(until, (int, float)):
            leaves[code] = leaves[code].but(given=str(entry.get("scope")), until=until)
        elif "used" in entry:
            leaves.pop(code, None)
    return {code: leave for code, leave in leaves.items() if leave.until > now}


def _entries(content: bytes) -> Iterator[dict[str, object]]:
    for line in content.split(b"\n"):
        try:
            value = loads(line.decode("utf-8", "replace")) if line else None
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value
