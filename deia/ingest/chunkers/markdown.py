"""Cut Markdown into passages of about 180 words, each with its heading path and line range.

Cuts fall at headings and between paragraphs. Passages of that length rank best and fit into a model's context. A fenced
code block is not cut unless it alone is far longer than a passage. Any text is accepted: whatever is not Markdown
counts as paragraphs. No passage has more than 2,000 characters, whether its script has spaces or not. None goes on
over the end of a page, since it is cited with its page; only headings at that end go with the text below them.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from deia.ingest.chunkers.pieces import Cut, windows
from deia.knowledge import Chunk, Document

WORDS = 180  # measured: the best passage of about this length ranks better than the whole document or its beginning
FEWEST = WORDS // 3  # a section shorter than this is joined with the next one
HUGE = WORDS * 3  # a single block longer than this is cut after all
LONGEST = 2000  # characters of a passage
PIECE = Cut(limit=1200)  # of what is cut: about 180 words
SPACELESS = 12  # characters for each word: no script that has spaces needs so many
LETTERS = 7  # of text without spaces that count as a word
LONGEST_PATH = 200  # characters of a heading path
FENCES = ("```", "~~~")
MARKERS = "#`~"  # the characters that begin headings and fences
DEEPEST = 6  # level of a heading


class _Block(NamedTuple):  # a compile makes hundreds of thousands, and a record takes five times as long
    """A heading, a paragraph or a fenced code block: a unit that is not cut."""

    lines: tuple[str, ...]
    first: int  # the number of its first line in the file
    words: int
    size: int  # characters
    path: tuple[str, ...]  # the headings above it
    heading: bool = False


def chunk_document(document: Document, *, id: str, pages: Sequence[int] = ()) -> list[Chunk]:  # noqa: A002 - as everywhere
    """Return a document's passages; if it has no text, one empty passage, so that its metadata can be found.

    `pages` are the lines on which its pages begin, if it has any.
    """
    parts = _of_pages(_blocks(document.text, document.first_line), pages)
    packs = [pack for part in parts for pack in _pack(part)]
    chunks = [_chunk(id, ordinal, pack, pages) for ordinal, pack in enumerate(packs)]
    line = document.first_line
    return chunks or [Chunk(document=id, ordinal=0, heading="", text="", lines=(line, line))]


def _chunk(document: str, ordinal: int, pack: list[_Block], pages: Sequence[int]) -> Chunk:
    text = "\n".join(line for block in pack for line in (*block.lines, ""))
    lines = (pack[0].first, max(pack[0].first, pack[-1].first + len(pack[-1].lines) - 1))
    heading = " > ".join(pack[0].path)[:LONGEST_PATH]
    body = next((block for block in pack if not block.heading), pack[0])
    page = bisect.bisect_right(pages, body.first)
    return Chunk(document=document, ordinal=ordinal, heading=heading, text=text.strip("\n"), lines=lines, page=page)


def _of_pages(blocks: Iterable[_Block], pages: Sequence[int]) -> Iterator[Iterable[_Block]]:
    """Yield the blocks of each page, with the headings that end the page before; all blocks if there are no pages."""
    if not pages:
        yield blocks
        return
    part: list[_Block] = []
    page = end = 0  # the page of the last text, and the number of blocks up to it
    for block in blocks:
        own = bisect.bisect_right(pages, block.first)
        if end and own > page:
            yield part[:end]
            part, end = part[end:], 0
        part.append(block)
        if not block.heading:
            page, end = own, len(part)
    yield part


def _pack(blocks: Iterable[_Block]) -> Iterator[list[_Block]]:
    """Yield groups of blocks, each a passage; a heading begins a new one if the current one is long enough."""
    pack: list[_Block] = []
    words = size = 0
    for block in blocks:
        room = LONGEST - (size if words < FEWEST else 0)  # a short beginning is not left alone by what follows it
        for part in (block,) if block.words <= HUGE and block.size <= room else _slices(block):
            is_full = words >= FEWEST and (part.heading or words + part.words > WORDS)
            if pack and (is_full or size + part.size > LONGEST):
                yield pack
                pack, words, size = [], 0, 0
            pack.append(part)
            words, size = words + part.words, size + part.size + len("\n\n")
    if pack:
        yield pack


def _blocks(text: str, first: int) -> Iterator[_Block]:
    """Yield a text's blocks, in one pass over its lines."""
    path: list[tuple[int, str]] = []
    names: tuple[str, ...] = ()
    lines: list[str] = []
    fence = ""
    number = first
    for number, raw in enumerate(text.split("\n"), first):
        line = raw.rstrip("\r")
        start = line.lstrip()
        if fence:
            lines.append(line)
            if start.startswith(fence) and not start.strip().strip(fence[0]):
                yield from _block(lines, number + 1, names)
                lines, fence = [], ""
        elif not start:
            yield from _block(lines, number, names)
            lines = []
        elif start[0] not in MARKERS:
            lines.append(line)
        elif level := _level(line):
            yield from _block(lines, number, names)
            name = line.strip().strip("#").strip()[:LONGEST_PATH]
            path = [*(above for above in path if above[0] < level), (level, name)]
            names = tuple(name for _, name in path)
            yield from _block([line], number + 1, names, heading=True)
            lines = []
        else:
            fence = _fence(line)
            if fence:
                yield from _block(lines, number, names)
                lines = []
            lines.append(line)
    yield from _block(lines, number + 1, names)


def _block(lines: list[str], end: int, path: tuple[str, ...], *, heading: bool = False) -> Iterator[_Block]:
    """Yield some lines as a block, unless they are blank."""
    text = " ".join(lines)
    if words := _words(text):
        yield _Block(tuple(lines), end - len(lines), words, len(text), path, heading)


def _words(text: str) -> int:
    """Return how many words a text has, or would have with spaces."""
    words = len(text.split())
    has_spaces = text.isascii() or len(text) <= SPACELESS * words
    return words if has_spaces or not words else max(words, len(text) // LETTERS)


def _level(line: str) -> int:
    """Return the level of a heading, or 0 for any other line."""
    marks = len(line) - len(line.lstrip("#"))
    return marks if 0 < marks <= DEEPEST and line[marks : marks + 1] in (" ", "\t") and line[marks:].strip() else 0


def _fence(line: str) -> str:
    """Return the marker that opens a fenced block, which is also the shortest one that closes it, or ""."""
    start = line.strip()
    if not start.startswith(FENCES):
        return ""
    marks = len(start) - len(start.lstrip(start[0]))
    return start[0] * marks


def _slices(block: _Block) -> Iterator[_Block]:
    """Yield a huge block in slices, cut between lines, or within a line that is huge itself."""
    lines: list[str] = []
    words, size, first = 0, 0, block.first
    for number, line in enumerate(block.lines, block.first):
        for at, piece in enumerate(_pieces(line)):
            count = _words(piece)
            if lines and (at or words + count > WORDS or size + len(piece) > PIECE.limit):
                yield from _block(lines, first + len(lines), block.path)
                lines, words, size, first = [], 0, 0, number
            lines.append(piece)
            words, size = words + count, size + len(piece) + 1
    yield from _block(lines, first + len(lines), block.path)


def _pieces(line: str) -> list[str]:
    if len(line) <= PIECE.limit and _words(line) <= WORDS:
        return [line]
    return [line[start:end] for start, end in windows(line, 0, len(line), PIECE)] or [""]
