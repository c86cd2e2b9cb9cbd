"""Taking older ledgers in: any file of JSON lines in one of the forms that deia or its forerunners wrote.

Every line is redacted like an event of today and gets an id of its own content, so that taking a file in twice, or
again when it has grown, adds nothing twice. A broken line is counted and passed over. Refuses files that are no text.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deia import files, spool
from deia.errors import CommonsError
from deia.fast_json import dumps, loads
from deia.ledger.segments import IMPORTED
from deia.records import Record

KNOWN = ("ts", "timestamp", "query", "event", "injection", "trigger", "doc")  # of which a line must have one
RENAMED = {
    "timestamp": "ts",
    "time": "ts",
    "agent_id": "agent",
    "session": "conversation",
    "session_id": "conversation",
}
EVENTS = {"proactive_injection": "injection", "index_update": "index"}


class Imported(Record):
    """What taking one file in came to."""

    path: str
    taken: int
    known: int  # were here already
    broken: int


def import_files(paths: Sequence[str], folder: str, *, telemetry: str, known: set[str]) -> list[Imported]:
    """Take files into the ledger in `folder`; `known` are the ids that it has, and gets those that are added.

    Raises:
        CommonsError: a file cannot be read, or the ledger cannot be written; nothing of that file was taken in.
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
                lines.setdefault(_month(event["ts"]), []).append(spool.encoded({**line, **spool.kept(rest, telemetry)}))
    except OSError as error:
        raise CommonsError(f"{path} cannot be read: {error.strerror}", fix="Name a file of JSON lines.") from error
    _write(folder, path, lines)
    return Imported(path=path, **counts)


def read_events(path: str) -> Iterator[dict[str, Any] | None]:
    """Give the events of a file in today's form, and None for each line that is none.

    Raises:
        OSError: the file cannot be read.
    """
    with open(path, "rb") as file:
        for raw in file:
            text = raw.decode("utf-8", "replace").strip("\ufeff\0 \t\r\n")
            if text:
                yield _event(text)


def _event(text: str) -> dict[str, Any] | None:
    try:
        value = loads(text)
    except ValueError:
        return None
    if not isinstance(value, dict) or not any(name in value for name in KNOWN):
        return None
    return modernised(value)


def modernised(value: Mapping[str, Any]) -> dict[str, Any]:
    """Give an event of any known form in today's: its kind, its names, its documents as a list of ids."""
    event = {RENAMED.get(name, name): each for name, each in value.items() if each is not None}
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
        event["docs"] = [_document(each) for each in (docs if isinstance(docs, list) else [docs])]
    if "matched" not in event and event["event"] == "query" and docs is not None:
        event["matched"] = bool(docs)
    event["ts"] = _time(event.get("ts"))
    return event


def _document(value: Any) -> str:
    """Give the id of a document that was written as text or as an object."""
    named = value.get("id") or value.get("path") or "" if isinstance(value, dict) else value
    return named if isinstance(named, str) else dumps(named)


def _time(value: Any) -> str:
    """Give a time as the ledger writes it; seconds since 1970 are understood, in ms too."""
    if isinstance(value, (int, float)) and 0 < value < 1e14:
        return spool.timestamp(value / 1000 if value > 1e11 else value)
    return value if isinstance(value, str) else ""


def _month(when: str) -> str:
    month = when[:7]
    sound = len(month) == 7 and month[4] == "-" and month.replace("-", "").isdecimal() and month.isascii()
    return month if sound else "1970-01"


def _identity(event: Mapping[str, Any], seen: dict[str, int]) -> str:
    """Give the id that a line has, or one by what it says and how often it was said before in the same file."""
    if isinstance(event.get("id"), str) and event.get("v") == spool.VERSION:
        return str(event["id"])
    told = hashlib.sha256(dumps(dict(event)).encode()).hexdigest()[:16]
    seen[told] = seen.get(told, 0) + 1
    return f"import-{told}-{seen[told]}"


def _write(folder: str, path: str, lines: Mapping[str, list[bytes]]) -> None:
    """Write a segment for each month, whole or not at all."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    for month, those in lines.items():
        mark = hashlib.sha256(b"".join(those)).hexdigest()[:12]
        try:
            files.replace(f"{folder}/{month}-01{IMPORTED}{mark}.jsonl", b"".join(those))
        except OSError as error:
            raise CommonsError(f"{folder} cannot be written: {error.strerror}", where=path) from error
