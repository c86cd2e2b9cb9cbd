"""The filters for the library: the type of an asset, a collection, and a time, which may be a name such as `today`."""

from __future__ import annotations

import time

from deia.durations import read_duration
from deia.errors import QueryError
from deia.folders import LIBRARY_PREFIX
from deia.match.keyword import ALSO, NOT
from deia.records import TYPE_CHECKING
from deia.search.question import dates
from deia.suggestions import nearest

if TYPE_CHECKING:
    from deia.knowledge import Query
    from deia.match.keyword import Filters, Wanted
    from deia.search.catalog import Catalog


# The names of asset types, besides the types themselves. Text is everything else, lessons included.
NO_TEXT = ("code", "pdf", "image")
MULTIMODAL = ("pdf", "image", "office")
TEXTS = ("markdown", "json", "yaml", "xml", "html", "office", "email", "log", "notebook")
KNOWN = ("text", *NO_TEXT, "multimodal", *TEXTS)
# The question and its layer may also set filters on these fields; all of them have to be met.
TYPE, PATH, UPDATED = f"{ALSO}type", f"{ALSO}{ALSO}path", f"{ALSO}updated"


TIMES = "Write it as 2026, 2026-01 or 2026-01-31, or as 7d, today, yesterday, this-week, this-month or this-year."


def library_filters(catalog: Catalog, query: Query) -> Filters:
    """Return the library's filters of a query; raise QueryError if a value is unknown, or is no date."""
    filters: dict[str, Wanted] = {}
    if query.asset_type:
        name, wanted = _assets(query.asset_type)
        filters[name] = wanted
    if query.collection:
        filters[PATH] = _places(catalog, query.collection)
    if query.since or query.until:
        first, last = _day(query.since or "1", "since"), _day(query.until or "9999", "until")
        if last.stop <= first.start:
            problem = f"since {query.since!r} is after until {query.until!r}, so there is no day between them."
            raise QueryError(problem, fix=f"Exchange the two: since {query.until} and until {query.since}.")
        filters[UPDATED] = range(first.start, last.stop)
    return filters


def _places(catalog: Catalog, collections: str) -> tuple[str, ...]:
    """Return the paths of collections, whose names are separated by commas."""
    names = collection_names(collections) or [collections]
    places = {name: f"{LIBRARY_PREFIX}{name}" for name in names}
    for name, place in places.items():
        if not catalog.keyword.has("path", place):
            raise QueryError(f"there is no collection {name!r}.", fix="To see them, type: deia source list")
    return tuple(places.values())


def collection_names(text: str) -> list[str]:
    """Return the comma-separated names of collections, or of folders in them."""
    return [name.strip().removeprefix(LIBRARY_PREFIX).rstrip("/") for name in text.split(",") if name.strip()]


def _assets(name: str) -> tuple[str, tuple[str, ...]]:
    if name not in KNOWN:
        raise QueryError(f"there is no asset type {name!r}.", fix=nearest(name, KNOWN))
    return (f"{NOT}{TYPE}", NO_TEXT) if name == "text" else (TYPE, MULTIMODAL if name == "multimodal" else (name,))


def _day(text: str, name: str) -> range:
    day = range(1, 2) if text == "1" else dates.days(text)
    if day is None:
        raise QueryError(f"{name} {text!r} is not a date.", fix=TIMES)
    return day


DAY = 86400


def in_days(query: Query, now: float) -> Query:
    """Return a query whose time frame is written as days, months or years."""
    return query.but(since=day_of(query.since, now), until=day_of(query.until, now, is_last=True))


def day_of(text: str, now: float, *, is_last: bool = False) -> str:
    """Return the day, month or year that a name stands for; anything else is returned as it is.

    A week stands for its Monday, or with `is_last` for its Sunday.
    """
    today = time.localtime(now)
    known = {"today": "%Y-%m-%d", "this-month": "%Y-%m", "this-year": "%Y"}
    name = "-".join(text.lower().split())
    if name in known:
        return time.strftime(known[name], today)
    seconds = {"yesterday": DAY, "this-week": DAY * (today.tm_wday - (6 if is_last else 0))}.get(name)
    if seconds is None:
        try:
            seconds = read_duration(text)
        except ValueError:
            return text
    return time.strftime("%Y-%m-%d", time.localtime(now - seconds))
