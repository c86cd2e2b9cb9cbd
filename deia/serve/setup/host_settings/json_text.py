"""Adds and removes members and items of a JSON text that people write, and leaves every other byte as it is.

That includes comments and a comma behind the last part, if the program that reads the file allows them. In a path, a
text is the name of a member and a number the index of an item.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from deia.errors import HostError
from deia.fast_json import Json
from deia.records import Record

BOM = "\ufeff"  # the byte order mark with which some editors begin a file
WHITESPACE = f" \t\r\n{BOM}"
COMMENTS, COMMAS = "comments", "comments and commas"  # what a reader allows besides JSON
Path: TypeAlias = tuple[str | int, ...]
# A string or a comment. Each alternative matches whatever follows, so that the search takes linear time.
TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"?|//[^\r\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
LAST_COMMAS = re.compile(r'"(?:[^"\\]|\\.)*"?|,(?=\s*[}\]])', re.DOTALL)
MAYBE_LAST = re.compile(r",\s*[}\]]")  # may match inside a string, so it only tells whether to look closer
MEND = "Correct the file by hand; deia does not change it."
DECODER = json.JSONDecoder(strict=False)


class Part(Record):
    """A member of an object or an item of an array, as positions in the text."""

    key: str | int
    start: int  # of a member, the position of its name
    value: int  # the position of its value
    end: int


@lru_cache(maxsize=4)  # an edit calls this a dozen times, and a host's file may have megabytes
def without_extras(text: str, extras: str = COMMAS) -> str:
    """Return the text with blanks in place of comments and of commas behind a last part; its length is the same."""
    bare = TOKENS.sub(_blanked, text) if extras and ("//" in text or "/*" in text) else text
    if extras != COMMAS or not MAYBE_LAST.search(bare):
        return bare
    return LAST_COMMAS.sub(lambda match: match[0] if match[0] != "," else " ", bare)


def _blanked(match: re.Match[str]) -> str:
    token = match[0]
    is_comment = token.startswith("//") or (token.startswith("/*") and token.endswith("*/") and len(token) > len("/*/"))
    return "".join(char if char in WHITESPACE else " " for char in token) if is_comment else token


def parse(text: str, *, where: str, extras: str = "") -> Any:
    """Parse a settings text, where a blank one is an empty object; `extras` is what its reader allows besides JSON."""
    try:
        return DECODER.decode(without_extras(text.removeprefix(BOM), extras)) if text.strip(WHITESPACE) else {}
    except json.JSONDecodeError as error:
        problem = f"not JSON: {error.msg} at column {error.colno}"
        raise HostError(problem, where=f"{where}:{error.lineno}", fix=MEND) from error
    except RecursionError as error:
        raise HostError("nested too deep to be read", where=where, fix=MEND) from error


def parts(text: str, at: int) -> list[Part]:
    """Return the parts of the object or array whose text begins at `at`."""
    is_object = text[at] == "{"
    present: list[Part] = []
    at = _skip(text, at + 1)
    while text[at] not in "}]":
        start = at
        key: str | int = len(present)
        if is_object:
            key, at = DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        value = at
        _, at = DECODER.raw_decode(text, at)
        present.append(Part(key=key, start=start, value=value, end=at))
        at = _skip(text, at)
        at = _skip(text, at + 1) if text[at] == "," else at
    return present


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in WHITESPACE:
        at += 1
    return at


def find(text: str, path: Sequence[str | int]) -> int:
    """Return the position of the value at a path, or -1; of members with the same name the last one counts."""
    text = without_extras(text)
    at = _skip(text, 0)
    for key in path:
        present = parts(text, at) if text[at : at + 1] in ("{", "[") else []
        value = next((part.value for part in reversed(present) if part.key == key), -1)
        if value < 0:
            return -1
        at = value
    return at


def line_of(text: str, at: int) -> int:
    """Return the number of the line of a position."""
    return text.count("\n", 0, at) + 1


def insert(text: str, path: Sequence[str | int], value: Json, *, key: str | None = None) -> str:
    """Return the text with a value added at the end of the object (as `key`) or array at a path, in its style."""
    at = find(text, path)
    bare = without_extras(text)
    present = parts(bare, at)
    style = _Style(text)
    name = f"{json.dumps(key, ensure_ascii=False)}: " if key is not None else ""
    piece = style.line_break(len(path) + 1) + name + style.written(value, len(path) + 1)
    begin = present[-1].end if present else at + 1
    _, end = DECODER.raw_decode(bare, at)
    kept = text[begin : end - 1].rstrip()  # comments, and a comma behind the last part
    comma = "," if present and "," not in without_extras(text, COMMENTS)[begin : end - 1] else ""
    tail = text[begin + len(kept) :] if present else style.line_break(len(path)) + text[end - 1 :]
    return text[:begin] + comma + kept + piece + tail


def remove(text: str, path: Sequence[str | int]) -> str:
    """Return the text without the part at a path and without its comma."""
    bare = without_extras(text)
    at = find(text, path[:-1])
    present = parts(bare, at)
    number = max(number for number, part in enumerate(present) if part.key == path[-1])
    part = present[number]
    if bare != text:
        return _remove_commented(text, part)
    if len(present) == 1:
        _, end = DECODER.raw_decode(text, at)
        return text[: at + 1] + text[end - 1 :]
    if number:
        return text[: present[number - 1].end] + text[part.end :]
    return text[: part.start] + text[present[1].start :]


def with_containers(text: str, path: Sequence[str], innermost: Json = None) -> str:
    """Return the text of an object with empty objects along a path, and `innermost` at its end, if they are missing."""
    text = text if text.strip(WHITESPACE) else f"{text.rstrip()}{{}}\n"
    for depth, key in enumerate(path):
        if find(text, path[: depth + 1]) < 0:
            text = insert(text, path[:depth], innermost if depth == len(path) - 1 else {}, key=key)
    return text


def prune(text: str, path: Sequence[str | int], *, steps: Sequence[int] = (), where: str = "", extras: str = "") -> str:
    """Return the text without the part at a path and without the parts above it that this leaves empty.

    `steps` are the numbers of keys to go up each time.
    """
    place = list(path)
    value = parse(text, where=where, extras=extras)
    for step in steps:
        container = value
        for key in place[:-1]:
            container = container[key]
        if len(container) > 1 or len(place) <= step:
            break
        place = place[:-step]
    return remove(text, place)


def _remove_commented(text: str, part: Part) -> str:
    """Return the text without a part and its comma, with all comments."""
    bare = without_extras(text, COMMENTS)
    after = _skip(bare, part.end)
    before = len(bare[: part.start].rstrip(WHITESPACE)) - 1
    start, end = part.start, part.end
    if bare[after] == ",":
        text = text[:after] + text[after + 1 :]
    elif bare[before] == ",":
        text = text[:before] + text[before + 1 :]
        start, end = start - 1, end - 1
    head, tail = text[:start].rstrip(" \t"), text[end:]
    if head.endswith("\n") and tail.lstrip(" \t").startswith(("\r", "\n")):  # else a // comment would grow
        head = head.removesuffix("\n").removesuffix("\r")
    return head + tail


class _Style:
    """The layout of a file: its indentation, its line ends, and whether all of it is on one line."""

    def __init__(self, text: str) -> None:
        self.newline = "\r\n" if "\r\n" in text else "\n"
        bare = without_extras(text)
        self.on_one_line = "\n" not in text.strip() and parts(bare, _skip(bare, 0)) != []
        first = re.search(r"^([ \t]+)\S", text, re.MULTILINE) if "\n" in text.strip() else None
        self.indent = first[1] if first else "  "

    def line_break(self, depth: int) -> str:
        """Return what begins a new line at a depth; the empty text if the file is on one line."""
        return "" if self.on_one_line else self.newline + self.indent * depth

    def written(self, value: Json, depth: int) -> str:
        """Return a value as JSON in its style."""
        if self.on_one_line:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self.indent).split("\n")
        return (self.newline + self.indent * depth).join(lines)
