"""Chunks for other programs: a line of JSON or an XML file for each, with its parent and its children by id.

XML cannot hold some control characters. The file of a chunk that has one is marked `escaped="true"`: in its texts, such
a character is written as in JSON, and a backslash as two.
"""

from __future__ import annotations

import json
import re
from xml.sax.saxutils import escape, quoteattr

from deia.folders import LIBRARY_PREFIX
from deia.ingest.chunk_rows import unpacked
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from deia.fast_json import Json
    from deia.ingest.library_store import Library

NAMESPACE = "https://bloxserver.io/ns/librarian/v1"
DECLARED = '<?xml version="1.0" encoding="UTF-8"?>\n'
NO_XML = "\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff"
NOT_XML, TO_ESCAPE = re.compile(f"[{NO_XML}]"), re.compile(rf"[\\{NO_XML}]")
ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|\\)")


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
    for count, whole in enumerate(rows, 1):
        is_escaped = any(NOT_XML.search(text) for value in whole.values() for text in _texts(value))
        row = {name: _escaped(value) for name, value in whole.items()} if is_escaped else whole
        elements = {name: value for name, value in row.items() if name not in {"id", "content"} and value is not None}
        fields = "".join(f"  <{name}>{_xml(value)}</{name}>\n" for name, value in elements.items())
        content = str(row["content"]).replace("]]>", "]]]]><![CDATA[>").replace("\r", "]]>&#13;<![CDATA[")
        mark = ' escaped="true"' if is_escaped else ""
        head = f'<chunk xmlns="{NAMESPACE}" id={quoteattr(str(row["id"]))}{mark}>\n'
        yield f"chunk_{count:03}.xml", f"{DECLARED}{head}{fields}  <content><![CDATA[{content}]]></content>\n</chunk>\n"
    summary = f"<collection>{escape(NOT_XML.sub('', collection))}</collection><chunks>{count}</chunks>"
    yield "metadata.xml", f'{DECLARED}<metadata xmlns="{NAMESPACE}">{summary}</metadata>\n'


def _texts(value: Json) -> Sequence[str]:
    """Return the texts in a field that is a text or a list of texts; other fields are written as JSON."""
    if isinstance(value, str):
        return (value,)
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else ()


def _escaped(value: Json) -> Json:
    if not _texts(value):
        return value
    texts: list[Json] = [TO_ESCAPE.sub(_escape, text) for text in _texts(value)]
    return texts if isinstance(value, list) else texts[0]


def _escape(match: re.Match[str]) -> str:
    return "\\\\" if match[0] == "\\" else f"\\u{ord(match[0]):04x}"


def unescaped(text: str) -> str:
    """Return a text of a file that is marked as escaped, as it was."""
    return ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else "\\", text)


def _xml(value: Json) -> str:
    """Return a value as the content of an element: a list of texts as items, other structures as JSON."""
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        return "".join(f"<item>{_element(str(text))}</item>" for text in value)
    return _element(value if isinstance(value, str) else json.dumps(value))


def _element(text: str) -> str:
    return escape(text, {"\r": "&#13;"})
