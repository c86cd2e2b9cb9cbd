"""Words and shortening of text for the cheap paths. Refuses regular expressions: their import costs 7 ms.

`words` is the one normaliser of the word gate: the compiler and the watcher both use it, so that a word in a trigger
and a word in a turn are the same word exactly when this module says so.
"""

from __future__ import annotations


class _Plain(dict[int, "int | str"]):
    """A table for `translate` that learns a character when it first meets it: knowing all of them would take 0.1 s."""

    def __missing__(self, code: int) -> int | str:
        plain = code if chr(code).isalnum() else " "
        if len(self) < MOST_KNOWN:
            self[code] = plain
        return plain


MOST_KNOWN = 20_000  # characters; a text with more different ones is noise, and only slower
PLAIN = _Plain({code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)})


def flat(text: str) -> str:
    """Give a text of the same length in which everything but letters and digits is a space and ASCII is lower case."""
    return text.translate(PLAIN)


def words(text: str) -> list[str]:
    """Give the normalised words of a text in order: runs of letters and digits, lower case."""
    return flat(text).lower().split()


def spans(text: str) -> list[tuple[str, int, int]]:
    """Give the normalised words of a text with where each begins and ends."""
    plain = flat(text)
    found = []
    at = 0
    for word in plain.split():
        at = plain.find(word, at)
        found.append((word if word.isascii() else word.lower(), at, at + len(word)))
        at += len(word)
    return found


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
