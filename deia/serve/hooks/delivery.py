"""What came of a turn → what is said at this moment, what waits for a later one, and what the conversation remembers.

A host that carries context somewhere gets it at the next moment that does. At one that carries nothing but holds, only
what a trigger would have held or asked waits, and holds the next call. It decides nothing about triggers.
"""

from __future__ import annotations

import time

from deia.records import TYPE_CHECKING, Record
from deia.serve.hosts.delivery_form import Said, form_of, say
from deia.watch.memory.log import LogEntry, log_line, parse_entry, recall
from deia.watch.watcher import SILENCED, call_print

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deia.records import Injection, Turn
    from deia.serve.hooks.place import Place
    from deia.serve.hosts.event import Occasion
    from deia.watch.gate.artefact import Artefact
    from deia.watch.memory.log import FileLog, InMemoryLog
    from deia.watch.watcher import Watched

STOPPING = frozenset(("ask", "hold"))


class Delivery(Record):
    """What a host can carry now and otherwise, and what waits for it."""

    can: Mapping[str, str]  # form → when it reaches the model, at this moment
    carries: Mapping[str, Mapping[str, str]]  # the same for every moment
    hold: bool = True  # whether the settings let a call be held
    code: str = ""
    content: bytes = b""  # the conversation's log before this turn
    waiting: tuple[str, ...] = ()

    @property
    def has_context(self) -> bool:
        """Whether the host carries context at any moment."""
        return any("context" in forms for forms in self.carries.values())


def deliver(delivery: Delivery, log: FileLog | InMemoryLog, turn: Turn, watched: Watched) -> Said | None:
    """Give what to say now, and write down what waits, what was delivered and what was held in a question's place."""
    injection = watched.injection
    held = call_print(turn)
    asks = injection is not None and injection.action == "ask"
    repeated = asks and held in recall(delivery.content).held  # held once, in the place of a question
    hold = delivery.hold and not repeated
    stops = hold and bool(delivery.waiting) and "hold" in delivery.can and _concerns(delivery, watched)
    due = delivery.waiting if stops or "context" in delivery.can or _holds(delivery, watched, hold=hold) else ()
    said = say(delivery.can, injection, waiting=due, hold=hold, stops=stops, code=delivery.code)
    if said.hold and asks:
        log.append(log_line(LogEntry(aside=True, held=(held,))))
    if due:
        log.append(log_line(LogEntry(aside=True, delivered=len(due))))
    if injection and not said.reaches and _waits(delivery, watched):
        # Who was asked has heard it; the model gets its text with the result.
        stopping = [] if said.ask else [one.trigger for one in watched.firings if one.action in STOPPING]
        log.append(log_line(LogEntry(queued=(injection.text,), stopping=stopping)))
    return said


def _holds(delivery: Delivery, watched: Watched, *, hold: bool) -> bool:
    """Say whether this call is held anyway, so that what waits goes along."""
    injection = watched.injection
    return injection is not None and form_of(delivery.can, injection.action, hold=hold) == "hold"


def _concerns(delivery: Delivery, watched: Watched) -> bool:
    """Say whether what waits holds the call: at a host without context always, else where its own trigger is due.

    That trigger spoke before, so that memory keeps it silent now; but nobody has read it yet.
    """
    if not delivery.has_context:
        return True
    silent = {one.trigger for one in watched.verdicts if one.stage == "memory"}
    return bool(silent & _stopping(delivery))


def _stopping(delivery: Delivery) -> set[str]:
    """Give the triggers whose texts wait and would have stopped a call."""
    found: set[str] = set()
    for each in delivery.content.split(b"\n"):
        if each.startswith(b'{"queued"') and b'"stopping"' in each:
            found.update(parse_entry(each).stopping)
    return {name for name in found if any(f'trigger="{name}"' in text for text in delivery.waiting)}


def _waits(delivery: Delivery, watched: Watched) -> bool:
    """Say whether what was not said now will be: nothing but a hold interrupts at a host that knows only holds."""
    stopping = any(one.action in STOPPING for one in watched.firings)
    return delivery.has_context or (stopping and delivery.hold)


def record(place: Place, artefact: Artefact, occasion: Occasion, log: FileLog, watched: Watched) -> None:
    """Write what fired and what was silenced to the ledger, and into the conversation's log as which events."""
    telemetry = artefact.meta.settings["telemetry"]
    common = {"conversation": occasion.conversation}
    spent = {"response_time_ms": round((time.perf_counter() - place.began) * 1000, 2)}  # once a turn: it is the turn's
    injection: Injection | None = watched.injection
    events = {}
    for firing in watched.firings:
        held = firing.action == "hold" and occasion.moment == "before_tool" and artefact.meta.settings["hold"]
        documents = [reference.id for reference in firing.documents]
        fields = {
            **common, "trigger": firing.trigger, "because": firing.because, "docs": documents,
            "chars": len(injection.text) if injection else 0, "action": firing.action,
            "outcome": _outcome(firing.trigger, watched, held=held), **spent,
        }  # fmt: skip
        spent = {}
        events[firing.trigger] = place.spool("injection", fields, telemetry=telemetry)
    if any(events.values()):
        log.append(log_line(LogEntry(aside=True, logged=events)))
    for verdict in watched.verdicts:
        if verdict.stage in SILENCED or verdict.trigger in watched.passed:
            outcome = verdict.stage if verdict.stage in SILENCED else "passed"
            fields = {**common, "trigger": verdict.trigger, "outcome": outcome, **spent}
            place.spool("injection", fields, telemetry=telemetry)
            spent = {}


def _outcome(trigger: str, watched: Watched, *, held: bool) -> str:
    if trigger in watched.left_out:
        return "over_budget"
    return "held" if held else "shown"
