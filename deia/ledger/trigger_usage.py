"""What the ledger says about each trigger: how often it fired, was held, passed, muted or over the budget, and when.

Pure: events come in, counts go out. Refuses to judge whether a firing was of use; that is for feedback to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from deia.records import Record

OUTCOMES = ("shown", "held", "passed", "muted", "over_budget")
FIRED = ("shown", "held")  # outcomes in which the lesson reached somebody
EVENTS = ("injection", "proactive_injection")  # the second in older ledgers


class Usage(Record):
    """What one trigger did."""

    trigger: str
    fired: int = 0
    held: int = 0
    passed: int = 0
    muted: int = 0
    over_budget: int = 0
    conversations: int = 0
    last: str = ""  # when anything of this happened last, as the ledger writes it


def count_usage(events: Iterable[Mapping[str, Any]]) -> list[Usage]:
    """Give what each trigger did, those that fired most first; events about no trigger are passed over."""
    found: dict[str, dict[str, Any]] = {}
    for event in events:
        trigger = event.get("trigger")
        if not isinstance(trigger, str) or not trigger or not _counts(event):
            continue
        row = found.setdefault(trigger, {"conversations": set(), "last": "", **dict.fromkeys(OUTCOMES, 0)})
        outcome = "muted" if event.get("outcome") == "quiet" else event.get("outcome", "shown")
        row[outcome if outcome in OUTCOMES else "shown"] += 1
        row["conversations"].add(str(event.get("conversation", event.get("session", ""))))
        row["last"] = max(row["last"], str(event.get("ts", "")))
    return sorted((_usage(trigger, row) for trigger, row in found.items()), key=_order)


def _counts(event: Mapping[str, Any]) -> bool:
    return event.get("event") in EVENTS or ("event" not in event and "injection" in event)


def _usage(trigger: str, row: Mapping[str, Any]) -> Usage:
    return Usage(
        trigger=trigger,
        fired=sum(row[outcome] for outcome in FIRED),
        held=row["held"],
        passed=row["passed"],
        muted=row["muted"],
        over_budget=row["over_budget"],
        conversations=len(row["conversations"]),
        last=row["last"],
    )


def _order(usage: Usage) -> tuple[int, str]:
    return -usage.fired, usage.trigger
