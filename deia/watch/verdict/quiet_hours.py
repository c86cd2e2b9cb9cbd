"""Quiet hours, and how much a conversation hears in an hour: what waits for another time, and why.

Both are a project's settings and count for what is less urgent than something; a trigger that waits is not remembered
as having spoken, so that it speaks when it comes up again. Imported only where one of them is set.
"""

from __future__ import annotations

import time

from deia.records import TYPE_CHECKING, URGENCIES
from deia.settings import DAYS, hours_of
from deia.watch.verdict.escalation import numbers_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from deia.records import Firing
    from deia.watch.gate.artefact import Artefact
    from deia.watch.memory.log import Memory
    from deia.watch.verdict.judge import Verdict

STAGE = "quiet"
BELOW = "critical"
MILD = ("medium", "low")  # what `most_per_hour` counts
HOUR = 3600.0
DAY = 24 * 60  # minutes


def hushed(verdicts: Sequence[Verdict], artefact: Artefact, memory: Memory, now: float) -> tuple[Verdict, ...]:
    """Give verdicts of which those that must wait do not fire; `now` is in seconds since the epoch, 0 where unknown."""
    settings = artefact.meta["settings"]
    hours: Mapping[str, Any] = settings.get("quiet") or {}
    most: int = settings.get("most_per_hour") or 0
    if not now or not any(one.firing for one in verdicts):
        return tuple(verdicts)
    is_quiet = is_within(hours, now)
    left = most - _heard(artefact, memory, now) if most else len(verdicts)
    given = []
    for verdict in verdicts:
        firing: Firing | None = verdict.firing
        why = ""
        if firing is not None and is_quiet and _is_below(firing.urgency, str(hours.get("below", BELOW))):
            why = f"quiet hours ({hours['hours']})"
        elif firing is not None and firing.urgency in MILD:
            why = "" if left > 0 else f"{most} of medium or low urgency spoke within the hour"
            left -= 1
        given.append(verdict.but(stage=STAGE, detail=why, firing=None) if why else verdict)
    return tuple(given)


def _is_below(urgency: str, other: str) -> bool:
    return URGENCIES.index(urgency) > (URGENCIES.index(other) if other in URGENCIES else 0)


def is_within(quiet: Mapping[str, Any], now: float) -> bool:
    """Say whether a time lies in the quiet hours, by the clock of this machine; the days are those they begin on."""
    span = hours_of(quiet.get("hours"))
    if span is None:
        return False
    begin, end = span
    local = time.localtime(now)
    minute, days = local.tm_hour * 60 + local.tm_min, quiet.get("days") or DAYS
    today, yesterday = DAYS[local.tm_wday] in days, DAYS[local.tm_wday - 1] in days
    if begin < end:
        return today and begin <= minute < end
    return (today and begin <= minute < DAY) or (yesterday and minute < end)


def _heard(artefact: Artefact, memory: Memory, now: float) -> int:
    """Count the triggers of little urgency that spoke in this conversation within the hour."""
    lately = {trigger for trigger, (when, _) in memory.fired.items() if now - when < HOUR}
    return sum(artefact.trigger(number)["urgency"] in MILD for number in numbers_of(artefact, sorted(lately)))
