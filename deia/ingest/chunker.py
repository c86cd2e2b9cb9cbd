"""Markdown into passages of about 180 words, each with its heading path and line range.

Cuts fall at headings and between paragraphs. A passage of that length is what ranks best, and what fits in front of a
model. It refuses to cut a fenced code block unless the block alone is far longer than a passage, and it refuses no
text: whatever is not Markdown is paragraphs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from deia.knowledge import Chunk, Document

WORDS = 180  # measured: the best chunk of about this length beats the whole document and its beginning
FEWEST = WORDS // 3  # a section shorter than this is read together with the next one
HUGE = WORDS * 3  # a single block longer than this is cut all the same
LONGEST_PATH = 200  # characters of a heading path
FENCES = ("```", "~~~")
BEGINNINGS = "#`~"  # of headings and fences
DEEPEST = 6


class _Block(NamedTuple):  # hundreds of thousands are made in a compile, and a record takes five times as long
    """A heading, a paragraph or a fenced code block: what is not cut."""

    lines: tuple[str, ...]
    first: int  # the line of the file
    words: int
    path: tuple[str, ...]  # the headings it stands under
    heading: bool = False


def chunk_document(document: Document, *, id: str) -> list[Chunk]:  # noqa: A002 - an entry's id is called id everywhere
    """Cut a document into passages; one without text gives one that is empty, so that its metadata can be found."""
    packs = list(_pack(_small(_blocks(document.text, document.first_line))))
    chunks = [_chunk(id, ordinal, pack) for ordinal, pack in enumerate(packs)]
    line = document.first_line
    return chunks or [Chunk(document=id, ordinal=0, heading="", text="", lines=(line, line))]


def _chunk(document: str, ordinal: int, pack: list[_Block]) -> Chunk:
    text = "\n".join(line for block in pack for line in (*block.lines, ""))
    lines = (pack[0].first, max(pack[0].first, pack[-1].first + len(pack[-1].lines) - 1))
    heading = " > ".join(pack[0].path)[:LONGEST_PATH]
    return Chunk(document=document, ordinal=ordinal, heading=heading, text=text.strip("\n"), lines=lines)


def _pack(blocks: Iterable[_Block]) -> Iterator[list[_Block]]:
    """Gather blocks into passages: a heading begins a new one as soon as the last is long enough to stand alone."""
    pack: list[_Block] = []
    size = 0
    for block in blocks:
        full = size + block.words > WORDS and size >= FEWEST
        if pack and (full or (block.heading and size >= FEWEST)):
            yield pack
            pack, size = [], 0
        pack.append(block)
        size += block.words
    if pack:
        yield pack


def _blocks(text: str, first: int) -> Iterator[_Block]:
    """Read a text's blocks in one pass over its lines."""
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
        elif start[0] not in BEGINNINGS:
            lines.append(line)
        elif level := _level(line):
            yield from _block(lines, number, names)
            path = [*(above for above in path if above[0] < level), (level, line.strip().strip("#").strip())]
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
    """Give lines as a block, if they say anything."""
    words = len(" ".join(lines).split())
    if words:
        yield _Block(lines=tuple(lines), first=end - len(lines), words=words, path=path, heading=heading)


def _level(line: str) -> int:
    """Give a heading's depth, 0 for any other line."""
    marks = len(line) - len(line.lstrip("#"))
    return marks if 0 < marks <= DEEPEST and line[marks : marks + 1] in (" ", "\t") and line[marks:].strip() else 0


def _fence(line: str) -> str:
    """Give the marks that open a fenced block, as many as must close it, or nothing."""
    start = line.strip()
    if not start.startswith(FENCES):
        return ""
    marks = len(start) - len(start.lstrip(start[0]))
    return start[0] * marks


def _small(blocks: Iterable[_Block]) -> Iterator[_Block]:
    """Cut the huge blocks, between lines where there are lines, between words where one line is huge."""
    for block in blocks:
        if block.words <= HUGE:
            yield block
            continue
        for first, lines in _slices(block):
            count = sum(len(line.split()) for line in lines)
            yield _Block(lines=tuple(lines), first=first, words=count, path=block.path)


def _slices(block: _Block) -> Iterator[tuple[int, list[str]]]:
    lines: list[str] = []
    size, first = 0, block.first
    for number, line in enumerate(block.lines, block.first):
        for piece in _pieces(line):
            count = len(piece.split())
            if lines and size + count > WORDS:
                yield first, lines
                lines, size, first = [], 0, number
            lines.append(piece)
            size += count
    yield first, lines


def _pieces(line: str) -> list[str]:
    found = line.split()
    if len(found) <= WORDS:
        return [line]
    return [" ".join(found[at : at + WORDS]) for at in range(0, len(found), WORDS)]
