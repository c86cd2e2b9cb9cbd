"""Words and shortening of text, without regular expressions, whose import costs 7 ms.

`words` is the only normaliser of the word gate. The compiler and the watcher both use it, so a word in a trigger and a
word in a turn are the same word exactly if this module says so.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class _Plain(dict[int, "int | str"]):
    """A `translate` table that learns each character when it first meets it: filling it in advance would take 0.1 s."""

    def __init__(self, replacement: Callable[[int], int | str]) -> None:
        super().__init__(ASCII)
        self._replacement = replacement

    def __missing__(self, code: int) -> int | str:
        plain = self._replacement(code) if chr(code).isalnum() else " "
        if len(self) < MOST_KNOWN:
            self[code] = plain
        return plain


# Scripts that write no spaces between words, or attach endings to them. Each letter counts as a word, so that a phrase
# matches wherever its letters follow each other. Thai to Myanmar, Hangul, Khmer, Kana, Han.
UNSPACED = (
    (0x0E00, 0x109F), (0x1100, 0x11FF), (0x1780, 0x17FF), (0x3040, 0x318F), (0x31F0, 0x31FF), (0x3400, 0x9FFF),
    (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0xFF66, 0xFF9D), (0x20000, 0x3FFFF),
)  # fmt: skip
FIRST_UNSPACED = UNSPACED[0][0]
MOST_KNOWN = 20_000  # characters in a table; a text with more different ones is noise and only takes longer
ASCII: dict[int, int | str] = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}


def _is_unspaced(code: int) -> bool:
    return code >= FIRST_UNSPACED and any(first <= code <= last for first, last in UNSPACED)


PLAIN = _Plain(lambda code: code)
PARTED = _Plain(lambda code: f" {chr(code)} " if _is_unspaced(code) else code)


def flat(text: str) -> str:
    """Return the text at the same length, with spaces for all but letters and digits, and ASCII in lower case."""
    return text.translate(PLAIN)


def words(text: str) -> list[str]:
    """Return the normalised words of a text in order: runs of letters and digits in lower case; see `UNSPACED`."""
    return text.translate(PARTED).lower().split()


def spans(text: str) -> list[tuple[str, int, int]]:
    """Return the normalised words of a text with their start and end positions."""
    plain = flat(text)
    spans_found = []
    at = 0
    for word in plain.split():
        at = plain.find(word, at)
        if word.isascii():
            spans_found.append((word, at, at + len(word)))
        else:
            spans_found += [(piece.lower(), at + begin, at + begin + len(piece)) for piece, begin in _pieces(word)]
        at += len(word)
    return spans_found


def _pieces(word: str) -> list[tuple[str, int]]:
    """Return the pieces of a word with their start positions: each unspaced letter, and the runs between them."""
    pieces: list[tuple[str, int]] = []
    start = 0
    for at, char in enumerate(word):
        if _is_unspaced(ord(char)):
            pieces += [(word[start:at], start)] if at > start else []
            pieces.append((char, at))
            start = at + 1
    return pieces + ([(word[start:], start)] if start < len(word) else [])


def shorten(text: str, most: int) -> str:
    """Cut a text to at most `most` characters at a line or word boundary, with an ellipsis if anything was cut."""
    if len(text) <= most:
        return text
    if most < 2:
        return text[: max(most, 0)]
    cut = text[: most - 1]
    border = max(cut.rfind("\n"), cut.rfind(" "))
    return (cut[:border] if border > most // 2 else cut).rstrip() + "…"


def one_line(text: str) -> str:
    """Replace runs of white space and control characters by single spaces, so that a text stays on its line."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def front_matter_lines(rows: Sequence[str]) -> int:
    """Return how many lines the front matter at the beginning of a text has; 0 if there is none that ends."""
    fence = rows[0].rstrip() if rows else ""
    if fence not in {"---", "+++"}:
        return 0
    return next((number for number, row in enumerate(rows[1:200], 2) if row.rstrip() in {fence, "..."}), 0)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 error`, `2 errors`, `3 entities`."""
    if number == 1:
        return f"{number} {noun}"
    return f"{number} {noun[:-1]}ies" if noun[-1:] == "y" and noun[-2:-1] not in "aeiou" else f"{number} {noun}s"


def period(first: str, last: str) -> str:
    """Return two days as a period: `on 2026-11-23`, `from 2026-11-20 to 2026-11-23`."""
    return f"on {first}" if first == last else f"from {first} to {last}"


def no_longer_holding(superseded_by: str, valid_until: str, today: str) -> str:
    """Return why a document no longer holds, or ""; `today` is as 2026-01-31, or "" if nobody knows."""
    reasons = (
        f"superseded by {superseded_by}" if superseded_by else "",
        f"valid until {valid_until} only" if today and "" < valid_until < today else "",
    )
    return ", ".join(filter(None, reasons))
