"""What a `.env` file says of deia: the lines that set a variable whose name begins with DEIA_, and no others.

Such a file is mostly somebody else's, so what does not concern deia is passed over however it is written. Nothing is
put in for `$NAME`, and nothing is run. Refuses to guess: a line of deia's own that cannot be read is told.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "DEIA_"
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "$": "$"}


class Assignment(Record):
    """A variable as a line sets it; `wrong` says why the line cannot be read."""

    name: str  # without the prefix, in small letters
    value: str
    line: int
    wrong: str = ""


def read_assignments(text: str) -> list[Assignment]:
    """Give what a file's text sets, in order; of one name the last counts."""
    return [one for one in _every(text) if one.name]


def _every(text: str) -> Iterator[Assignment]:
    lines = text.removeprefix("\ufeff").splitlines()
    number = 0
    while number < len(lines):
        name, given = _split(lines[number])
        ours = name[len(PREFIX) :].lower() if name.startswith(PREFIX) else ""
        more = _lines_of(given, lines, number)
        whole = "\n".join((given, *lines[number + 1 : number + more]))
        value, wrong = _value(whole)
        yield Assignment(name=ours, value=value, line=number + 1, wrong=wrong)
        number += more


def _split(line: str) -> tuple[str, str]:
    name, equals, value = line.partition("=")
    words = name.split()
    known = words[1:] if words[:1] == ["export"] else words
    return (known[0], value.strip()) if equals and len(known) == 1 else ("", "")


def _lines_of(given: str, lines: list[str], number: int) -> int:
    """Count the lines that a value takes: one, or as many as it takes until its quotation mark is closed."""
    mark = given[:1]
    if mark not in ("'", '"') or _closing(given, mark) >= 0:
        return 1
    for more, line in enumerate(lines[number + 1 :], 2):
        if _closing(f"{mark}{line}", mark) >= 0:
            return more
    return 1  # never closed: then it is nobody's but this line's


def _closing(given: str, mark: str) -> int:
    """Give where the quotation mark that a text begins with is closed, or -1."""
    at = 1
    while at < len(given):
        if given[at] == "\\" and mark == '"':
            at += 1
        elif given[at] == mark:
            return at
        at += 1
    return -1


def _value(given: str) -> tuple[str, str]:
    """Give a value, and what is wrong with it."""
    mark = given[:1]
    if mark not in ("'", '"'):
        return _without_comment(given), ""
    end = _closing(given, mark)
    if end < 0:
        return "", "a quotation mark is not closed"
    rest = given[end + 1 :].strip()
    if rest and not rest.startswith("#"):
        return "", "something follows the closing quotation mark"
    return (given[1:end] if mark == "'" else _unescaped(given[1:end])), ""


def _without_comment(given: str) -> str:
    if given.startswith("#"):
        return ""
    cuts = [at for at in (given.find(" #"), given.find("\t#")) if at >= 0]
    return given[: min(cuts)].rstrip() if cuts else given


def _unescaped(text: str) -> str:
    parts: list[str] = []
    at = 0
    while at < len(text):
        is_escape = text[at] == "\\" and at + 1 < len(text) and text[at + 1] in ESCAPES
        parts.append(ESCAPES[text[at + 1]] if is_escape else text[at])
        at += 2 if is_escape else 1
    return "".join(parts)
