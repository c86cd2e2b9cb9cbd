"""Chunks for other programs: a line of JSON or an XML file for each, with its parent and its children by id."""

from __future__ import annotations

import json
import re
from xml.sax.saxutils import escape, quoteattr

from deia.folders import LIBRARY_PREFIX
from deia.ingest.chunk_rows import unpacked
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from deia.fast_json import Json
    from deia.ingest.library_store import Library

NAMESPACE = "https://bloxserver.io/ns/librarian/v1"
DECLARED = '<?xml version="1.0" encoding="UTF-8"?>\n'
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def exported(library: Library, source: str) -> Iterator[dict[str, Json]]:
    """Yield the chunks of a source's documents; ids are collection:symbol:kind, made unique."""
    taken: dict[str, int] = {}
    for document in library.documents(source=source):
        ident = document.id.removeprefix(LIBRARY_PREFIX)
        kept = library.kept(document.content)
        chunks = unpacked(document.id, kept.text, kept.rows)
        collection, _, path = ident.partition("/")
        names = (f"{chunk.symbol or f'{path}#{chunk.ordinal}'}:{chunk.kind or 'passage'}" for chunk in chunks)
        ids = [_unique(f"{collection}:{name}", taken) for name in names]
        children: dict[int, list[Json]] = {}
        for chunk in chunks:
            children.setdefault(chunk.parent, []).append(ids[chunk.ordinal])
        for chunk in chunks:
            yield {
                "id": ids[chunk.ordinal], "parent_id": ids[chunk.parent] if chunk.parent >= 0 else None,
                "children": children.get(chunk.ordinal, []), "level": chunk.level, "path": path,
                "title": document.title, "type": document.type, "updated": document.updated, "kind": chunk.kind,
                "symbol": chunk.symbol, "lines": list(chunk.lines), "page": chunk.page or None,
                "heading": chunk.heading, "metadata": dict(chunk.metadata), "content": chunk.text,
            }  # fmt: skip


def _unique(name: str, taken: dict[str, int]) -> str:
    taken[name] = taken.get(name, 0) + 1
    return name if taken[name] == 1 else f"{name}#{taken[name]}"


def xml_files(rows: Iterable[dict[str, Json]], collection: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the content of an XML file for each chunk, and of one that describes them all."""
    count = 0
    for count, row in enumerate(rows, 1):
        elements = {name: value for name, value in row.items() if name not in {"id", "content"} and value is not None}
        fields = "".join(f"  <{name}>{_xml(value)}</{name}>\n" for name, value in elements.items())
        content = _plain(str(row["content"])).replace("]]>", "]]]]><![CDATA[>").replace("\r", "]]>&#13;<![CDATA[")
        head = f'<chunk xmlns="{NAMESPACE}" id={quoteattr(_plain(str(row["id"])))}>\n'
        yield f"chunk_{count:03}.xml", f"{DECLARED}{head}{fields}  <content><![CDATA[{content}]]></content>\n</chunk>\n"
    summary = f"<collection>{escape(_plain(collection))}</collection><chunks>{count}</chunks>"
    yield "metadata.xml", f'{DECLARED}<metadata xmlns="{NAMESPACE}">{summary}</metadata>\n'


def _xml(value: Json) -> str:
    """Return a value as the content of an element: a list of texts as items, other structures as JSON."""
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        return "".join(f"<item>{_escaped(str(text))}</item>" for text in value)
    return _escaped(value if isinstance(value, str) else json.dumps(value))


def _escaped(text: str) -> str:
    return escape(_plain(text), {"\r": "&#13;"})


def _plain(text: str) -> str:
    return NOT_XML.sub("\ufffd", text)
