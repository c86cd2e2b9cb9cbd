"""Which styles of a document are headings, and of what level."""

from __future__ import annotations

import re

NAME = re.compile(rb'<(?:\w{1,20}:)?name\b[^<>]*?val="([^"]*)"')
BASE = re.compile(rb'<(?:\w{1,20}:)?basedOn\b[^<>]*?val="([^"]*)"')
OUTLINE = re.compile(rb'<(?:\w{1,20}:)?outlineLvl\b[^<>]*?val="([^"]*)"')
HEADING = re.compile(r"(?:heading|title|subtitle)\s*([1-9]?)", re.IGNORECASE)
START, END = b'styleId="', b"style>"
MOST_BASES = 20  # styles that are each based on the next


class HeadingStyles:
    """The styles of a document by their ids; the name of a style of headings is English whatever its id.

    The styles are often ten times as long as the text, so they are searched and not parsed.
    """

    def __init__(self, styles: bytes) -> None:
        pieces = (piece.partition(END)[0].partition(b'"') for piece in styles.split(START)[1:])
        self._styles = {key: _body(rest) for key, _, rest in pieces}
        self._levels: dict[str, int] = {}

    def level(self, style: str) -> int:
        """Return the level of a style, or 0 if it is that of no heading."""
        level = self._levels.get(style)
        if level is None:
            level = self._levels[style] = self._found(style)
        return level

    def _found(self, style: str) -> int:
        key = style.encode("utf-8", "replace")
        if key not in self._styles:
            return _named(style)
        for _ in range(MOST_BASES):
            body = self._styles.get(key, b"")
            if level := _named(_value(NAME, body).decode("utf-8", "replace")):
                return level
            if outline := _value(OUTLINE, body):
                return outline_level(outline.decode("utf-8", "replace"))
            key = _value(BASE, body)
        return 0


def outline_level(value: str) -> int:
    """Return the level of a heading whose outline level, which counts from 0, is given; 0 for that of text."""
    return int(value) + 1 if value in {"0", "1", "2", "3", "4", "5"} else 0


def _body(rest: bytes) -> bytes:
    """Return what is in a style; there is nothing in one that ends at once."""
    attributes, _, body = rest.partition(b">")
    return b"" if attributes.endswith(b"/") else body


def _named(name: str) -> int:
    match = HEADING.fullmatch(name)
    return int(match[1] or 1) if match else 0


def _value(pattern: re.Pattern[bytes], body: bytes) -> bytes:
    match = pattern.search(body)
    return match[1] if match else b""
