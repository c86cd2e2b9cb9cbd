"""Import older ledgers: files of JSON lines in any form that deia or its predecessors wrote.

Every line is redacted as today's events are, and gets an id made from its content, so that importing a file twice, or
again after it has grown, adds no duplicates. Broken lines are counted and skipped.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence

from deia import files, spool
from deia.errors import CommonsError
from deia.fast_json import Json, dumps, loads
from deia.ledger.segments import IMPORTED
from deia.records import Record

REQUIRED = ("ts", "timestamp", "query", "event", "injection", "trigger", "doc")  # an event has at least one of these
RENAMED = {
    "timestamp": "ts",
    "time": "ts",
    "agent_id": "agent",
    "session": "conversation",
    "session_id": "conversation",
}
EVENTS = {"proactive_injection": "injection", "index_update": "index"}


class Imported(Record):
    """The result of importing one file: how many events were new, already known, or broken."""

    path: str
    taken: int
    known: int
    broken: int


def import_files(paths: Sequence[str], folder: str, *, telemetry: str, known: set[str]) -> list[Imported]:
    """Import files into the ledger in `folder`; the ids of new events are added to `known`.

    Raises:
        CommonsError: a file cannot be read, or the ledger cannot be written; nothing of that file was imported.
    """
    return [_import_file(path, folder, telemetry=telemetry, known=known) for path in paths]


def _import_file(path: str, folder: str, *, telemetry: str, known: set[str]) -> Imported:
    lines: dict[str, list[bytes]] = {}
    counts = {"taken": 0, "known": 0, "broken": 0}
    seen: dict[str, int] = {}
    try:
        for event in read_events(path):
            if event is None:
                counts["broken"] += 1
                continue
            identity = _identity(event, seen)
            counts["known" if identity in known else "taken"] += 1
            if identity not in known:
                known.add(identity)
                line = {"ts": event["ts"], "v": spool.VERSION, "event": event["event"], "id": identity}
                rest = {name: value for name, value in event.items() if name not in line}
                lines.setdefault(_month(str(event["ts"])), []).append(
                    spool.encoded({**line, **spool.kept(rest, telemetry)})
                )
    except OSError as error:
        raise CommonsError(f"{path} cannot be read: {error.strerror}", fix="Name a file of JSON lines.") from error
    _write(folder, path, lines)
    return Imported(path=path, **counts)


def read_events(path: str) -> Iterator[dict[str, Json] | None]:
    """Yield the events of a file in today's form, and None for each line that is no event.

    Raises:
        OSError: the file cannot be read.
    """
    with open(path, "rb") as file:
        for raw in file:
            text = raw.decode("utf-8", "replace").strip("\ufeff\0 \t\r\n")
            if text:
                yield _event(text)


def _event(text: str) -> dict[str, Json] | None:
    try:
        value = loads(text)
    except ValueError:
        return None
    if not isinstance(value, dict) or not any(name in value for name in REQUIRED):
        return None
    return modernise(value)


def modernise(value: Mapping[str, Json]) -> dict[str, Json]:
    """Return an event of any known form in today's form: its kind, field names, and documents as a list of ids."""
    event: dict[str, Json] = {RENAMED.get(name, name): item for name, item in value.items() if item is not None}
    injection = event.pop("injection", None) if not isinstance(event.get("injection"), dict) else None
    kind = event.get("event")
    if not isinstance(kind, str) or not kind:
        kind = "injection" if injection is not None or ("trigger" in event and "query" not in event) else "query"
        kind = "read" if "doc" in event and not {"query", "trigger"} & set(event) and injection is None else kind
    event["event"] = EVENTS.get(kind, kind)
    if event["event"] == "injection":
        event.setdefault("outcome", "shown")
        if isinstance(injection, str):
            event.setdefault("trigger", injection)
        if "doc" in event:
            event.setdefault("docs", [event.pop("doc")])
    results = event.pop("results", None) if isinstance(event.get("results"), list) else None
    docs = event.get("docs", results)
    if docs is not None:
        event["docs"] = [_document(item) for item in (docs if isinstance(docs, list) else [docs])]
    if "matched" not in event and event["event"] == "query" and docs is not None:
        event["matched"] = bool(docs)
    event["ts"] = _time(event.get("ts"))
    return event


def _document(value: Json) -> str:
    """Return the id of a document that was written as text or as an object."""
    identity = value.get("id") or value.get("path") or "" if isinstance(value, dict) else value
    return identity if isinstance(identity, str) else dumps(identity)


def _time(value: Json) -> str:
    """Return a time as the ledger writes it; numbers are seconds or milliseconds since 1970."""
    if isinstance(value, (int, float)) and 0 < value < 1e14:
        return spool.timestamp(value / 1000 if value > 1e11 else value)
    return value if isinstance(value, str) else ""


def _month(when: str) -> str:
    month = when[:7]
    is_valid = len(month) == 7 and month[4] == "-" and month.replace("-", "").isdecimal() and month.isascii()
    return month if is_valid else "1970-01"


def _identity(event: Mapping[str, Json], seen: dict[str, int]) -> str:
    """Return the id of an event, or one made from its content and its number of earlier copies in the same file."""
    if isinstance(event.get("id"), str) and event.get("v") == spool.VERSION:
        return str(event["id"])
    digest = hashlib.sha256(dumps(dict(event)).encode()).hexdigest()[:16]
    seen[digest] = seen.get(digest, 0) + 1
    return f"import-{digest}-{seen[digest]}"


def _write(folder: str, path: str, lines: Mapping[str, list[bytes]]) -> None:
    """Write a segment for each month, completely or not at all."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    for month, month_lines in lines.items():
        content = b"".join(month_lines)
        mark = hashlib.sha256(content).hexdigest()[:12]
        try:
            files.replace(f"{folder}/{month}-01{IMPORTED}{mark}.jsonl", content)
        except OSError as error:
            raise CommonsError(f"{folder} cannot be written: {error.strerror}", where=path) from error
