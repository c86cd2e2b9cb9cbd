"""Turn the parts of a format (functions, records, sections) into chunks of limited size.

A chunker describes a text as a tree of `Node`. A part that fits becomes one chunk. One that does not fit becomes a
chunk of its own beginning, with its parts as children; a part without parts is cut at the best border within the limit.
No word of the text is lost, and none is repeated except by the overlap that was asked for.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from deia.fast_json import Json
from deia.ingest.chunkers.sentences import last_sentence_end
from deia.ingest.reading import Reading
from deia.knowledge import Chunk
from deia.records import Record

EMPTY = re.compile(
    r"(?:</[\w:.-]+\s*>|\W)*+"
)  # text between two parts that says nothing, such as brackets and closing tags
NEWLINE = re.compile("\n")
HEADINGS = re.compile(r"(?:(?:#{1,6}[ \t][^\n]*|[ \t]*)(?:\n|\Z))*+")  # and blank lines
SENTENCE = "sentence"
COMMENTS = re.compile(r"(?:\s*(?:#|//|--|<!--|/?\*)[^\n]*+)*+\s*+")
JOINER = "\u200d"
TONES = ("\U0001f3fb", "\U0001f3ff")  # of the skin of what stands before
LONGEST_CHARACTER = 40  # code points that are kept together
LONGEST_HEADING = 200
LONGEST_SYMBOL = 500  # every chunk in a part repeats its name, which may be a key of megabytes
LONGEST_SIGNATURE = 160  # bytes
MOST_DEFINED = 200  # parts of a whole piece that its metadata lists


class Node(NamedTuple):  # a named tuple: a large file has a hundred thousand, and a record takes five times as long
    """A part of a text: its offsets, what it is, and the parts in it, in order and without overlap."""

    start: int
    end: int
    kind: str
    symbol: str
    heading: str = ""
    parts: Sequence[Node] = ()
    metadata: Mapping[str, Json] = {}


class Definition(NamedTuple):
    """What a source file defines: its rows, from 0, and the beginning up to its body, on one line."""

    kind: str
    name: str
    first: int
    last: int
    signature: str


class Piece(NamedTuple):
    """A stretch of text for one chunk, or several if it is too long; `parent` is the number of the piece around it."""

    start: int
    end: int
    node: Node
    parent: int = -1


class Cut(Record):
    """How long a chunk may be, and other requirements of a chunker or a person."""

    limit: int
    overlap: int = 0  # how much of the chunk before it a chunk repeats
    packs: tuple[str, ...] = ()  # kinds whose small neighbours share a chunk
    opens: tuple[str, ...] = ()  # kinds whose parts are chunks of their own even if the whole would fit
    pages: Sequence[int] = ()  # offsets at which pages begin that share no chunk
    borders: tuple[str, ...] = ("\n\n", SENTENCE, "\n", " ")  # where to cut a long text: the first that occurs


def chunks_of(reading: Reading, top: Node, *, id: str, cut: Cut) -> list[Chunk]:  # noqa: A002 - an id is called id
    """Return the chunks of a reading that consists of the parts of `top`; at least one, empty if there is no text."""
    pieces: list[Piece] = []
    _unfold(reading.text, top, -1, cut, pieces)
    chunks = list(chunks_from(reading, pieces, id, cut))
    return chunks or [Chunk(document=id, ordinal=0, heading=reading.title, text="", lines=(1, 1))]


@functools.lru_cache(maxsize=1)  # who finds the parts of a text and who cuts it at them ask one after the other
def line_starts(text: str) -> tuple[int, ...]:
    """Return the offset at which each line begins."""
    return (0, *[match.end() for match in NEWLINE.finditer(text)])


def page_starts(reading: Reading) -> list[int]:
    """Return the offset at which each page begins."""
    starts = line_starts(reading.text)
    return [starts[min(line, len(starts)) - 1] for line in reading.pages]


def _unfold(text: str, node: Node, parent: int, cut: Cut, pieces: list[Piece]) -> None:
    """Add the pieces of a node that does not fit in one: the text between its parts, and the parts."""
    own, at = parent, node.start
    for group in _groups(node.parts, cut):
        first, last = group[0], group[-1]
        if last.end <= at:
            continue
        takes_gap = first.kind in cut.packs and last.end - at <= cut.limit and _is_comment(text, at, first.start)
        if not takes_gap and not EMPTY.fullmatch(text, at, first.start):
            pieces.append(Piece(at, first.start, node, own))
            own = len(pieces) - 1 if own == parent and node.symbol else own
        start = at if takes_gap else max(first.start, at)
        if len(group) == 1 and first.parts and (first.kind in cut.opens or first.end - start > cut.limit):
            _unfold(text, first._replace(start=start), own, cut, pieces)
        else:
            whole = _joined(group)
            pieces.append(Piece(start, last.end, whole if start == whole.start else whole._replace(start=start), own))
        at = last.end
    if not EMPTY.fullmatch(text, at, node.end):
        pieces.append(Piece(at, node.end, node, own))


def _is_comment(text: str, start: int, end: int) -> bool:
    """Return whether the text above a small part is a comment on it, so that both share a chunk."""
    return COMMENTS.fullmatch(text, start, end) is not None and not EMPTY.fullmatch(text, start, end)


def _groups(parts: Sequence[Node], cut: Cut) -> Iterator[Sequence[Node]]:
    """Yield the parts in groups: neighbours of the same kind together while they fit, if `cut` packs that kind."""
    group: list[Node] = []
    for part in parts:
        if group and (
            part.kind not in cut.packs
            or part.kind != group[0].kind
            or part.end - group[0].start > cut.limit
            or bisect.bisect_right(cut.pages, part.start) > bisect.bisect_right(cut.pages, group[0].start)
        ):
            yield group
            group = []
        group.append(part)
    if group:
        yield group


def _joined(group: Sequence[Node]) -> Node:
    first, last = group[0], group[-1]
    symbol = f"{first.symbol} … {last.symbol}" if first.symbol else ""
    return first if first is last else first._replace(symbol=symbol, end=last.end, parts=())


def chunks_from(reading: Reading, pieces: Iterable[Piece], document: str, cut: Cut) -> Iterator[Chunk]:
    """Yield the chunks of pieces, in which each piece comes after its parent."""
    text, starts = reading.text, line_starts(reading.text)
    ordinals: list[int] = []  # of each piece's first chunk
    levels: list[int] = []
    ordinal = 0
    for piece in pieces:
        ordinals.append(ordinal)
        levels.append(levels[piece.parent] + 1 if piece.parent >= 0 else 0)
        parts = [part for start, end in _of_pages(text, piece, cut) for part in windows(text, start, end, cut)]
        metadata = _metadata(piece, starts, is_whole=len(parts) == 1)
        for number, (start, end) in enumerate(parts):
            first = bisect.bisect_right(starts, start)
            lines = (first, max(first, bisect.bisect_left(starts, end)))
            yield Chunk(
                document=document,
                ordinal=ordinal,
                heading=piece.node.heading[:LONGEST_HEADING],
                text=text[start:end].strip("\n"),
                lines=lines,
                kind=piece.node.kind,
                symbol=piece.node.symbol[:LONGEST_SYMBOL],
                page=_page(reading, starts, start, end),
                parent=ordinals[-1] if number else ordinals[piece.parent] if piece.parent >= 0 else -1,
                level=levels[-1] + (number > 0),
                metadata=metadata,
            )
            ordinal += 1


def _of_pages(text: str, piece: Piece, cut: Cut) -> Iterator[tuple[int, int]]:
    """Yield the offsets of what each page has of a piece, with the headings that end the page before."""
    start = piece.start
    for border in cut.pages[bisect.bisect_right(cut.pages, start) :]:
        if border >= piece.end:
            break
        if not HEADINGS.fullmatch(text, start, border):
            yield start, border
            start = border
    yield start, piece.end


def _page(reading: Reading, starts: Sequence[int], start: int, end: int) -> int:
    """Return the page of a chunk, or 0 without pages; headings at the end of a page belong to the text below them."""
    body = HEADINGS.match(reading.text, start, end) if reading.pages else None
    at = body.end() if body and body.end() < end else start
    return bisect.bisect_right(reading.pages, bisect.bisect_right(starts, at))


def _metadata(piece: Piece, starts: Sequence[int], *, is_whole: bool) -> dict[str, Json]:
    """Return a node's metadata, with the definitions in a whole piece, or the lines of the whole for a part of it."""
    node = piece.node
    metadata: dict[str, Json] = dict(node.metadata)

    def lines(part: Node) -> list[Json]:
        return [bisect.bisect_right(starts, part.start), bisect.bisect_left(starts, part.end)]

    if node.symbol and not (is_whole and (piece.start, piece.end) == (node.start, node.end)):
        metadata["whole"] = lines(node)
    elif node.symbol and node.parts:
        metadata["defines"] = [
            {"symbol": part.symbol[:LONGEST_SYMBOL], "kind": part.kind, "lines": lines(part)}
            for part in itertools.islice(_inner(node), MOST_DEFINED)
        ]
    return metadata


