"""All reports by name: `reports.toml` says in SQL what each consists of; gaps are found by a module of their own."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from deia.ledger import gaps
from deia.ledger.report_values import Cell, Chart, Figure, Grid, Report, table
from deia.ledger.shared_rows import gather, over_time
from deia.ledger.warehouse import Cells, Connection
from deia.records import Record
from deia.tables import text_beside

SHOWN = 20  # rows of a table
GAPS = "gaps"
REPORTS = ("summary", "queries", "documents", "triggers", GAPS, "latency", "agents")
CHARTS = ("columns", "bars")
Definition: TypeAlias = Mapping[str, Any]  # of a report or a block of it, in `reports.toml`


def _definitions() -> dict[str, Definition]:
    text = text_beside(__file__, ".toml")
    for name, value in tomllib.loads(text)["texts"].items():
        text = text.replace("{" + name + "}", value)
    return tomllib.loads(text)


class KnownDocument(Record):
    """The details of a document that reports need; days are texts."""

    id: str
    title: str = ""
    verified: str = ""
    valid_until: str = ""
    superseded_by: str = ""
    review_after: str = ""
    changed: str = ""  # when the text last changed


class Known(Record):
    """What the project itself has at present, without its packs and the starter, and today's date."""

    documents: tuple[KnownDocument, ...] = ()
    triggers: tuple[str, ...] = ()  # ids, without those of deprecated ones
    today: str = ""


def make_reports(connection: Connection, known: Known, names: Sequence[str]) -> list[Report]:
    """Return the named reports from one warehouse, in that order."""
    fields = (*KnownDocument(id="").values(),)
    columns = ", ".join(f"unnest(${number}::VARCHAR[]) AS {name}" for number, name in enumerate(fields, 2))
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE known_documents AS SELECT {columns}, $1::VARCHAR AS today",
        [known.today, *([getattr(document, name) for document in known.documents] for name in fields)],
    )
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE known_triggers AS SELECT unnest($1::VARCHAR[]) AS id", [list(known.triggers)]
    )
    definitions = _definitions()
    return [gaps.gaps(connection) if name == GAPS else _report(connection, name, definitions[name]) for name in names]


def _report(connection: Connection, name: str, definition: Definition) -> Report:
    gather(connection, *definition.get("shared", ()))
    for kind in ("views", "tables"):
        for made, sql in definition.get(kind, {}).items():
            connection.execute(f"CREATE OR REPLACE TEMP {kind[:-1]} {made} AS {sql}")
    columns, (row,) = _rows(connection, definition["row"])
    values = dict(zip(columns, row, strict=True))
    lead, notes = values.pop("lead"), values.pop("notes", ())
    blocks = [_block(connection, block) for block in definition["blocks"]]
    return Report(
        name=name, title=definition["title"], lead=lead, figures=tuple(_figures(values)), blocks=tuple(blocks),
        notes=tuple(filter(None, notes)),
    )  # fmt: skip


def _rows(connection: Connection, sql: str) -> tuple[list[str], list[Cells]]:
    answer = connection.execute(sql)
    return [column[0] for column in answer.description or ()], answer.fetchall()


def _figures(values: Mapping[str, Cell]) -> Iterator[Figure]:
    for name in (name for name in values if not name.endswith(" note")):
        label, unit = _unit(name)
        yield Figure(label=label, value=values[name], unit=unit, note=str(values.get(f"{label} note") or ""))


def _unit(name: str) -> tuple[str, str]:
    """Return the name of a column and its unit, which stands in brackets behind it."""
    label, _, unit = name.removesuffix("]").partition(" [")
    return label, unit


def _block(connection: Connection, block: Definition) -> Grid | Chart:
    if "over_time" in block:
        return over_time(connection, block["over_time"], block["table"], block["series"], unit=block.get("unit", ""))
    names, rows = _rows(connection, block["rows"])
    kind = next((kind for kind in CHARTS if kind in block), "")
    if kind:
        series = {name: tuple(float(row[at]) for row in rows) for at, name in enumerate(names) if at}
        return Chart(title=block[kind], kind=kind, labels=tuple(str(row[0]) for row in rows), series=series)
    columns = [_unit(name) for name in names]
    return table(
        block["table"], tuple(label for label, _ in columns), rows, most=SHOWN, note=block.get("note", ""),
        units={label: unit for label, unit in columns if unit}, empty=block.get("empty", "None."),
    )  # fmt: skip
