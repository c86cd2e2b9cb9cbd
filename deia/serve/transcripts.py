"""Transcript files → what `deia.watch.conversation` reads: JSON, JSON lines, Claude Code's own, and plain text.

Lenient about everything but reading: a line that is no JSON in a file of JSON lines is passed over.
"""

from __future__ import annotations

from deia import fast_json
from deia.records import TYPE_CHECKING
from deia.watch.conversation import PREFIXES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

LISTS = ("messages", "turns", "conversation")  # the fields in which a JSON mapping may hold the turns
FENCES = ("```", "~~~")


def read_transcript(text: str) -> list[Any]:
    """Give the messages of a transcript, each a text or a mapping."""
    text = text.removeprefix("\ufeff")
    whole = _json(text)
    if isinstance(whole, dict) and not isinstance(whole.get("message"), dict):
        whole = next((whole[name] for name in LISTS if isinstance(whole.get(name), list)), [whole])
    if isinstance(whole, list):
        return [_unwrapped(item) for item in whole if _is_message(item)]
    lines = [_json(line) for line in text.split("\n") if line.strip()]
    if any(isinstance(line, dict) for line in lines):
        return [_unwrapped(line) for line in lines if isinstance(line, dict) and _is_message(line)]
    return list(_spoken(text))


def _json(text: str) -> Any:
    """Give what a JSON text says, if it is a mapping or a list."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return fast_json.loads(text)
    except ValueError:
        return None


def _is_message(item: Any) -> bool:
    """Say whether an item of a transcript is somebody's turn; Claude Code also writes summaries and snapshots there."""
    if not isinstance(item, dict):
        return isinstance(item, str)
    return isinstance(item.get("message"), dict) or "role" in item or "content" in item or "text" in item


def _unwrapped(item: Any) -> Any:
    message = item.get("message") if isinstance(item, dict) else None
    return message if isinstance(message, dict) else item


def _spoken(text: str) -> Iterator[str]:
    """Cut a plain text or Markdown where a line begins with who speaks (`User:`, `**Assistant:**`, `## User`)."""
    part: list[str] = []
    fenced = False
    for line in text.split("\n"):
        fenced ^= line.lstrip().startswith(FENCES)
        speaker = "" if fenced else _speaker(line)
        if speaker and any(map(str.strip, part)):
            yield "\n".join(part).strip()
            part = []
        part.append(speaker or line)
    if any(map(str.strip, part)):
        yield "\n".join(part).strip()


def _speaker(line: str) -> str:
    """Give a line that begins with who speaks in its plain form, `User: …`, or the empty text."""
    is_heading = line.startswith("#")
    bare = line.lstrip("#* ")
    name, colon, rest = bare.partition(":")
    name = name.rstrip("* ")
    if (colon or is_heading) and name.lower().replace(" ", "_") in PREFIXES:
        return f"{name}: {rest.removeprefix('**').lstrip()}"
    return ""
