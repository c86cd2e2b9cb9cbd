"""How the index of a commons was when it was sound, kept beside the compiled files, and what it lost since.

A compile of an index that is gone, unreadable or has lost more than half of its entries keeps what the last sound one
had: so whoever asks hears of it, and its golden questions are still asked.
"""

from __future__ import annotations

from deia import fast_json, files
from deia.records import TYPE_CHECKING, Record
from deia.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deia.commons.index.load_commons import Commons

NAME, GOLDEN = "health.json", "golden.json"
KEPT = 0.5  # of the entries: an index with fewer has lost some by accident, unless a person says otherwise
MOST_NAMED = 100
ACCEPT = "Restore it; if it is meant to be so, type: deia compile --force"


class Health(Record):
    """How the index was at the last compile at which it was sound, and how it is now."""

    index: str = ""  # its path; "" if there was none
    entries: int = 0
    lost: str = ""  # what is wrong with it now, with the line if it has one
    gone: tuple[str, ...] = ()  # documents that it lists and that do not exist


def read_health(folder: str) -> Health:
    """Return what the last compile found, or nothing if there is no such file."""
    try:
        value = fast_json.loads((files.read(f"{folder}/{NAME}") or b"{}").decode("utf-8", "replace"))
        return Health(**{**value, "gone": tuple(value.get("gone", ()))})
    except (ValueError, TypeError, AttributeError):
        return Health()


def write_health(folder: str, own: Commons, *, accepted: bool, golden: Mapping[str, Mapping[str, int]]) -> None:
    """Write how the index is, and its golden questions if it is sound; raise OSError if that is impossible."""
    health = assess(read_health(folder), own, accepted=accepted)
    _write(f"{folder}/{NAME}", health.values())
    if not health.lost:
        _write(f"{folder}/{GOLDEN}", golden)


def _write(path: str, value: Mapping[str, object]) -> None:
    data = fast_json.dumps(value).encode("utf-8", "replace")
    if files.read(path, files.ANY_SIZE) != data:
        files.replace(path, data)


def read_golden(folder: str) -> dict[str, dict[str, int]]:
    """Return the golden questions of the last sound index, each with the grades of its documents."""
    try:
        data = files.read(f"{folder}/{GOLDEN}", files.ANY_SIZE) or b"{}"
        value = fast_json.loads(data.decode("utf-8", "replace"))
        return {str(query): {str(name): int(grade) for name, grade in some.items()} for query, some in value.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def assess(before: Health, own: Commons, *, accepted: bool) -> Health:
    """Return how the index of a commons is, compared with how it was; a person may have `accepted` what it lacks."""
    index, present = own.index, {document.path for document in own.documents}
    gone = sorted({entry.path for entry in index.entries} - present)[:MOST_NAMED]
    lost = _lost(before.but(entries=0) if accepted else before, own)
    if lost:
        return before.but(lost=lost, gone=tuple(gone))
    return Health(index=index.path, entries=len(index.entries), gone=tuple(gone))


def _lost(before: Health, own: Commons) -> str:
    """Return what is wrong with an index, or ""."""
    index, count = own.index, len(own.index.entries)
    error = next((problem for problem in index.problems if problem.severity == "error"), None)
    had = f"; it had {counted(before.entries, 'entry')}" if before.entries else ""
    if error and not count:
        where = f"{error.path}:{error.line}" if error.line else error.path
        return f"{where} cannot be used: {error.found.partition('. ')[0].rstrip('.')}{had}"
    if not before.entries:
        return ""
    if not index.path:
        return f"{before.index} is gone{had}"
    if not count:
        return f"{index.path} is empty{had}"
    if count < KEPT * before.entries:
        return f"{index.path} has lost {before.entries - count} of its {before.entries} entries"
    return ""
