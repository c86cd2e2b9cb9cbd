"""One door to all chunkers: from a `Reading` to its chunks, by its type or by the strategy that is asked for."""

from __future__ import annotations

import itertools

from deia.ingest.chunkers.definitions import CLASSES, OPEN, SMALL, definitions
from deia.ingest.chunkers.markdown import chunk_document
from deia.ingest.chunkers.pieces import Cut, Node, chunks_of, page_starts
from deia.ingest.chunkers.references import REFERENCES, with_references
from deia.ingest.chunkers.strategies import STRATEGY_PARTS, sections
from deia.ingest.chunkers.structured import OPENED, PACKED, structured
from deia.ingest.reading import (
    DATA_LIMIT,
    DEFAULT,
    FEWEST_CHARS,
    RECORDS,
    STRATEGIES,
    ChunkerConfig,
    Reading,
    ReadingError,
)
from deia.knowledge import Chunk, Document
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROSE_LIMIT = 1200  # characters, about 180 words
HOW: dict[str, dict[str, tuple[str, ...]]] = {  # what is special about a strategy
    "recursive": {"packs": ("section",)},
    "by_sentence": {"packs": ("",)},
    "hierarchical": {"opens": ("section",)},
    "fixed_chars": {"borders": ()},
}
LINE_BORDERS = ("\n\n", "\n", " ")
# What consists of named parts, and how they are found: a function of the reading and the limit.
TREES: dict[str, Callable[[Reading, int], list[Node]]] = {
    "code": definitions,
    **dict.fromkeys(("json", "yaml", "xml", "csv", "log"), structured),
}


def chunk(reading: Reading, *, id: str, config: ChunkerConfig = DEFAULT) -> list[Chunk]:  # noqa: A002 - as everywhere
    """Return the chunks of a reading in order; at least one, which is empty if there is no text."""
    if config.strategy and config.strategy not in STRATEGIES:
        raise ReadingError(
            f"no strategy {config.strategy}", where=reading.path, fix=f"It is one of {', '.join(STRATEGIES)}."
        )
    records = reading.metadata.get(RECORDS)
    if isinstance(records, list) and len(records) > 1:
        return list(_by_record(reading, [int(str(line)) for line in records], id, config))
    reading = reading.but(language=config.language or reading.language)
    tree = TREES.get(reading.language) or TREES.get(reading.type)
    if tree and config.strategy in {"", "hierarchical"}:
        limit = max(config.max_chars or DATA_LIMIT, FEWEST_CHARS)
        parts = tree(reading, limit)
        opens = (*OPEN, *CLASSES) if config.strategy else OPEN
        cut = Cut(limit=limit, packs=(*SMALL, *PACKED), opens=(*opens, OPENED), borders=LINE_BORDERS)
        chunks = _cut(reading, parts, id, config, cut)
        format_name = reading.language if reading.language in REFERENCES else reading.type
        return list(with_references(chunks, format_name)) if format_name in REFERENCES else chunks
    if not config.strategy and not config.max_chars and not config.options:
        return _passages(reading, id)
    return _by_strategy(reading, id, config)


def _by_record(reading: Reading, begins: list[int], document: str, config: ChunkerConfig) -> Iterator[Chunk]:
    """Yield the chunks of records that share none, such as the messages of a mailbox; `begins` are their lines."""
    rows = reading.text.split("\n")
    count = 0
    for begin, end in itertools.pairwise([1, *begins[1:], len(rows) + 1]):
        text = "\n".join(rows[begin - 1 : end - 1])
        chunks = chunk(reading.but(text=text, metadata={}), id=document, config=config)
        for each in chunks:
            lines = (each.lines[0] + begin - 1, each.lines[1] + begin - 1)
            parent = each.parent + count if each.parent >= 0 else -1
            yield each.but(ordinal=each.ordinal + count, lines=lines, parent=parent)
        count += len(chunks)


def _by_strategy(reading: Reading, document: str, config: ChunkerConfig) -> list[Chunk]:
    limit = max(config.max_chars or PROSE_LIMIT, FEWEST_CHARS)
    strategy = config.strategy or ("by_heading" if config.options.get("split_on_headings") else "recursive")
    pages = page_starts(reading) if strategy == "recursive" else ()  # a passage is cited with its page
    cut = Cut(limit=limit, pages=pages).but(**HOW.get(strategy, {}))
    level = config.options.get("min_heading_level")
    if strategy == "by_heading" and isinstance(level, int):
        return _cut(reading, sections(reading, fewest=level), document, config, cut)
    return _cut(reading, STRATEGY_PARTS[strategy](reading), document, config, cut)


def _cut(reading: Reading, parts: list[Node], document: str, config: ChunkerConfig, cut: Cut) -> list[Chunk]:
    cut = cut.but(overlap=max(0, min(config.overlap_chars, cut.limit // 2)))
    stem = reading.path.rsplit("/", 1)[-1].rsplit(".", 1)[0] if reading.type == "code" else ""
    top = Node(0, len(reading.text), "module" if stem else "", stem, reading.title, parts=tuple(parts))
    return chunks_of(reading, top, id=document, cut=cut)


def _passages(reading: Reading, document: str) -> list[Chunk]:
    """Return the passages of a text with headings and paragraphs, as the commons' own documents are cut."""
    whole = Document(path=reading.path, title=reading.title, text=reading.text)
    return chunk_document(whole, id=document, pages=reading.pages)
