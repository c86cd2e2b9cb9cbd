"""The graph for other programs: JSON, CSV, DOT and GraphML, line by line.

Names come from documents that anybody may have written, so they are escaped for each format, and a CSV cell that a
spreadsheet would take for a formula gets an apostrophe before it.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from deia.errors import QueryError
from deia.graph.facts import CERTAINTIES
from deia.graph.graph_store import FIELDS, Graph, fields_text, merged

MOST_EXPORTED = 1_000_000  # entities, and as many relations
FORMULA = ("=", "+", "-", "@")
CHOSEN = "(:type = '' or type = :type)"
END = f"select id from entities where {CHOSEN} order by id limit 1 offset :most"  # noqa: S608 - constants
ENTITIES = f"""select chosen.id, chosen.name, type, description, {FIELDS.format("chosen.id")},
    coalesce(documents.name, ''), coalesce(places.first, 0), coalesce(places.last, 0)
    from (select * from entities where {CHOSEN} and id < :end) chosen
    left join places on places.entity = chosen.id and places.document =
    (select min(document) from places where entity = chosen.id) left join documents on documents.id = places.document
    order by chosen.id"""  # noqa: S608 - constants
RELATIONS = """select r.source, a.name, a.type, r.type, r.target, b.name, b.type, r.certainty,
    coalesce(documents.name, ''), coalesce(line, 0), coalesce(refs.description, ''), coalesce(fields, '')
    from relations r
    join entities a on a.id = r.source join entities b on b.id = r.target left join refs on refs.id = r.ref
    left join documents on documents.id = refs.document where r.source < :end and r.target < :end
    and (:type = '' or (a.type = :type and b.type = :type)) limit :most"""
DOT_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"'})
XML_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
KEYS = {
    "node": ("name", "type", "description", "document", "fields"),
    "edge": ("type", "certainty", "document", "line", "fields"),
}
GRAPHML = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'


class Row(NamedTuple):
    """An entity as a row."""

    id: int
    name: str
    type: str
    description: str
    fields: str  # JSON, or ""
    document: str  # the first that defines or names it
    first: int
    last: int


class Link(NamedTuple):
    """A relation as a row."""

    source: int
    source_name: str
    source_type: str
    type: str
    target: int
    target_name: str
    target_type: str
    certainty: str
    document: str
    line: int
    description: str
    fields: str


class Export(NamedTuple):
    """A graph in some format, line by line, and whether it was cut off."""

    lines: Iterator[str]
    is_cut: bool


def export(graph: Graph, form: str, *, kind: str = "", most: int = MOST_EXPORTED) -> Export:
    """Return the graph in a format, or its entities of one type with the relations between them.

    Raise QueryError if the format is unknown.
    """
    write = FORMATS.get(form)
    if write is None:
        raise QueryError(f"format {form[:100]!r} is unknown", fix=f"Known are: {', '.join(FORMATS)}.")
    execute, values = (
        graph.database.execute,
        {"type": kind.strip().upper().encode("utf-8", "replace").decode(), "most": most},
    )
    end = execute(END, values).fetchone()
    values["end"] = end[0] if end else sys.maxsize
    schema = graph.schema
    rows = (
        Row._make((*row[:4], fields_text(schema.fields_of(row[2], merged(row[4]))), *row[5:]))
        for row in execute(ENTITIES, values)
    )
    links = (
        Link._make((*row[:7], CERTAINTIES[row[7]], *row[8:11], fields_text(schema.fields_of_relation(row[3], fields))))
        for row in execute(RELATIONS, values)
        for fields in (json.loads(row[11] or "{}"),)
    )
    relation_count = execute("select count(*) from (select 1 from relations limit ?)", (most + 1,)).fetchone()[0]
    return Export(write(rows, links), bool(end) or relation_count > most)


def _json(rows: Iterable[Row], links: Iterable[Link]) -> Iterator[str]:
    lists: tuple[tuple[str, Iterable[Row | Link]], ...] = (('{"entities": [', rows), ('], "relations": [', links))
    for opening, rows_or_links in lists:
        yield opening
        for number, row in enumerate(rows_or_links):
            values = row._asdict() | {"fields": json.loads(row.fields or "{}")}
            yield ("," if number else "") + json.dumps(values)
    yield "]}"


def _csv(names: tuple[str, ...], rows: Iterable[tuple[str | int, ...]]) -> Iterator[str]:
    for row in chain([names], rows):
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow([_cell(value) for value in row])
        yield line.getvalue()


def _cell(value: str | int) -> str | int:
    """Return a cell's value, changed so that no spreadsheet takes it for a formula."""
    text = _printable(value) if isinstance(value, str) else value
    return f"'{text}" if isinstance(text, str) and text.startswith(FORMULA) else text


def _dot(rows: Iterable[Row], links: Iterable[Link]) -> Iterator[str]:
    yield 'digraph "deia" { rankdir=LR; node [shape=box];'
    yield from (f'  {row.id} [label="{_quoted(row.name)}", tooltip="{_quoted(row.type)}"];' for row in rows)
    for link in links:
        style = "" if link.certainty == CERTAINTIES[0] else ", style=dashed"
        yield f'  {link.source} -> {link.target} [label="{_quoted(link.type)}"{style}];'
    yield "}"


def _quoted(text: str) -> str:
    """Return a text escaped for a quoted string of DOT."""
    return _printable(text).translate(DOT_ESCAPES)


def _graphml(rows: Iterable[Row], links: Iterable[Link]) -> Iterator[str]:
    yield GRAPHML
    for element, names in KEYS.items():
        for name in names:
            kind = "int" if name == "line" else "string"
            yield f'  <key id="{element[0]}-{name}" for="{element}" attr.name="{name}" attr.type="{kind}"/>'
    yield '  <graph id="deia" edgedefault="directed">'
    yield from (f'    <node id="n{row.id}">{_data("node", row)}</node>' for row in rows)
    for link in links:
        yield f'    <edge source="n{link.source}" target="n{link.target}">{_data("edge", link)}</edge>'
    yield "  </graph>\n</graphml>"


def _data(element: str, row: Row | Link) -> str:
    return "".join(f'<data key="{element[0]}-{name}">{xml(str(getattr(row, name)))}</data>' for name in KEYS[element])


def xml(text: str) -> str:
    """Return a text escaped for XML, without the characters that XML forbids."""
    return "".join(XML_ESCAPES.get(char, char) for char in _printable(text))


def _printable(text: str) -> str:
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)


FORMATS: Mapping[str, Callable[[Iterable[Row], Iterable[Link]], Iterator[str]]] = {
    "json": _json,
    "csv": lambda _rows, links: _csv(Link._fields, links),
    "csv-entities": lambda rows, _links: _csv(Row._fields, rows),
    "dot": _dot,
    "graphml": _graphml,
}
