"""Text in terminal columns: measured, shortened and wrapped, without control characters.

The width of a character is what Unicode defines, whatever the terminal's font.
"""

from __future__ import annotations

import unicodedata

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ELLIPSIS = "…"


def plain(text: str) -> str:
    """Return a text on one line and without control characters, which a terminal would obey."""
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)


def columns(text: str) -> int:
    """Return a text's number of columns: 2 for wide characters (Unicode, annex 11), 0 for accents and selectors."""
    return len(text) if text.isascii() else sum(map(_column, text))


def _column(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut(text: str, room: int) -> str:
    """Return a text shortened to some columns, with an ellipsis if something is missing."""
    return text if columns(text) <= room else _beginning(text, room - 1) + ELLIPSIS


def _beginning(text: str, room: int) -> str:
    used = 0
    for at, char in enumerate(text):
        used += _column(char)
        if used > room:
            return text[:at]
    return text


def wrap(text: str, room: int) -> Iterator[str]:
    """Yield a text as rows of some columns, broken between words; a word that is too long for a row is split."""
    row, used = "", 0
    for word in text.split():
        wide = columns(word)
        if row and used + 1 + wide <= room:
            row, used = f"{row} {word}", used + 1 + wide
            continue
        if row:
            yield row
        *full, row = _pieces(word, room) if wide > room else (word,)
        yield from full
        used = columns(row)
    if row:
        yield row


def _pieces(word: str, room: int) -> Iterator[str]:
    while columns(word) > room:
        piece = _beginning(word, room) or word[0]
        yield piece
        word = word[len(piece) :]
    yield word
