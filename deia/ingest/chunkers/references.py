"""What a chunk refers to, in formats whose text says so: tables, messages, schemas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from deia.knowledge import Chunk

REFERENCE = re.compile(r"[\"']?\$ref[\"']?\s*:\s*[\"']([^\"'\n]+)")
REFERENCES = {
    "json": REFERENCE,
    "yaml": REFERENCE,
    "sql": re.compile(r"\bREFERENCES\s+[\"`\[]?([\w.]+)", re.IGNORECASE),
    "proto": re.compile(
        r"(?:^|[{;}])[ \t]*+(?:(?:repeated|optional|required)[ \t]++)?(?:map[ \t]*+<[ \t]*+\w++[ \t]*+,[ \t]*+)?"
        r"([A-Z]\w*+(?:\.\w++)*+)[ \t]*+>?[ \t]*+\b\w++[ \t]*+="
        r"|\b(?:rpc\s+\w+\s*|returns\s*)\(\s*(?:stream )?([\w.]+)",
        re.MULTILINE,
    ),
}


def with_references(chunks: Iterable[Chunk], format_name: str) -> Iterator[Chunk]:
    """Yield the chunks, with what each refers to in its metadata."""
    pattern = REFERENCES[format_name]
    for chunk in chunks:
        names = {name for match in pattern.finditer(chunk.text) for name in match.groups() if name} - {chunk.symbol}
        yield chunk.but(metadata={**chunk.metadata, "references": sorted(names)}) if names else chunk
