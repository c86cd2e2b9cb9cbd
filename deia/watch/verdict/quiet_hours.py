"""Quiet hours and the hourly limit: which lessons wait, and why.

Both are project settings and apply to less urgent lessons. A waiting trigger is not remembered as having fired, so it
fires when it comes up again. This module is imported only if one of the settings is used.
"""

from __future__ import annotations

import time

from deia.durations import hours_of
from deia.records import TYPE_CHECKING, UNTRUSTED, URGENCIES
from deia.settings import DAYS
from deia.watch.verdict.escalation import numbers_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deia.watch.gate.artefact import Artefact
    from deia.watch.memory.recall import Memory
    from deia.watch.verdict.judge import Verdict

    QuietHours = Mapping[str, str | Sequence[str]]  # the setting `quiet`: hours, below, days

STAGE = "quiet"
DEFAULT_BELOW = "critical"
MILD = ("medium", "low")  # the urgencies that `most_per_hour` counts
HOUR = 3600.0
DAY = 24 * 60  # minutes


def hushed(verdicts: Sequence[Verdict], artefact: Artefact, memory: Memory, now: float) -> tuple[Verdict, ...]:
    """Return the verdicts after waiting triggers were stopped; `now` is in seconds since the epoch, 0 if unknown."""
    settings = artefact.meta.settings
    hours: QuietHours = settings.get("quiet") or {}
    most: int = settings.get("most_per_hour") or 0
    if not now or not any(verdict.firing for verdict in verdicts):
        return tuple(verdicts)
    is_quiet, below = is_within(hours, now), str(hours.get("below", DEFAULT_BELOW))
    limit = URGENCIES.index(below) if below in URGENCIES else 0
    left = most - _fired_lately(artefact, memory, now) if most else len(verdicts)
    result = []
    for verdict in verdicts:
        firing = verdict.firing
        why = ""
        if firing is not None and is_quiet and URGENCIES.index(firing.urgency) > limit:
            why = f"quiet hours ({hours['hours']})"
        elif firing is not None and firing.urgency in MILD:
            why = "" if left > 0 else f"{most} of medium or low urgency spoke within the hour"
            left -= 1
        result.append(verdict.but(stage=STAGE, detail=why, firing=None) if why else verdict)
    return tuple(result)


def is_within(quiet: QuietHours, now: float) -> bool:
    """Return whether a time is in the quiet hours by this machine's clock; a span belongs to the day it begins on."""
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


def _fired_lately(artefact: Artefact, memory: Memory, now: float) -> int:
    lately = {trigger for trigger, (when, _) in memory.fired.items() if now - when < HOUR}
    triggers = map(artefact.trigger, numbers_of(artefact, sorted(lately)))
    return sum(trigger.urgency in MILD and trigger.origin != UNTRUSTED for trigger in triggers)
