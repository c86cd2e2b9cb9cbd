"""Which words of a text are those of the question, and which rows of a passage hold most of them.

Words are compared as the index compares them, by their stems, so that what is marked is what was found. Pure; it
refuses to know colours.
"""

from __future__ import annotations

from itertools import accumulate

from deia.match.keyword import analyser
from deia.match.tokeniser import words
from deia.records import TYPE_CHECKING
from deia.search.rendering.columns import ELLIPSIS, plain, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST_ROWS = 400  # of a passage that are looked at; one has about twenty
FENCES = ("```", "~~~")
OWN_LINE = ("#", "- ", "* ", "+ ", "|", ">", *FENCES)  # what begins a line of its own in Markdown
INDENTED = ("    ", "\t")


class Marker:
    """Tells the words of a text that are also the question's."""

    __slots__ = ("_known", "_stemmer", "_stems")

    def __init__(self, asked: Iterable[str]) -> None:
        self._stemmer = analyser()
        self._stems = frozenset(self._stemmed(asked))
        self._known: dict[str, frozenset[str]] = {}  # a word to those of its stems that were asked for

    def _stemmed(self, texts: Iterable[str]) -> list[str]:
        return self._stemmer.analyze(" ".join(term for text in texts for word in words(text) for term in word))

    def held(self, text: str) -> frozenset[str]:
        """Give the stems of the question that a text holds."""
        return frozenset[str]().union(*(found for _, found in self._runs(text)))

    def marked(self, text: str) -> Iterator[tuple[str, bool]]:
        """Give a text in pieces as long as can be, each with whether it is of the question."""
        piece, wanted = "", False
        for run, found in self._runs(text):
            if piece and bool(found) != wanted:
                yield piece, wanted
                piece = ""
            piece, wanted = piece + run, bool(found)
        if piece:
            yield piece, wanted

    def _runs(self, text: str) -> Iterator[tuple[str, frozenset[str]]]:
        for run in _runs(text) if self._stems else (text,):
            if run not in self._known:
                asks = self._stems and run[:1].isalnum()
                self._known[run] = self._stems.intersection(self._stemmed((run,))) if asks else frozenset()
            yield run, self._known[run]


def _runs(text: str) -> Iterator[str]:
    """Cut a text where letters and digits begin or end."""
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or text[at].isalnum() != text[start].isalnum():
            yield text[start:at]
            start = at


def telling_rows(passage: str, marker: Marker, *, room: int, most: int) -> list[str]:
    """Give the few rows of a passage that hold most of the question's words; where none does, the first.

    Headings are left out where there is anything else, since the title is told already. An ellipsis stands where a
    paragraph goes on.
    """
    blocks = [wrapped for block in _blocks(passage) if (wrapped := list(wrap(block, room - 2)))]
    rows = [row for block in blocks for row in block][:MOST_ROWS]
    if not rows:
        return []
    held = [marker.held(row) for row in rows]
    best = max(range(len(rows)), key=lambda at: (*_value(held[at : at + most]), bool(held[at]), -at))
    told = rows[best : best + most]
    begins = {0, *accumulate(map(len, blocks))}
    told[0] = told[0] if best in begins else f"{ELLIPSIS} {told[0]}"
    told[-1] = told[-1] if best + len(told) in begins else f"{told[-1]} {ELLIPSIS}"
    return told


def _value(held: Sequence[frozenset[str]]) -> tuple[int, int]:
    return len(frozenset[str]().union(*held)), sum(map(len, held))


def _blocks(passage: str) -> list[str]:
    """Give a passage's lines, those of one paragraph as one, without the marks of headings, stress and fences."""
    blocks: list[list[str]] = [[]]
    headings = []
    for line in passage.splitlines():
        bare = plain(line).strip()
        if not bare or bare.startswith(OWN_LINE) or line.startswith(INDENTED):
            blocks.append([])
        if bare.startswith("#"):
            headings.append(_unmarked(bare.lstrip("#")))
        elif bare and not bare.startswith(FENCES):
            blocks[-1].append(bare)
    return [_unmarked(" ".join(block)) for block in blocks if block] or headings


def _unmarked(text: str) -> str:
    """Give a text without the marks of bold words; stars that open nothing stay, as in `docs/**`."""
    kept, bold = [], False
    for word in text.split():
        opens = word.startswith("**") and word[2:3].isalnum()
        bare = word[2:] if opens else word
        closes = (bold or opens) and "**" in bare
        kept.append(bare.replace("**", "", 1) if closes else bare)
        bold = (bold or opens) and not closes
    return " ".join(kept)
