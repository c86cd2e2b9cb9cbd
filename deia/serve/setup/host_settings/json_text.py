"""Changing one place of a JSON file that people write, and nothing else of it: members and items added or taken out.

A file is kept as its text; what is not touched keeps its bytes, comments too where the file's reader takes them.
Refuses text that is not JSON, or not the JSON that its reader takes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from deia.errors import HostError
from deia.records import Record

WHITESPACE = " \t\r\n"
COMMENTS, COMMAS = "comments", "comments and commas"  # what a reader takes beside JSON
# A string, or else a comment: every alternative matches whatever follows, so that no text is read twice.
TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"?|//[^\r\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
LAST_COMMAS = re.compile(r'"(?:[^"\\]|\\.)*"?|,(?=\s*[}\]])', re.DOTALL)
MAYBE_LAST = re.compile(r",\s*[}\]]")  # in a string too, so that it only says whether to look
DECODER = json.JSONDecoder(strict=False)


class Part(Record):
    """A member of an object or an item of an array, by where its text begins and ends."""

    key: str | int
    start: int  # of a member, where its name begins
    value: int  # where its value begins
    end: int


@lru_cache(maxsize=4)  # one edit asks this of one text a dozen times, and a host's file may have megabytes
def without_extras(text: str, extras: str = COMMAS) -> str:
    """Give a text of the same length with blanks for comments, and for a comma behind the last part."""
    bare = TOKENS.sub(_blanked, text) if extras and ("//" in text or "/*" in text) else text
    if extras != COMMAS or not MAYBE_LAST.search(bare):
        return bare
    return LAST_COMMAS.sub(lambda found: found[0] if found[0] != "," else " ", bare)


def _blanked(found: re.Match[str]) -> str:
    told = found[0]
    is_comment = told.startswith("//") or (told.startswith("/*") and told.endswith("*/") and len(told) > len("/*/"))
    return "".join(char if char in WHITESPACE else " " for char in told) if is_comment else told


def parse(text: str, *, where: str, extras: str = "") -> Any:
    """Give what a JSON text says; `extras` is what its reader takes beside JSON.

    Raises:
        HostError: it is not JSON; says the line.
    """
    try:
        return DECODER.decode(without_extras(text, extras))
    except json.JSONDecodeError as error:
        told = f"not JSON: {error.msg} at column {error.colno}"
        raise HostError(
            told, where=f"{where}:{error.lineno}", fix="Mend the file by hand; deia does not touch it."
        ) from error
    except RecursionError as error:
        raise HostError("nested too deep to be read", where=where, fix="Mend the file by hand.") from error


def parts(text: str, at: int) -> list[Part]:
    """Give the parts of the object or array whose text begins at `at`."""
    is_object = text[at] == "{"
    found: list[Part] = []
    at = _skip(text, at + 1)
    while text[at] not in "}]":
        start = at
        key: Any = len(found)
        if is_object:
            key, at = DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        value = at
        _, at = DECODER.raw_decode(text, at)
        found.append(Part(key=key, start=start, value=value, end=at))
        at = _skip(text, at)
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in WHITESPACE:
        at += 1
    return at


def find(text: str, path: Sequence[str | int]) -> int:
    """Give where the value at a path begins, or -1; of members of one name the last counts, as for every reader."""
    text = without_extras(text)
    at = _skip(text, 0)
    for key in path:
        value = next((part.value for part in reversed(_parts_if_any(text, at)) if part.key == key), -1)
        if value < 0:
            return -1
        at = value
    return at


def _parts_if_any(text: str, at: int) -> list[Part]:
    return parts(text, at) if text[at : at + 1] in ("{", "[") else []


def line_of(text: str, at: int) -> int:
    """Give the line on which a place lies."""
    return text.count("\n", 0, at) + 1


def insert(text: str, path: Sequence[str | int], value: Any, *, key: str | None = None) -> str:
    """Add a value at the end of the object (under `key`) or array at a path, in the manner of the file."""
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
    """Take out the part at a path, with its comma."""
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


def _remove_commented(text: str, part: Part) -> str:
    """Take out a part with its comma and leave every comment where it is."""
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
    own_line = head.endswith("\n") and tail.lstrip(" \t")[:1] in ("\r", "\n")  # else a // would swallow what follows
    return (head.removesuffix("\n").removesuffix("\r") if own_line else head) + tail


class _Style:
    """How a file is laid out: its indentation ("" for a file on one line) and its line ends."""

    def __init__(self, text: str) -> None:
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.indent = next(_indents(text), "") if "\n" in text.strip() else ""
        bare = without_extras(text)
        self.on_one_line = "\n" not in text.strip() and parts(bare, _skip(bare, 0)) != []
        self.indent = self.indent or "  "

    def line_break(self, depth: int) -> str:
        """Give what begins a new line at a depth, as the file does; nothing where it stands on one line."""
        return "" if self.on_one_line else self.newline + self.indent * depth

    def written(self, value: Any, depth: int) -> str:
        """Give a value as JSON in the file's own form."""
        if self.on_one_line:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self.indent).split("\n")
        return (self.newline + self.indent * depth).join(lines)


def _indents(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        stripped = line.lstrip(" \t")
        if stripped.strip() and stripped != line:
            yield line[: len(line) - len(stripped)]
