"""A person's leave: a code that was shown with a stopped call lets its triggers pass, once or for the conversation.

Codes are random, belong to one conversation and run out. They are kept in the person's own folder, append-only. Refuses
the agent's word: leave is given in a terminal, and a tool call that would give it, or mute something, is told apart.
What an agent writes into that folder by other means nobody can tell from the person's doing: it has the same rights.
"""

from __future__ import annotations

from deia import files
from deia.fast_json import dumps, loads
from deia.folders import LEAVES
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from deia.records import Turn

LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # 32; without those that are read as another
CODE_LENGTH = 6
OFFERED = 1800.0  # seconds for which a code can be used
WHOLE = 86_400.0  # seconds for which leave for a conversation lasts
MOST_BYTES = 65_536  # of the file, from its end: some hundred codes
GRANTS = frozenset(("allow", "mute"))
HARMLESS = ("--list", "--help", "--off", "--remove")


class Leave(Record):
    """What a code stands for, and how far it was given."""

    code: str
    conversation: str
    triggers: tuple[str, ...]
    until: float
    given: str = ""  # "", once, conversation


def _path(state: str) -> str:
    return f"{state}/{LEAVES}"


def _write(state: str, entry: dict[str, Any]) -> bool:
    return files.append(_path(state), b"\n" + dumps(entry).encode() + b"\n")


def offer(state: str, conversation: str, triggers: Collection[str], *, now: float) -> str:
    """Make a code for what was just stopped; "" where it cannot be remembered."""
    code = "".join(LETTERS[byte % len(LETTERS)] for byte in files.system.urandom(CODE_LENGTH))
    entry = {"offer": code, "conversation": conversation, "triggers": list(triggers), "until": now + OFFERED}
    return code if _write(state, entry) else ""


def offered(state: str, code: str, *, now: float) -> Leave | None:
    """Give what a code that can still be used stands for."""
    return _leaves(state, now).get(code.strip().upper())


def grant(state: str, code: str, *, now: float, whole: bool = False) -> Leave | None:
    """Give leave for a code; None where it is unknown, has run out, or was used up."""
    leave = offered(state, code, now=now)
    if leave is None:
        return None
    until = now + WHOLE if whole else leave.until
    given = leave.but(given="conversation" if whole else "once", until=until)
    entry = {"grant": given.code, "scope": given.given, "until": until}
    return given if _write(state, entry) else None


def allowed(state: str, conversation: str, *, now: float) -> tuple[Leave, ...]:
    """Give the leaves in force for a conversation."""
    leaves = _leaves(state, now).values()
    return tuple(leave for leave in leaves if leave.given and leave.conversation == conversation)


def spend(state: str, leaves: Collection[Leave], passed: Collection[str]) -> None:
    """Use up what was given once and let something pass."""
    for leave in leaves:
        if leave.given == "once" and not set(passed).isdisjoint(leave.triggers):
            _write(state, {"used": leave.code})


def _leaves(state: str, now: float) -> dict[str, Leave]:
    found: dict[str, Leave] = {}
    for entry in _entries((files.read(_path(state)) or b"")[-MOST_BYTES:]):
        code = str(entry.get("offer") or entry.get("grant") or entry.get("used"))
        until = entry.get("until")
        if "offer" in entry and isinstance(until, (int, float)) and isinstance(entry.get("triggers"), list):
            triggers = tuple(str(trigger) for trigger in entry["triggers"])
            found[code] = Leave(code=code, conversation=str(entry.get("conversation")), triggers=triggers, until=until)
        elif "grant" in entry and code in found and isinstance(until, (int, float)):
            found[code] = found[code].but(given=str(entry.get("scope")), until=until)
        elif "used" in entry:
            found.pop(code, None)
    return {code: leave for code, leave in found.items() if leave.until > now}


def _entries(content: bytes) -> Iterator[dict[str, Any]]:
    for line in content.split(b"\n"):
        try:
            value = loads(line.decode("utf-8", "replace")) if line else None
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


# --- whose word it is ---


def speaks_for_the_person(turn: Turn) -> str:
    """Give the command of deia with which a tool call would silence it (`allow`, `mute`), or the empty text."""
    from deia.watch.turn.parsed_turn import Reading  # noqa: PLC0415 - a quiet turn parses no command

    for spoken in Reading(turn).commands:
        command = spoken.command
        arguments = list(command.arguments)
        if command.program.startswith("python") and any(name.startswith("deia") for name in arguments):
            arguments = arguments[next(at for at, name in enumerate(arguments) if name.startswith("deia")) + 1 :]
        elif command.program.removesuffix(".exe") != "deia":
            continue
        if arguments[:1] == ["--commons"]:
            del arguments[:2]
        word = next((name for name in arguments if not name.startswith("-")), "")
        if word in GRANTS and not any(option in arguments for option in HARMLESS):
            return word
    return ""