def _inner(node: Node) -> Iterator[Node]:
    for part in node.parts:
        yield part
        yield from _inner(part)


def windows(text: str, start: int, end: int, cut: Cut) -> Iterator[tuple[int, int]]:
    """Yield the offsets of a stretch of text without blank ends: whole if it fits, else cut at the best borders."""
    while (
        cut.borders and start < end and (text[start] == "\n" or (text[start] == " " and text[start - 1 : start] > "\n"))
    ):
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    begin = start
    while end - begin > cut.limit:
        border = _border(text, max(begin + cut.limit // 2, start + 1), begin + cut.limit, cut)
        yield begin, border
        start = border
        while cut.borders and start < end and text[start] in " \n":
            start += 1
        begin = _repeated(text, begin, start, cut)
    if start < end:
        yield begin, end


def _border(text: str, low: int, high: int, cut: Cut) -> int:
    """Return the best place to cut between two offsets, or the last one between characters if there is none."""
    for border in cut.borders:
        place = last_sentence_end(text, low, high) if border is SENTENCE else text.rfind(border, low, high)
        if place > 0:
            return place
    lowest = max(low, high - LONGEST_CHARACTER) if cut.borders else high
    return next((at for at in range(high, lowest, -1) if not _is_within_character(text, at)), high)


def _is_within_character(text: str, at: int) -> bool:
    """Return whether an offset is between the code points of one character: before an accent, or in a joined emoji."""
    after = text[at]
    return JOINER in text[at - 1 : at + 1] or TONES[0] <= after <= TONES[1] or unicodedata.category(after)[0] == "M"


def _repeated(text: str, begin: int, start: int, cut: Cut) -> int:
    """Return where the next chunk begins so that it repeats the end of the last one, in whole words."""
    low = max(begin + 1, start - cut.overlap)
    if not cut.borders or low >= start:
        return min(low, start)
    return next((at for at in range(low, start) if text[at - 1] in " \n"), start)
