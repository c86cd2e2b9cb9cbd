"""The records that the shell grammars produce.

A `Simple` is one command as it was written; a `Command` is one that would run, found behind whatever runs it. Nothing
here reads more than one word, and little is imported, because every turn of every conversation loads this module.
"""

from __future__ import annotations

from deia.records import Record

Redirect = tuple[str, str]

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}
_CODES = {"x": 2, "u": 4, "U": 8}
_HEX = "0123456789abcdefABCDEF"
_OCTAL = "01234567"


class Command:
    """One simple command that would run; treat it as immutable."""

    __slots__ = (
        "arguments", "data", "environment", "folder", "known", "program", "redirects", "stdin", "text", "through",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 (a record with a field for each thing the matchers ask)
        self,
        program: str,
        arguments: tuple[str, ...] = (),
        *,
        data: frozenset[int] = frozenset(),
        through: tuple[str, ...] = (),
        redirects: tuple[Redirect, ...] = (),
        stdin: str = "",
        environment: tuple[str, ...] = (),
        folder: str = "",
        text: str = "",
    ) -> None:
        self.program, self.arguments, self.data = program, arguments, data
        self.through, self.redirects, self.stdin = through, redirects, stdin
        self.environment, self.text = environment, text
        self.folder = folder  # where a `cd` before it went, "" without one
        # What a matcher works out once and needs for every template: the own arguments and the names of options.
        self.known: tuple[list[str], dict[str, str]] | None = None

    def __repr__(self) -> str:
        shown = [repr(self.program), repr(self.arguments)]
        for name in ("data", "through", "redirects", "stdin", "environment"):
            value = getattr(self, name)
            if value:
                shown.append(f"{name}={value!r}")
        return f"Command({', '.join(shown)})"


class Simple:
    """One command as a grammar read it, before anybody asks what it runs."""

    __slots__ = ("assignments", "end", "fed", "kind", "level", "live", "redirects", "start", "stdin", "text", "words")

    def __init__(self, start: int, fed: Simple | None = None, level: int = 0) -> None:
        self.start = start
        self.level = level  # how many subshells it is in
        self.end = start
        self.fed = fed  # the command whose output is piped into this one, if any
        self.kind = ""  # "", or the reserved word whose header this is
        self.words: list[str] = []
        self.assignments: list[str] = []
        self.redirects: list[Redirect] = []
        self.stdin = ""
        self.text = ""
        self.live: list[Simple] = []  # commands of substitutions inside its own words


class Inner:
    """What one wrapper runs: `words`, or a `script` in the language `kind` (a shell, or another language)."""

    __slots__ = ("environment", "kind", "label", "script", "words")

    def __init__(
        self,
        label: str,
        words: list[str] | None = None,
        *,
        script: str = "",
        kind: str = "bash",
        environment: tuple[str, ...] = (),
    ) -> None:
        self.label, self.words, self.script = label, words or [], script
        self.kind, self.environment = kind, environment


def unescape(text: str) -> str:
    r"""Return text with the escapes of `$'…'`, `echo -e` and most languages' strings undone (`\n`, `\x20`, `\040`)."""
    if "\\" not in text:
        return text
    parts: list[str] = []
    at = 0
    while True:
        backslash = text.find("\\", at)
        if backslash < 0 or backslash + 1 >= len(text):
            parts.append(text[at:])
            return "".join(parts)
        parts.append(text[at:backslash])
        at = _undo_escape(text, backslash + 1, parts)


def _undo_escape(text: str, at: int, parts: list[str]) -> int:
    """Append the character of the escape whose letter is at `at`, and return the position after it."""
    char = text[at]
    if char in _ESCAPES:
        parts.append(_ESCAPES[char])
        return at + 1
    if char in _CODES:
        return _undo_code(text, at, at + 1, width=_CODES[char], digits=_HEX, parts=parts)
    if char in _OCTAL:
        return _undo_code(text, at, at, width=3 + (char == "0"), digits=_OCTAL, parts=parts)
    parts.append("" if char == "\n" else char)
    return at + 1


def _undo_code(text: str, at: int, begin: int, *, width: int, digits: str, parts: list[str]) -> int:
    """Append the character of a hexadecimal or octal escape, and return the position after its digits."""
    end = begin
    while end < len(text) and end - begin < width and text[end] in digits:
        end += 1
    if end == begin:
        parts.append(text[at])
        return at + 1
    code = int(text[begin:end], 16 if digits == _HEX else 8)
    parts.append(chr(code) if code <= 0x10FFFF else "")
    return end


def is_assignment(word: str) -> bool:
    """Return whether a word before a program reads as `NAME=value`, `NAME+=value` or `NAME[i]=value`.

    Names that a shell would refuse (`A-B=1`) count too: env takes them, and no program has `=` in its name.
    """
    name, equals, _ = word.partition("=")
    return bool(equals) and "/" not in name and "(" not in name and name[:1] not in ("-", "$", "`")


def base_name(word: str) -> str:
    """Return a program's name without its folder and `.exe`; a word with a substitution stays as written."""
    if "$(" in word or "`" in word or "${" in word:
        at = word.rfind("}/")
        return word[at + 2 :].rpartition("/")[2] if at >= 0 and "$(" not in word and not word.endswith("/") else word
    name = word
    if "/" in name:
        name = name.rstrip("/").rpartition("/")[2] or name
    if "\\" in name:
        name = name.rstrip("\\").rpartition("\\")[2] or name
    return name[:-4] if name[-4:].lower() == ".exe" and name[:-4] else name


def options_end(words: list[str], at: int, takes: str) -> int:
    """Return the index of the first word that is neither an option nor the value of one of the options `takes`."""
    padded = f" {takes} "
    while at < len(words):
        word = words[at]
        if word == "--":
            return at + 1
        if word[:1] != "-" or word == "-":
            return at
        at += 1 + _takes_next(word, padded)
    return len(words)


def _takes_next(word: str, padded: str) -> bool:
    """Return whether an option's value is the next word; `padded` are the options with a value, between spaces."""
    if f" {word} " in padded:
        return True
    if word.startswith("--") or " " in word:
        return False
    for place, letter in enumerate(word[1:16], 2):
        if f" -{letter} " in padded:
            return place == len(word)
    return False


def option_value(words: list[str], names: str) -> str | None:
    """Return the value of the first of these options, or None if there is none."""
    padded = f" {names} "
    for at, word in enumerate(words):
        if word[:1] != "-":
            continue
        name, equals, value = word.partition("=")
        if equals and f" {name} " in padded:
            return value
        if f" {word} " in padded:
            return words[at + 1] if at + 1 < len(words) else ""
    return None


class Spoken(Record):
    """A command that a turn runs or mentions, with the stance of the mention."""

    command: Command
    stance: str
