"""The lines that differ between two texts, worked out only where that takes a moment."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

CLOSE = 2000  # lines between the first and the last difference; more are not compared line by line
HUNK = re.compile(r"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")


def plain_text(data: bytes | None) -> str:
    """Return the text of a file to compare, "" if there is none; its lines end in the same way everywhere."""
    return (data or b"").decode("utf-8", "replace").replace("\r\n", "\n")


def equal_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Return how many lines two texts have in common at their begin, and of the others at their end."""
    first = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    most = min(len(old), len(new)) - first
    return first, next((n for n in range(most) if old[-1 - n] != new[-1 - n]), most)


def line_diff(path: str, old: str, new: str, *, around: int = 2) -> list[str]:
    """Return the lines of a unified diff with `around` equal lines, or one line if there is too much to compare."""
    before, after = old.split("\n"), new.split("\n")
    first, last = equal_ends(before, after)
    start = max(first - around, 0)
    left, right = (lines[start : len(lines) - max(last - around, 0)] for lines in (before, after))
    if max(len(left), len(right)) > CLOSE + 2 * around:
        return [f"{path}: too long to compare: {len(left):,} lines become {len(right):,}"]
    return [_moved(line, start) for line in difflib.unified_diff(left, right, path, path, lineterm="", n=around)]


def _moved(line: str, start: int) -> str:
    """Return a line of a diff; one that says where its lines are counts `start` lines more."""
    place = HUNK.fullmatch(line)
    if place is None:
        return line
    old, new = int(place[1]) + start, int(place[3]) + start
    return f"@@ -{old}{place[2] or ''} +{new}{place[4] or ''} @@"
