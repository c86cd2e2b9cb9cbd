"""The DEIA_ variables that a `.env` file sets; all other lines are ignored, however they are written.

`$NAME` is not expanded and nothing is run. A DEIA_ line that cannot be read is reported, never guessed.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "DEIA_"
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "$": "$"}


class Assignment(Record):
    """A variable as a line sets it; `wrong` says why the line cannot be read, or is empty."""

    name: str  # without the prefix, in lower case
    value: str
    line: int
    wrong: str = ""


def read_assignments(text: str) -> list[Assignment]:
    """Return the assignments in a file's text in order; if a name occurs several times, the last counts."""
    return [assignment for assignment in _all_assignments(text) if assignment.name]


def _all_assignments(text: str) -> Iterator[Assignment]:
    """Yield an assignment for each value in a file; its name is empty if it is not deia's."""
    lines = text.removeprefix("\ufeff").splitlines()
    number = 0
    while number < len(lines):
        variable, first_line = _split(lines[number])
        name = variable[len(PREFIX) :].lower() if variable.startswith(PREFIX) else ""
        count = _line_count(first_line, lines, number)
        value, wrong = _value("\n".join((first_line, *lines[number + 1 : number + count])))
        yield Assignment(name=name, value=value, line=number + 1, wrong=wrong)
        number += count


def _split(line: str) -> tuple[str, str]:
    name, equals, value = line.partition("=")
    words = name.split()
    known = words[1:] if words[:1] == ["export"] else words
    return (known[0], value.strip()) if equals and len(known) == 1 else ("", "")


def _line_count(text: str, lines: list[str], number: int) -> int:
    """Return the number of lines that a value spans: one, or those up to the closing quotation mark."""
    mark = text[:1]
    if mark not in ("'", '"') or _closing(text, mark) >= 0:
        return 1
    for count, line in enumerate(lines[number + 1 :], 2):
        if _closing(f"{mark}{line}", mark) >= 0:
            return count
    return 1  # the mark is never closed, so the value ends with its line


def _closing(text: str, mark: str) -> int:
    """Return the position of the closing quotation mark of a text that begins with one, or -1."""
    at = 1
    while at < len(text):
        if text[at] == "\\" and mark == '"':
            at += 1
        elif text[at] == mark:
            return at
        at += 1
    return -1


def _value(text: str) -> tuple[str, str]:
    """Return a value and what is wrong with it."""
    mark = text[:1]
    if mark not in ("'", '"'):
        return _without_comment(text), ""
    end = _closing(text, mark)
    if end < 0:
        return "", "a quotation mark is not closed"
    rest = text[end + 1 :].strip()
    if rest and not rest.startswith("#"):
        return "", "something follows the closing quotation mark"
    return (text[1:end] if mark == "'" else _unescaped(text[1:end])), ""


def _without_comment(text: str) -> str:
    if text.startswith("#"):
        return ""
    cuts = [at for at in (text.find(" #"), text.find("\t#")) if at >= 0]
    return text[: min(cuts)].rstrip() if cuts else text


def _unescaped(text: str) -> str:
    parts: list[str] = []
    at = 0
    while at < len(text):
        is_escape = text[at] == "\\" and at + 1 < len(text) and text[at + 1] in ESCAPES
        parts.append(ESCAPES[text[at + 1]] if is_escape else text[at])
        at += 2 if is_escape else 1
    return "".join(parts)
