"""Collecting what is wrong in one file: all of it, with lines, instead of stopping at the first.

Refuses to judge; callers do.
"""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz import process

from deia.errors import Problem

NEAR = 70.0  # rapidfuzz's ratio (0 to 100) from which a misspelt name is worth suggesting


class Findings:
    """The problems of one file, in the order in which they were found."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self._errors = 0

    def error(self, line: int, code: str, found: str, fix: str = "") -> None:
        """Note something that makes (a part of) the file unusable."""
        self._errors += 1
        self._add(line, code, found, fix, severity="error")

    def warning(self, line: int, code: str, found: str, fix: str = "") -> None:
        """Note something that works but should be mended."""
        self._add(line, code, found, fix, severity="warning")

    def _add(self, line: int, code: str, found: str, fix: str, *, severity: str) -> None:
        self.problems.append(Problem(path=self.path, line=line, found=found, fix=fix, code=code, severity=severity))

    def errors(self) -> int:
        """Count the errors so far; comparing two counts tells whether a part was sound."""
        return self._errors


def nearest(name: str, known: Iterable[str]) -> str:
    """Give the known name that `name` was probably meant to be, or nothing."""
    best = process.extractOne(name[:80], list(known), score_cutoff=NEAR)
    return str(best[0]) if best else ""


def suggestion(name: str, known: Iterable[str]) -> str:
    """Say what to write instead of an unknown name: the nearest known one, or which there are."""
    names = list(known)
    near = nearest(name, names)
    if near:
        return f"Did you mean `{near}`?"
    return f"Known are: {', '.join(names[:20])}{', …' if len(names) > 20 else ''}." if names else ""


def quote(value: object, *, limit: int = 60) -> str:
    """Quote a value for a message: on one line, printable, short."""
    text = repr(value) if not isinstance(value, str) else value
    line = "".join(letter if letter.isprintable() else " " for letter in text[: limit + 1])
    return f"`{line[:limit]}…`" if len(line) > limit else f"`{line}`"
