"""Reads the ledger's last events; broken lines are counted and skipped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from heapq import nlargest
from io import BytesIO

from deia import files
from deia.fast_json import Json, loads
from deia.folders import events_folder
from deia.ledger.compaction import compact, is_due
from deia.ledger.segments import find_parts
from deia.ledger.warehouse import Connection, ask, read_through
from deia.ledger.warehouse_schema import EARLIEST, LATEST
from deia.problems import CommonsError
from deia.records import Record
from deia.settings import resolve

EARLIEST_SECONDS, LATEST_SECONDS = 0, 7_258_118_400  # EARLIEST and LATEST since 1970
TIME_BEGINS = tuple("+-0123456789")
MOST_BYTES = 64_000_000  # read from the end of a file
DEEPEST = 40  # levels of an event; those that deia writes have at most 8


class Ledger(Record):
    """Events in the order of time, and the number of lines that are not events."""

    events: tuple[dict[str, Json], ...]
    broken: int


class Extent(Record):
    """The size of a ledger, and its damage."""

    events: int = 0
    bytes: int = 0
    oldest: str = ""  # the first and the last day
    newest: str = ""
    torn: int = 0  # broken lines
    damaged: tuple[str, ...] = ()  # unreadable Parquet files


def seconds_of(event: Mapping[str, Json]) -> float:
    """Return an event's time in seconds since 1970, or 0 if it has none."""
    try:
        return datetime.fromisoformat(str(event.get("ts", ""))).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def extent_of(folder: str) -> Extent:
    """Return the size of a ledger; raise CommonsError if it cannot be read."""
    parts = find_parts([folder])
    if not parts.readable and not parts.damaged:
        return Extent()
    sql = "SELECT count(*), strftime(min(ts), '%Y-%m-%d'), strftime(max(ts), '%Y-%m-%d'),"
    sql += " (SELECT coalesce(sum(lines), 0)::BIGINT FROM damage) FROM events"
    events, oldest, newest, torn = read_through([folder], lambda connection: ask(connection, sql))[0]
    return Extent(
        events=events, bytes=parts.size, oldest=oldest or "", newest=newest or "", torn=torn,
        damaged=tuple(part.name for part in parts.damaged),
    )  # fmt: skip


def read_ledger(folder: str, *, since: str = "", event: str = "", last: int = 0) -> Ledger:
    """Return the events of a kind since a time (UTC, as the ledger writes it), or only the `last` ones of these."""
    events: list[dict[str, Json]] = []
    broken = 0
    for name in reversed(_days(folder, since)):
        day = _Day(f"{folder}/{name}")
        day_events = (
            value for value in day.events() if _time(value) >= since and event in ("", value.get("event", "query"))
        )
        events = [*(_newest(day_events, last) if last else day_events), *events]
        broken += day.broken
        if last and len(events) >= last:
            break
    if (not last or len(events) < last) and find_parts([folder]).parquet:
        return read_through([folder], lambda connection: _read_all(connection, since=since, event=event, last=last))
    ordered = sorted(events, key=_time)
    return Ledger(events=tuple(ordered[-last:] if last else ordered), broken=broken)


def _read_all(connection: Connection, *, since: str, event: str, last: int) -> Ledger:
    """Read a ledger that has Parquet files."""
    matching = "FROM events WHERE (ts >= try_cast(? AS TIMESTAMP) OR ? = '') AND ? IN ('', event)"
    newest = f"SELECT line {matching} ORDER BY ts DESC NULLS LAST LIMIT {last or 'ALL'}"
    lines = [row[0] for row in ask(connection, newest, [since or None, since, event])]
    ((broken,),) = ask(connection, "SELECT coalesce(sum(lines), 0)::BIGINT FROM damage")
    events = [_event(line.encode()) for line in reversed(lines)]
    return Ledger(events=tuple(event for event in events if event is not None), broken=broken + events.count(None))


