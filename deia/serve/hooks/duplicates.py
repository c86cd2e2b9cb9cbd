"""Recognises an event that arrives twice, because its host also runs another host's hooks (Cursor and Copilot do).

The first process to claim an event in the log judges it, and the others say nothing. If the same call is made again, it
has another id or comes later, so it is not taken for a second copy.
"""

from __future__ import annotations

from deia import files
from deia.fast_json import loads
from deia.records import Record, Turn
from deia.watch.memory.log import RESET, FileLog, fingerprint, log_line
from deia.watch.memory.recall import InMemoryLog
from deia.watch.turn.tool_call import command_of, strings

# The most seconds between two copies of an event. A model repeats a call only after it has read the answer to the
# first, which takes longer; on Windows a hook takes up to 1.3 s to start (HOSTS.md A5), and a host may start them
# one after the other.
WINDOW = 3.0
CLAIM = b'{"aside":true,"once":'  # how the line of a claim begins
PROMPT = "prompt"  # the moment at which something new begins


class EventClaim(Record):
    """The line by which a process claims an event, so that no other process judges it too."""

    aside: bool = True
    once: str  # the moment of the event
    mark: str  # the host's own id for the event, "" if it sent none
    print: str  # the turn's fingerprint
    at: float  # seconds since the epoch
    claim: str  # the process


def is_first(log: FileLog | InMemoryLog, moment: str, mark: str, turn: Turn, *, now: float) -> bool:
    """Claim an event for this process; return whether no other process claimed it before."""
    claim = f"{files.process():x}.{int(now * 1_000_000):x}"
    entry = EventClaim(once=moment, mark=mark, print=_print(turn), at=now, claim=claim)
    log.append(log_line(entry))
    alike = [other for other in _claims(log.read(), entry) if _is_same(other, entry)]
    return not alike or alike[0].claim == claim


def _print(turn: Turn) -> str:
    """Return a fingerprint of a turn that does not depend on the host's names of its tools."""
    text = command_of(turn) if turn.role == "tool_call" else turn.text
    return f"{turn.role} {fingerprint(text or ' '.join(strings(turn.tool_input or {}))):x}"


def _claims(log: bytes, entry: EventClaim) -> list[EventClaim]:
    """Return the claims since the last reset or other prompt."""
    claims: list[EventClaim] = []
    for line in log.split(b"\n"):
        if line.startswith(b'{"event"') and RESET.encode() in line:
            claims = []
        if not line.startswith(CLAIM):
            continue
        claim = _parse_claim(line)
        if claim is None:
            continue
        if claim.once == PROMPT and claim.print != entry.print:
            claims = []
        claims.append(claim)
    return claims


def _parse_claim(line: bytes) -> EventClaim | None:
    """Return the claim that a line holds, or None if it is malformed."""
    try:
        value = loads(line.decode("ascii", "replace"))
    except ValueError:
        return None
    at = value.get("at")
    if not isinstance(at, (int, float)):
        return None
    once, mark, turn_print, claim = (str(value.get(name) or "") for name in ("once", "mark", "print", "claim"))
    return EventClaim(once=once, mark=mark, print=turn_print, at=at, claim=claim)


def _is_same(first: EventClaim, second: EventClaim) -> bool:
    if abs(second.at - first.at) > WINDOW:
        return False
    marks = {first.mark, second.mark}
    same_mark = len(marks) == 1 or "" in marks  # one of the two hosts may not send it
    return same_mark and (first.once, first.print) == (second.once, second.print)
