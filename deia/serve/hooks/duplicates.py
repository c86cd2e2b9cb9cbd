"""The same event arriving twice: a host that runs another's hooks besides its own (Cursor and Copilot run Claude's).

The first to write down that it judges an event judges it, and the others pass in silence. What is no more than alike,
the same call made again, has an id of its own, or comes later.
"""

from __future__ import annotations

from deia import files
from deia.fast_json import loads
from deia.records import TYPE_CHECKING
from deia.watch.memory.log import RESET, fingerprint, line
from deia.watch.turn.tool_call import command_of, strings

if TYPE_CHECKING:
    from typing import Any

    from deia.records import Turn
    from deia.watch.memory.log import FileLog, HeldLog

# Seconds between two arrivals of one event. A model that makes a call again has read the answer to the first before,
# which takes it longer; on Windows a host starts a hook in up to 1.3 s (HOSTS.md A5), and may start them in turn.
WINDOW = 3.0
BEGINS = b'{"aside":true,"once":'


PROMPT = "prompt"  # a moment: whoever says something else begins anew


def is_first(log: FileLog | HeldLog, moment: str, mark: str, turn: Turn, *, now: float) -> bool:
    """Say whether nobody judges this event yet, and note down that it is judged from here on."""
    claim = f"{files.process():x}.{int(now * 1_000_000):x}"
    entry = {"aside": True, "once": moment, "mark": mark, "print": _print(turn), "at": now, "claim": claim}
    log.append(line(entry))
    alike = [one for one in _claims(log.read(), entry) if _is_same(one, entry)]
    return not alike or alike[0].get("claim") == claim


def _print(turn: Turn) -> str:
    """Tell a turn from another, whatever a host calls its tools."""
    said = command_of(turn) if turn.role == "tool_call" else turn.text
    return f"{turn.role} {fingerprint(said or ' '.join(strings(turn.tool_input or {}))):x}"


def _claims(log: bytes, entry: dict[str, Any]) -> list[dict[str, Any]]:
    """Give who claimed which event since the last reset or other prompt."""
    claims: list[dict[str, Any]] = []
    for each in log.split(b"\n"):
        if each.startswith(b'{"event"') and RESET.encode() in each:
            claims = []
        if not each.startswith(BEGINS):
            continue
        try:
            claim = loads(each.decode("ascii", "replace"))
        except ValueError:
            continue
        if claim.get("once") == PROMPT and claim.get("print") != entry["print"]:
            claims = []
        claims.append(claim)
    return claims


def _is_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    at = one.get("at")
    if not isinstance(at, (int, float)) or abs(other["at"] - at) > WINDOW:
        return False
    marks = {one.get("mark") or "", other["mark"] or ""}
    same_mark = len(marks) == 1 or "" in marks  # one of the two hosts may not have sent it
    return same_mark and (one.get("once"), one.get("print")) == (other["once"], other["print"])
