"""Writing the event ledger: one event is one line and one write. It never raises, never waits, and redacts first.

A line is at most 4 KiB long, so that a single append is whole. It begins with a newline, so that the torn line of a
killed writer cannot swallow the next event. All processes of a machine share one file a day.
"""

from __future__ import annotations

import time

from deia import files
from deia.fast_json import dumps, loads
from deia.records import TYPE_CHECKING
from deia.redaction import HIDDEN, KEY_PREFIXES, is_secret_name, redact

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 1
MOST_BYTES = 4096
TEXT_FIELDS = ("query", "note", "error", "because")  # left out if `telemetry = metadata`
DEEPEST = 8  # levels of nesting that are redacted; anything deeper is left out
IDENTITIES = ("conversation", "of")  # fields whose values must stay distinct, whatever they look like


def append(folder: str, event: str, fields: Mapping[str, object], *, telemetry: str = "full") -> str:
    """Write an event to the ledger in `folder` and return its id, or "" if nothing was written."""
    if telemetry == "off" or not folder:
        return ""
    now = time.time()
    identity = f"{int(now * 1000):x}-{files.process():x}-{time.perf_counter_ns() & 0xFFFFF:05x}"
    line = {"ts": timestamp(now), "v": VERSION, "event": event, "id": identity, **kept(fields, telemetry)}
    path = day_file(folder, now)
    is_ready = files.exists(path) or _is_ignored(folder)
    return identity if is_ready and files.append(path, encoded(line)) else ""


def _is_ignored(folder: str) -> bool:
    """Return whether git ignores a commons' ledger; a `.gitignore`, which ignores itself too, is put beside it."""
    if not folder.endswith("/telemetry/events"):
        return True  # not in a commons
    path = f"{files.parent(folder)}/.gitignore"
    content = files.read(path) or b""
    return b"events/" in content or files.append(path, b"\n" * bool(content) + b"events/\n.gitignore\n")


def day_file(folder: str, seconds: float) -> str:
    """Return the file for this machine's events on the day of a time."""
    return f"{folder}/{timestamp(seconds)[:10]}-{files.writer()}.jsonl"


def find_event(folder: str, identity: str) -> dict[str, object]:
    """Return this machine's event with an id that `append` returned, or an empty mapping if it is gone."""
    began = identity.partition("-")[0]
    if not identity.isascii() or not 0 < len(began) < 14 or not set(began) <= set("0123456789abcdef"):
        return {}
    id_field = f'"id":{dumps(identity)}'.encode()
    for line in (files.read(day_file(folder, int(began, 16) / 1000)) or b"").split(b"\n"):
        if id_field in line:
            try:
                event = loads(line.decode("utf-8", "replace"))
            except ValueError:
                continue
            return event if isinstance(event, dict) and event.get("id") == identity else {}
    return {}


def timestamp(seconds: float) -> str:
    """Return a time as UTC in ISO 8601 with milliseconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}Z"


def kept(fields: Mapping[str, object], telemetry: str) -> dict[str, object]:
    """Return the fields of an event that may be written: redacted, and without texts if only metadata is wanted."""
    fields_kept = {}
    for name, value in fields.items():
        if value in ("", None) or (telemetry == "metadata" and name in TEXT_FIELDS):
            continue
        fields_kept[redact(name)] = _identity(value) if name in IDENTITIES else _redacted(value)
    return fields_kept


def _identity(value: object) -> object:
    """Return a value that keeps conversations and events distinct: a fingerprint if it could be a key."""
    if not isinstance(value, str):
        return _redacted(value)
    numbered = max(map(len, value.split("-"))) < 17 and not value.startswith(KEY_PREFIXES) and value.isascii()
    if (numbered and "@" not in value and " " not in value) or redact(value) == value:
        return value
    fingerprint = 0
    for byte in value.encode("utf-8", "surrogatepass"):
        fingerprint = (fingerprint * 131 + byte) % 0xFFFFFFFFFFC5
    return f"unnamed-{fingerprint:012x}"


def _redacted(value: object, name: str = "", depth: int = 0) -> object:
    """Return a value with every text redacted; a text under a secret's name is hidden whole."""
    if isinstance(value, str):
        return HIDDEN if value and is_secret_name(name.lower()) else redact(value)
    if depth > DEEPEST:
        return None
    if hasattr(value, "items"):
        return {redact(str(key)): _redacted(item, str(key), depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_redacted(item, name, depth + 1) for item in value]
    return value


def encoded(fields: Mapping[str, object]) -> bytes:
    """Return a line as bytes within the size limit: the longest text or list is halved, or dropped if it cannot be."""
    line = dict(fields)
    data = _ascii(line)
    while len(data) > MOST_BYTES - 2:
        longest = max(line, key=lambda name: len(dumps({name: line[name]})))
        value = line[longest]
        if isinstance(value, (str, list, tuple)) and len(value) > 1:
            line[longest] = value[: len(value) // 2]
        else:
            del line[longest]
        data = _ascii(line)
    return b"\n" + data + b"\n"


def _ascii(line: dict[str, object]) -> bytes:
    """Return a line as JSON that every reader accepts: half a surrogate pair becomes a question mark."""
    text = dumps(line)
    if "\\ud" in text:
        whole = {name: _whole(value) for name, value in line.items()}
        text = dumps(whole)
    return text.encode()


def _whole(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if hasattr(value, "items"):
        return {_whole(str(key)): _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, (list, tuple)) else value
