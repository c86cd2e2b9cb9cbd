"""Sentences of a text word for word, each with its lines; and whether a quotation is really there.

A sentence may span lines, but not blocks: a heading, an item of a list, a row of a table and a line of code each stand
for themselves. Line breaks within one become single spaces, so a quotation is on its lines if it is in their words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from deia.ingest.chunkers.sentences import sentence_ends
from deia.records import Record

LONGEST = 600  # characters of a quotation; what is longer is no sentence, and is cut
FENCES = ("```", "~~~")
ALONE = ("#", "|", *FENCES)
BEGINS_BLOCK = re.compile(r"(?:[-*+>]|\d{1,3}[.)]\s|:\s)")
HEADING = re.compile(r"#{1,6}\s")
INDENTED = ("    ", "\t")


class Quotation(Record):
    """A sentence of a document and its lines."""

    text: str
    first: int
    last: int
    is_heading: bool = False


def quotations(lines: Sequence[str], first: int, *, is_code: bool = False) -> Iterator[Quotation]:
    """Yield the sentences of consecutive lines, of which `first` is the number of the first one."""
    block: list[tuple[int, str]] = []
    fenced = False
    for number, line in enumerate(lines, first):
        text = " ".join(line.split())
        is_fence = text.startswith(FENCES)
        alone = is_code or fenced or text.startswith(ALONE) or (line.startswith(INDENTED) and not block)
        if block and (alone or not text or BEGINS_BLOCK.match(text)):
            yield from _sentences(block)
            block = []
        if is_fence:
            fenced = not fenced
        elif text and alone:
            is_heading = not (fenced or is_code) and HEADING.match(text) is not None
            yield Quotation(text=_cut(text), first=number, last=number, is_heading=is_heading)
        elif text:
            block.append((number, text))
    yield from _sentences(block)


def _sentences(block: Sequence[tuple[int, str]]) -> Iterator[Quotation]:
    """Yield the sentences of the lines of one block."""
    whole = " ".join(text for _, text in block)
    starts: list[tuple[int, int]] = []
    at = 0
    for number, text in block:
        starts.append((at, number))
        at += len(text) + 1
    begin = 0
    for end in (*sentence_ends(whole, 0, len(whole)), len(whole)):
        text = whole[begin:end].strip()
        if text:
            begin += len(whole[begin:end]) - len(whole[begin:end].lstrip())
            text = _cut(text)
            first, last = (_line_at(starts, place) for place in (begin, begin + len(text) - 1))
            yield Quotation(text=text, first=first, last=last)
        begin = end


def _line_at(starts: Sequence[tuple[int, int]], offset: int) -> int:
    return next(number for start, number in reversed(starts) if start <= offset)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: text.rfind(" ", LONGEST // 2, LONGEST) % LONGEST].rstrip()


def is_quoted(quote: str, lines: Sequence[str]) -> bool:
    """Return whether a quotation is in some lines, word for word but for white space."""
    wanted = " ".join(quote.split())
    return bool(wanted) and wanted in " ".join(" ".join(lines).split())


def lines_of(quote: str, lines: Sequence[str], first: int) -> tuple[int, int] | None:
    """Return the first and last line on which a quotation stands, or None if it does not."""
    wanted = " ".join(quote.split())
    joined = [" ".join(line.split()) for line in lines]
    whole, starts = "", []
    for number, text in enumerate(joined, first):
        if text:
            starts.append((len(whole), number))
            whole += f"{text} "
    at = whole.find(wanted) if wanted else -1
    return None if at < 0 else (_line_at(starts, at), _line_at(starts, at + len(wanted) - 1))
