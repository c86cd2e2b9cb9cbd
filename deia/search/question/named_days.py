"""Days that are named by when they are: `today`, `this-month`, `7d` ago."""

from __future__ import annotations

import time

from deia.durations import read_duration
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from deia.knowledge import Query

DAY = 86400


def in_days(query: Query, now: float) -> Query:
    """Return a query whose time frame is written as days, months or years."""
    return query.but(since=day_of(query.since, now), until=day_of(query.until, now))


def day_of(text: str, now: float) -> str:
    """Return the day, month or year that a name stands for; anything else is returned as it is."""
    today = time.localtime(now)
    known = {"today": "%Y-%m-%d", "this-month": "%Y-%m", "this-year": "%Y"}
    name = "-".join(text.lower().split())
    if name in known:
        return time.strftime(known[name], today)
    seconds = {"yesterday": DAY, "this-week": DAY * today.tm_wday}.get(name)
    if seconds is None:
        try:
            seconds = read_duration(text)
        except ValueError:
            return text
    return time.strftime("%Y-%m-%d", time.localtime(now - seconds))
