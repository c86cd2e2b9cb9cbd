"""Which words of a text match a query, and which rows of a passage contain most of them.

Words are compared by their stems, as in the index, so what is marked is what was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from deia.commons.source_files.outline import PLACEHOLDERS
from deia.match.keyword import analyser
from deia.match.tokeniser import words
from deia.search.rendering.columns import ELLIPSIS, plain, wrap

MOST_ROWS = 400  # of a passage that are considered; one has about twenty
FENCES = ("```", "~~~")
OWN_LINE = ("#", "- ", "* ", "+ ", "|", ">", *FENCES)  # prefixes of lines that do not continue a paragraph in Markdown
INDENTED = ("    ", "\t")


class Marker:
    """Finds the words of a text that match a query."""

    __slots__ = ("_known", "_stemmer", "_stems")

    def __init__(self, query_words: Iterable[str]) -> None:
        self._stemmer = analyser()
        self._stems = frozenset(self._stemmed(query_words))
        self._known: dict[str, frozenset[str]] = {}  # words, each with those of its stems that the query has

    def _stemmed(self, texts: Iterable[str]) -> list[str]:
        return self._stemmer.analyze(" ".join(term for text in texts for word in words(text) for term in word))

    def matches(self, text: str) -> frozenset[str]:
        """Return the query's stems that a text contains."""
        return frozenset[str]().union(*(stems for _, stems in self._runs(text)))

    def marked(self, text: str) -> Iterator[tuple[str, bool]]:
        """Yield a text in the longest possible pieces, each with whether it matches the query."""
        piece, matching = "", False
        for run, stems in self._runs(text):
            if piece and bool(stems) != matching:
                yield piece, matching
                piece = ""
            piece, matching = piece + run, bool(stems)
        if piece:
            yield piece, matching

    def _runs(self, text: str) -> Iterator[tuple[str, frozenset[str]]]:
        for run in _runs(text) if self._stems else (text,):
            if run not in self._known:
                is_word = self._stems and run[:1].isalnum()
                self._known[run] = self._stems.intersection(self._stemmed((run,))) if is_word else frozenset()
            yield run, self._known[run]


def _runs(text: str) -> Iterator[str]:
    """Yield the runs of letters and digits in a text, and the runs between them."""
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or text[at].isalnum() != text[start].isalnum():
            yield text[start:at]
            start = at


def best_rows(passage: str, marker: Marker, *, room: int, most: int) -> list[str]:
    """Return the few rows of a passage that contain most of the query's words, or the first rows if none does.

    Headings are left out if there is anything else, since the title is shown already. An ellipsis marks a paragraph
    that goes on.
    """
    blocks = [wrapped for block in _blocks(passage) if (wrapped := list(wrap(block, room - 2)))]
    rows = [row for block in blocks for row in block][:MOST_ROWS]
    if not rows:
        return []
    matches = [marker.matches(row) for row in rows]
    best = max(range(len(rows)), key=lambda at: (*_value(matches[at : at + most]), bool(matches[at]), -at))
    shown = rows[best : best + most]
    begins = {0, *accumulate(map(len, blocks))}
    shown[0] = shown[0] if best in begins else f"{ELLIPSIS} {shown[0]}"
    shown[-1] = shown[-1] if best + len(shown) in begins else f"{shown[-1]} {ELLIPSIS}"
    return shown


def _value(matches: Sequence[frozenset[str]]) -> tuple[int, int]:
    return len(frozenset[str]().union(*matches)), sum(map(len, matches))


def _blocks(passage: str) -> list[str]:
    """Return a passage's paragraphs and other lines, without marks of Markdown and an outline's placeholders."""
    blocks: list[list[str]] = [[]]
    headings = []
    for line in passage.splitlines():
        bare = plain(line).strip()
        if not bare or bare.startswith(OWN_LINE) or line.startswith(INDENTED):
            blocks.append([])
        if bare.startswith("#"):
            headings.append(_unmarked(bare.lstrip("#")))
        elif bare and not bare.startswith(FENCES) and bare not in PLACEHOLDERS:
            blocks[-1].append(bare)
    return [_unmarked(" ".join(block)) for block in blocks if block] or headings


def _unmarked(text: str) -> str:
    """Return a text without the marks of bold words; stars that open nothing stay, as in `docs/**`."""
    kept, bold = [], False
    for word in text.split():
        opens = word.startswith("**") and word[2:3].isalnum()
        bare = word[2:] if opens else word
        closes = (bold or opens) and "**" in bare
        kept.append(bare.replace("**", "", 1) if closes else bare)
        bold = (bold or opens) and not closes
    return " ".join(kept)
