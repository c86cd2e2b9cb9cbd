"""Collect everything that is wrong in one file, with line numbers, instead of stopping at the first problem."""

from __future__ import annotations

from deia.problems import Problem


class Findings:
    """The problems of one file, in the order in which they were found."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self._errors = 0

    def error(self, line: int, code: str, message: str, fix: str = "") -> None:
        """Add a problem that makes the file, or a part of it, unusable."""
        self._errors += 1
        self._add(line, code, message, fix, severity="error")

    def warning(self, line: int, code: str, message: str, fix: str = "") -> None:
        """Add a problem that does no harm yet but should be corrected."""
        self._add(line, code, message, fix, severity="warning")

    def _add(self, line: int, code: str, message: str, fix: str, *, severity: str) -> None:
        self.problems.append(Problem(path=self.path, line=line, found=message, fix=fix, code=code, severity=severity))

    def errors(self) -> int:
        """Return the number of errors so far; if it does not grow while a part is read, the part has none."""
        return self._errors


def quote(value: object, *, limit: int = 60) -> str:
    """Return a value in backticks for a message: on one line, printable, and shortened."""
    text = repr(value) if not isinstance(value, str) else value
    line = "".join(letter if letter.isprintable() else " " for letter in text[: limit + 1])
    return f"`{line[:limit]}…`" if len(line) > limit else f"`{line}`"
