"""Decides what is said about a judged turn now and what waits, and writes both to the log and the ledger.

If a host carries context at some moment, a text waits for the next such moment. If it carries only holds, the texts of
triggers that hold or ask wait for a call that does what they are about.
"""

from __future__ import annotations

import time

from deia.firing import Injection
from deia.records import STOPPING, TYPE_CHECKING, Record, Turn
from deia.serve.hosts.delivery_form import Said, form_of, say, with_trouble
from deia.watch.memory.log import FileLog, LogEntry, log_line
from deia.watch.memory.recall import InMemoryLog, parse_entry, recall
from deia.watch.turn.call_print import call_print
from deia.watch.watcher import SILENCED, Watched

if TYPE_CHECKING:
    from deia.fast_json import Json
    from deia.serve.hooks.place import Place
    from deia.serve.hosts.event import Carries, Forms, Occasion
    from deia.watch.gate.artefact import Artefact

FORGETS = (
    "no folder can be written, so this call was not stopped: it could not have been let through when made again."
    " Make room on the disk, or see which folders it is: deia doctor"
)


class Delivery(Record):
    """What a host can carry now and later, and what waits for it."""

    can: Forms  # at this moment
    carries: Carries  # at every moment
    hold: bool = True  # whether the settings allow calls to be held
    code: str = ""  # the code by which the person lets the call pass
    content: bytes = b""  # the conversation's log before this turn
    waiting: tuple[str, ...] = ()  # texts that no earlier moment could carry

    @property
    def has_context(self) -> bool:
        """Whether the host carries context at any moment."""
        return any("context" in forms for forms in self.carries.values())


def deliver(delivery: Delivery, log: FileLog | InMemoryLog, turn: Turn, watched: Watched) -> Said | None:
    """Return what to say now; log what waits and what was delivered."""
    injection = watched.injection
    if log.is_lost:
        return _unremembered(delivery, injection)
    call = call_print(turn)
    asks = injection is not None and injection.action == "ask"
    repeated = asks and call in recall(delivery.content).held  # it was held before, in place of a question
    hold = delivery.hold and not repeated
    stops = hold and bool(delivery.waiting) and "hold" in delivery.can and _concerns(delivery, watched)
    due = delivery.waiting if stops or "context" in delivery.can or _holds(delivery, watched, hold=hold) else ()
    message = say(delivery.can, injection, waiting=due, hold=hold, stops=stops, code=delivery.code)
    if due:
        log.append(log_line(LogEntry(aside=True, delivered=len(due))))
    # At a host without context, an unsaid text is kept for later only if it may hold a call.
    if injection and not message.reaches and (delivery.has_context or (delivery.hold and _stopping_now(watched))):
        # If the person was asked, no later call needs to be held; the model gets the text with the result.
        stopping = () if message.ask else _stopping_now(watched)
        log.append(log_line(LogEntry(queued=(injection.text,), stopping=stopping)))
    return message


def _unremembered(delivery: Delivery, injection: Injection | None) -> Said:
    """Return what to say if nothing can be remembered: a hold becomes a question, or it would stop every repeat.

    At a host without questions it becomes context, and the person is told why nothing was stopped.
    """
    if injection is not None and injection.action == "hold":
        injection = injection.but(action="ask")
    message = say(delivery.can, injection, waiting=delivery.waiting if "context" in delivery.can else (), hold=False)
    return with_trouble(delivery.can, message, FORGETS) if injection and injection.action == "ask" else message


def _holds(delivery: Delivery, watched: Watched, *, hold: bool) -> bool:
    """Return whether this call is held anyway, so that waiting texts can be shown with the hold."""
    injection = watched.injection
    return injection is not None and form_of(delivery.can, injection.action, hold=hold) == "hold"


def _concerns(delivery: Delivery, watched: Watched) -> bool:
    """Return whether a waiting text holds the call, because its trigger matches."""
    # Such a trigger fired before, so its cooldown silences it now; but nobody has read its text yet.
    silent = {verdict.trigger for verdict in watched.verdicts if verdict.stage == "memory"}
    return bool(silent & _stopping(delivery))


def _stopping_now(watched: Watched) -> tuple[str, ...]:
    """Return the triggers that stop a call, or would stop one that does what this turn speaks of."""
    acting = [firing.trigger for firing in watched.firings if firing.action in STOPPING]
    return (*acting, *watched.spoken)


def _stopping(delivery: Delivery) -> set[str]:
    """Return the triggers whose texts wait and would have stopped a call."""
    stopping: set[str] = set()
    for line in delivery.content.split(b"\n"):
        if line.startswith(b'{"queued"') and b'"stopping"' in line:
            stopping.update(parse_entry(line).stopping)
    return {trigger for trigger in stopping if any(f'trigger="{trigger}"' in text for text in delivery.waiting)}


def record(place: Place, artefact: Artefact, occasion: Occasion, log: FileLog, watched: Watched) -> None:
    """Write what fired and what was silenced to the ledger, and the ids of those events to the conversation's log."""
    telemetry = artefact.meta.settings["telemetry"]
    common = {"conversation": occasion.conversation}
    # The time is the turn's, so only the first event of the turn has it.
    timing = {"response_time_ms": round((time.perf_counter() - place.began) * 1000, 2)}
    chars = len(watched.injection.text) if watched.injection else 0
    may_hold = occasion.moment == "before_tool" and artefact.meta.settings["hold"] and not log.is_lost
    events = {}
    fields: dict[str, Json]
    for firing in watched.firings:
        held = firing.action == "hold" and may_hold
        documents = [reference.id for reference in firing.documents]
        fields = {
            **common, "trigger": firing.trigger, "because": firing.because, "docs": documents,
            "chars": chars, "action": firing.action,
            "outcome": _outcome(firing.trigger, watched, held=held), **timing,
        }  # fmt: skip
        timing = {}
        events[firing.trigger] = place.spool("injection", fields, telemetry=telemetry)
    if any(events.values()):
        log.append(log_line(LogEntry(aside=True, logged=events)))
    for verdict in watched.verdicts:
        if verdict.stage in SILENCED or verdict.trigger in watched.passed:
            outcome = verdict.stage if verdict.stage in SILENCED else "passed"
            fields = {**common, "trigger": verdict.trigger, "outcome": outcome, **timing}
            place.spool("injection", fields, telemetry=telemetry)
            timing = {}


def _outcome(trigger: str, watched: Watched, *, held: bool) -> str:
    if trigger in watched.left_out:
        return "over_budget"
    return "held" if held else "shown"
