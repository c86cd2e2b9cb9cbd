"""Words and shortening of text for the cheap paths. Refuses regular expressions: their import costs 7 ms.

`words` is the one normaliser of the word gate: the compiler and the watcher both use it, so that a word in a trigger
and a word in a turn are the same word exactly when this module says so.
"""

from __future__ import annotations


class _Plain(dict[int, "int | str"]):
    """A table for `translate` that learns a character when it first meets it: knowing all of them would take 0.1 s."""

    def __missing__(self, code: int) -> int | str:
        plain = self.plain(code)
        if len(self) < MOST_KNOWN:
            self[code] = plain
        return plain

    def plain(self, code: int) -> int | str:
        """Give what stands for a character."""
        return code if chr(code).isalnum() else " "


class _Parted(_Plain):
    """The same with spaces around every letter of a script that has none between its words."""

    def plain(self, code: int) -> int | str:
        """Give what stands for a character."""
        return f" {chr(code)} " if _is_unspaced(code) and chr(code).isalnum() else super().plain(code)


# Scripts whose words no space parts, or whose endings grow on to them: there every letter counts as a word, so that a
# phrase is found wherever its letters stand one after the other. Thai to Myanmar, Hangul, Khmer, Kana, Han.
UNSPACED = (
    (0x0E00, 0x109F), (0x1100, 0x11FF), (0x1780, 0x17FF), (0x3040, 0x318F), (0x31F0, 0x31FF), (0x3400, 0x9FFF),
    (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0xFF66, 0xFF9D), (0x20000, 0x3FFFF),
)  # fmt: skip
FIRST_UNSPACED = UNSPACED[0][0]
MOST_KNOWN = 20_000  # characters; a text with more different ones is noise, and only slower
ASCII: dict[int, int | str] = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
PLAIN = _Plain(ASCII)
PARTED = _Parted(ASCII)


def _is_unspaced(code: int) -> bool:
    return code >= FIRST_UNSPACED and any(first <= code <= last for first, last in UNSPACED)


def flat(text: str) -> str:
    """Give a text of the same length in which everything but letters and digits is a space and ASCII is lower case."""
    return text.translate(PLAIN)


def words(text: str) -> list[str]:
    """Give the normalised words of a text in order: runs of letters and digits, lower case; see `UNSPACED`."""
    return text.translate(PARTED).lower().split()


def spans(text: str) -> list[tuple[str, int, int]]:
    """Give the normalised words of a text with where each begins and ends."""
    plain = flat(text)
    found = []
    at = 0
    for word in plain.split():
        at = plain.find(word, at)
        if word.isascii():
            found.append((word, at, at + len(word)))
        else:
            found += [(piece.lower(), at + begin, at + begin + len(piece)) for piece, begin in _pieces(word)]
        at += len(word)
    return found


def _pieces(word: str) -> list[tuple[str, int]]:
    """Cut a word where a script without spaces begins or goes on, each piece with where it begins."""
    pieces: list[tuple[str, int]] = []
    start = 0
    for at, char in enumerate(word):
        if _is_unspaced(ord(char)):
            pieces += [(word[start:at], start)] if at > start else []
            pieces.append((char, at))
            start = at + 1
    return pieces + ([(word[start:], start)] if start < len(word) else [])


def shorten(text: str, most: int) -> str:
    """Cut a text to at most `most` characters at a line or word border, with an ellipsis where something is missing."""
    if len(text) <= most:
        return text
    if most < 2:
        return text[: max(most, 0)]
    cut = text[: most - 1]
    border = max(cut.rfind("\n"), cut.rfind(" "))
    return (cut[:border] if border > most // 2 else cut).rstrip() + "…"


def one_line(text: str) -> str:
    """Fold white space and control characters to single spaces, so that a text cannot break out of its line."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def counted(number: int, noun: str) -> str:
    """Give a number with its noun: `1 error`, `2 errors`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
