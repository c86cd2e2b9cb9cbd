"""Counts of what each trigger did: how often it fired, was held, passed, muted or over the budget, and when last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from deia.fast_json import Json
from deia.records import Record

OUTCOMES = ("shown", "held", "passed", "muted", "over_budget")
FIRED = ("shown", "held")  # outcomes in which the document reached somebody
EVENTS = ("injection", "proactive_injection")  # the second occurs in older ledgers


class Usage(Record):
    """What one trigger did."""

    trigger: str
    fired: int = 0
    held: int = 0
    passed: int = 0
    muted: int = 0
    over_budget: int = 0
    conversations: int = 0
    last: str = ""  # when any of this last happened, as the ledger writes it


def count_usage(events: Iterable[Mapping[str, Json]]) -> list[Usage]:
    """Return what each trigger did, the most frequently fired first; events about no trigger are skipped."""
    by_trigger: dict[str, list[Mapping[str, Json]]] = {}
    for event in events:
        trigger = event.get("trigger")
        if isinstance(trigger, str) and trigger and _is_injection(event):
            by_trigger.setdefault(trigger, []).append(event)
    return sorted((_usage(trigger, group) for trigger, group in by_trigger.items()), key=_order)


def _is_injection(event: Mapping[str, Json]) -> bool:
    return event.get("event") in EVENTS or ("event" not in event and "injection" in event)


def _outcome(event: Mapping[str, Json]) -> str:
    outcome = event.get("outcome", "shown")
    if outcome == "quiet":
        return "muted"
    return outcome if isinstance(outcome, str) and outcome in OUTCOMES else "shown"


def _usage(trigger: str, events: Sequence[Mapping[str, Json]]) -> Usage:
    outcomes = Counter(_outcome(event) for event in events)
    return Usage(
        trigger=trigger,
        fired=sum(outcomes[outcome] for outcome in FIRED),
        held=outcomes["held"],
        passed=outcomes["passed"],
        muted=outcomes["muted"],
        over_budget=outcomes["over_budget"],
        conversations=len({str(event.get("conversation", event.get("session", ""))) for event in events}),
        last=max(str(event.get("ts", "")) for event in events),
    )


def _order(usage: Usage) -> tuple[int, str]:
    return -usage.fired, usage.trigger
