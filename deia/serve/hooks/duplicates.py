"""The same event arriving twice: a host that runs another's hooks besides its own (Cursor and Copilot run Claude's).

The first to write down that it judges an event judges it, and the others pass in silence. What is no more than alike,
the same call made again, has an id of its own, or comes later.
"""

from __future__ import annotations

from deia import files
from deia.fast_json import loads
from deia.records import TYPE_CHECKING, Record
from deia.watch.memory.log import RESET, fingerprint, log_line
from deia.watch.turn.tool_call import command_of, strings

if TYPE_CHECKING:
    from deia.records import Turn
    from deia.watch.memory.log import FileLog, InMemoryLog

# Seconds between two arrivals of one event. A model that makes a call again has read the answer to the first before,
# which takes it longer; on Windows a host starts a hook in up to 1.3 s (HOSTS.md A5), and may start them in turn.
WINDOW = 3.0
BEGINS = b'{"aside":true,"once":'


PROMPT = "prompt"  # a moment: whoever says something else begins anew


class EventClaim(Record):
    """The line by which a process claims an event, so that no other process judges it too."""

    aside: bool = True
    once: str  # the moment of the event
    mark: str  # the host's own id for the event, "" if it sent none
    print: str  # the turn's fingerprint
    at: float  # seconds since the epoch
    claim: str  # the process


def is_first(log: FileLog | InMemoryLog, moment: str, mark: str, turn: Turn, *, now: float) -> bool:
    """Say whether nobody judges this event yet, and note down that it is judged from here on."""
    claim = f"{files.process():x}.{int(now * 1_000_000):x}"
    entry = EventClaim(once=moment, mark=mark, print=_print(turn), at=now, claim=claim)
    log.append(log_line(entry))
    alike = [other for other in _claims(log.read(), entry) if _is_same(other, entry)]
    return not alike or alike[0].claim == claim


def _print(turn: Turn) -> str:
    """Tell a turn from another, whatever a host calls its tools."""
    said = command_of(turn) if turn.role == "tool_call" else turn.text
    return f"{turn.role} {fingerprint(said or ' '.join(strings(turn.tool_input or {}))):x}"


def _claims(log: bytes, entry: EventClaim) -> list[EventClaim]:
    """Give who claimed which event since the last reset or other prompt."""
    claims: list[EventClaim] = []
    for each in log.split(b"\n"):
        if each.startswith(b'{"event"') and RESET.encode() in each:
            claims = []
        if not each.startswith(BEGINS):
            continue
        claim = _parse_claim(each)
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
    same_mark = len(marks) == 1 or "" in marks  # one of the two hosts may not have sent it
    return same_mark and (first.once, first.print) == (second.once, second.print)
