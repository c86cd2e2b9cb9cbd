"""Reading the ledger's last events, tolerantly: a broken line is counted and passed over, never fatal."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from deia import files
from deia.errors import CommonsError
from deia.fast_json import loads
from deia.folders import events_folder
from deia.ledger.compaction import compact, is_due
from deia.ledger.segments import find_parts
from deia.ledger.warehouse import ask, read_through
from deia.records import Record
from deia.settings import resolve

if TYPE_CHECKING:
    import duckdb

MOST_BYTES = 64_000_000  # of one file, from its end


class Ledger(Record):
    """Events in the order in which they were written, and how many lines said nothing."""

    events: tuple[dict[str, Any], ...]
    broken: int


class Extent(Record):
    """How much a ledger holds, and what of it cannot be read."""

    events: int = 0
    bytes: int = 0
    oldest: str = ""  # days
    newest: str = ""
    torn: int = 0  # lines
    damaged: tuple[str, ...] = ()  # Parquet files


def extent_of(folder: str) -> Extent:
    """Measure a ledger.

    Raises:
        CommonsError: it cannot be read.
    """
    parts = find_parts([folder])
    if not parts.counting and not parts.damaged:
        return Extent()
    days = "SELECT count(*), strftime(min(ts), '%Y-%m-%d'), strftime(max(ts), '%Y-%m-%d'),"
    days += " (SELECT coalesce(sum(lines), 0)::BIGINT FROM damage) FROM events"
    events, oldest, newest, torn = read_through([folder], lambda connection: ask(connection, days))[0]
    return Extent(
        events=events, bytes=parts.size, oldest=oldest or "", newest=newest or "", torn=torn,
        damaged=tuple(part.name for part in parts.damaged),
    )  # fmt: skip


def read_ledger(folder: str, *, since: str = "", event: str = "", last: int = 0) -> Ledger:
    """Give the events of a kind since a time (as the ledger writes it, UTC), the `last` many of them if not 0."""
    found: list[dict[str, Any]] = []
    broken = 0
    for name in reversed(_days(folder, since)):
        day = []
        for value in _lines(f"{folder}/{name}"):
            if value is None:
                broken += 1
            elif _time(value) >= since and event in ("", value.get("event", "query")):
                day.append(value)
        found = [*day, *found]
        if last and len(found) >= last:
            break
    if (not last or len(found) < last) and find_parts([folder]).parquet:
        return read_through([folder], lambda connection: _packed(connection, since=since, event=event, last=last))
    ordered = sorted(found, key=_time)
    return Ledger(events=tuple(ordered[-last:] if last else ordered), broken=broken)


def _packed(connection: duckdb.DuckDBPyConnection, *, since: str, event: str, last: int) -> Ledger:
    """Read a ledger of which something was compacted."""
    chosen = "FROM events WHERE (ts >= try_cast(? AS TIMESTAMP) OR ? = '') AND ? IN ('', event)"
    newest = f"SELECT line {chosen} ORDER BY ts DESC NULLS LAST LIMIT {last or 'ALL'}"
    lines = [row[0] for row in ask(connection, newest, [since or None, since, event])]
    ((broken,),) = ask(connection, "SELECT coalesce(sum(lines), 0)::BIGINT FROM damage")
    return Ledger(events=tuple(loads(line) for line in reversed(lines)), broken=broken)


def tidy(root: str, *, environ: Mapping[str, str], now: float) -> str:
    """Compact a ledger if that is due; give what was done in words, or the empty text."""
    settings = resolve(root, environ=environ)
    bounds = {"days": settings.telemetry_days, "megabytes": settings.telemetry_mb}
    folder = events_folder(root, environ)
    if not is_due(folder, now=now, **bounds):
        return ""
    try:
        done = compact(folder, now=now, **bounds)
    except (CommonsError, OSError) as error:
        return f"The log could not be compacted: {error}"
    saved = f"{done.before:,} bytes before, {done.after:,} now"
    return "" if done.busy else f"The log was compacted: {saved}."


def _days(folder: str, since: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted(name for name in names if name.endswith(".jsonl") and name[:10] >= since[:10])


def _lines(path: str) -> Iterator[dict[str, Any] | None]:
    for line in (files.read(path) or b"")[-MOST_BYTES:].split(b"\n"):
        if not line.strip():
            continue
        try:
            value = loads(line.decode("utf-8", "replace"))
        except ValueError:
            value = None
        yield value if isinstance(value, dict) else None


def _time(event: dict[str, Any]) -> str:
    return str(event.get("ts", ""))
