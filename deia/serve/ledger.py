"""Reading the ledger's last events, tolerantly: a broken line is counted and passed over, never fatal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from deia import files
from deia.fast_json import loads
from deia.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES = 64_000_000  # of one file, from its end


class Ledger(Record):
    """Events in the order in which they were written, and how many lines said nothing."""

    events: tuple[dict[str, Any], ...]
    broken: int


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
    ordered = sorted(found, key=_time)
    return Ledger(events=tuple(ordered[-last:] if last else ordered), broken=broken)


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
