"""Chunks as rows of JSON, as the library keeps them and as they travel to other processes."""

from __future__ import annotations

from typing import Any

from deia.knowledge import Chunk
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deia.fast_json import Json


def packed(chunk: Chunk, lines: Sequence[str]) -> list[Json]:
    """Return a chunk as a row, without its text if that is what stands on its lines."""
    first, last = chunk.lines
    text = None if chunk.text == _between(lines, first, last) else chunk.text
    row: list[Json] = [first, last, text, chunk.heading]
    row += [chunk.kind, chunk.symbol, chunk.page, chunk.parent, chunk.level]
    return [*row, dict(chunk.metadata)] if chunk.metadata else row


def unpacked(document: str, text: str, rows: Iterable[Sequence[Any]]) -> tuple[Chunk, ...]:
    """Return the chunks of a document that were `packed`."""
    lines = text.split("\n")
    return tuple(
        Chunk(
            document=document, ordinal=ordinal, text=_between(lines, first, last) if own is None else own,
            lines=(first, last), heading=heading, kind=kind, symbol=symbol, page=page, parent=parent, level=level,
            metadata=metadata[0] if metadata else {},
        )
        for ordinal, (first, last, own, heading, kind, symbol, page, parent, level, *metadata) in enumerate(rows)
    )  # fmt: skip


def _between(lines: Sequence[str], first: int, last: int) -> str:
    return "\n".join(lines[first - 1 : last]).strip("\n")