def tidy(root: str, *, environ: Mapping[str, str], now: float) -> str:
    """Compact a ledger if that is due; return a message about it, or ""."""
    settings = resolve(root, environ=environ)
    limits = {"days": settings.telemetry_days, "megabytes": settings.telemetry_mb}
    folder = events_folder(root, environ)
    try:
        if not is_due(folder, now=now, **limits):
            return ""
        result = compact(folder, now=now, **limits)
    except (CommonsError, OSError) as error:
        return f"The log could not be compacted: {error}"
    sizes = f"{result.before:,} bytes before, {result.after:,} now"
    return "" if result.busy else f"The log was compacted: {sizes}."


def _days(folder: str, since: str) -> list[str]:
    return [name for name in files.names(folder) if name.endswith(".jsonl") and name[:10] >= since[:10]]


class _Day:
    """The segment of one day, read line by line, since anybody may have filled it."""

    __slots__ = ("_path", "broken")

    def __init__(self, path: str) -> None:
        self._path = path
        self.broken = 0  # lines so far that were not events

    def events(self) -> Iterator[dict[str, Json]]:
        """Yield the events."""
        for line in filter(bytes.strip, BytesIO(files.read_end(self._path, MOST_BYTES))):
            value = _event(line)
            if value is None:
                self.broken += 1
            else:
                yield value


class Follower:
    """Reads the events that are added to a ledger from now on."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._read = {name: self._size(name) for name in _days(folder, "")}  # bytes of each file that were read

    def _size(self, name: str) -> int:
        stamp = files.stamp(f"{self.folder}/{name}")
        return stamp[0] if stamp else 0

    def events(self) -> list[dict[str, Json]]:
        """Return the events that were added since the last call; a line that is half written is read later."""
        added: list[dict[str, Json]] = []
        for name in _days(self.folder, ""):
            begin, size = self._read.get(name, 0), self._size(name)
            data = files.read_end(f"{self.folder}/{name}", min(max(size - begin, 0), MOST_BYTES))
            if not data or self._size(name) != size:  # it grew meanwhile, so these are not the bytes after `begin`
                continue
            whole = data[: data.rfind(b"\n") + 1]
            self._read[name] = size - len(data) + len(whole)
            added += [event for event in map(_event, filter(bytes.strip, whole.split(b"\n"))) if event is not None]
        return sorted(added, key=_time)


def _event(line: bytes) -> dict[str, Json] | None:
    """Return the event that a line holds, or None if it is broken."""
    try:
        value = loads(line.decode("utf-8", "replace"))
    except ValueError:
        return None
    is_event = isinstance(value, dict) and is_plausible(value.get("ts")) and not _is_deep(value, DEEPEST)
    return value if is_event else None


def _is_deep(value: Json, left: int) -> bool:
    """Return whether a value is nested more deeply than `left` levels: nobody could print it."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return not left or any(_is_deep(item, left - 1) for item in inner if isinstance(item, dict | list))


def _newest(events: Iterable[dict[str, Json]], count: int) -> list[dict[str, Json]]:
    """Return the newest events in the order of time; of those with equal times, the ones that come last."""
    numbered = ((_time(event), number, event) for number, event in enumerate(events))
    return [event for _, _, event in reversed(nlargest(count, numbered))]


def is_plausible(ts: Json) -> bool:
    """Return whether a time, as text or in seconds, can come from deia's clock; events of older forms have none."""
    if isinstance(ts, str):
        if not ts.startswith(TIME_BEGINS):
            return True
        if ts[4:5] == "-":
            return EARLIEST[:4] <= ts[:4] < LATEST[:4]
        try:
            return EARLIEST_SECONDS <= float(ts) < LATEST_SECONDS
        except ValueError:
            return False
    if isinstance(ts, bool) or not isinstance(ts, int | float):
        return ts is None
    return EARLIEST_SECONDS <= ts < LATEST_SECONDS


def _time(event: Mapping[str, Json]) -> str:
    return str(event.get("ts", ""))
