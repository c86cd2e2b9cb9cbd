"""The words of a query that are the asker's own: quoted words, paths, addresses, options, numbers.

*Rename "holiday" to "beach"* is answered by a document about renaming that contains neither word. Such words are
searched for like any other, but a document is not penalised for lacking them. If the whole query is a quotation, it is
not treated as the asker's own words, because nothing would be left.
"""

from __future__ import annotations

from deia.match.tokeniser import question_words
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOKED_AT = 4_000  # characters
PAIRS = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’"}  # noqa: RUF001 - typographic quotation marks
LONGEST = 200  # characters of a quotation
AROUND = "\"'`.,;:!?()[]{}<>"
ROOTS = ("/", "~", "$", "--", "./", "../")


def literal_terms(text: str) -> frozenset[str]:
    """Return the terms of a query that occur in it only as somebody's own names and values."""
    quoted, plain = _split_quotations(text[:LOOKED_AT])
    tokens = plain.split()
    own = [token for token in tokens if _is_own(token.strip(AROUND))]
    if not own and not quoted:
        return frozenset()
    general = _terms(" ".join([token for token in tokens if not _is_own(token.strip(AROUND))]))
    return frozenset(_terms(" ".join([*quoted, *own])) - general) if general else frozenset()


def _split_quotations(text: str) -> tuple[list[str], str]:
    """Split a text into its quotations and the rest."""
    quoted, plain, at = [], [], 0
    for start, end in _quotations(text):
        quoted.append(text[start + 1 : end])
        plain.append(text[at:start])
        at = end + 1
    return quoted, " ".join([*plain, text[at:]])


def _quotations(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each quotation; an apostrophe inside a word does not begin one."""
    at = 0
    while at < len(text):
        closing = PAIRS.get(text[at], "")
        if closing and not (at and text[at - 1].isalnum()):
            end = text.find(closing, at + 1, at + LONGEST)
            while end > 0 and text[end + 1 : end + 2].isalnum():
                end = text.find(closing, end + 1, at + LONGEST)
            if end > at + 1:
                yield at, end
                at = end
        at += 1


def _is_own(token: str) -> bool:
    """Return whether a word is a path, an address, an option or a number; node.js, SHA-256, CVE-2024-3094 are not."""
    if token.startswith(ROOTS) or "://" in token or token.count("/") > 1:
        return True
    return any(map(str.isdigit, token)) and not any(map(str.isalpha, token))


def _terms(text: str) -> set[str]:
    return {part for word in question_words(text) for part in word}
