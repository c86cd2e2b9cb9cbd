"""Reports as values: figures, tables and charts, which the terminal, the page and JSON each show in their own way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from deia.fast_json import Json
from deia.records import Record

Cell: TypeAlias = str | int | float | None


class Figure(Record):
    """A number with its label."""

    label: str
    value: Cell
    unit: str = ""  # "", "%", "ms", "s", "bytes"
    note: str = ""


class Grid(Record):
    """A table; `empty` is shown if it has no rows."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    units: Mapping[str, str] = {}  # units of columns, as for a figure
    note: str = ""
    empty: str = "Nothing."
    more: int = 0  # rows that were left out


class Chart(Record):
    """Values by label, with a name for each series: stacked columns over time, lines over time, or bars by name."""

    title: str
    kind: str  # columns | lines | bars
    labels: tuple[str, ...]
    series: Mapping[str, tuple[float | None, ...]]
    unit: str = ""
    note: str = ""


class Report(Record):
    """The content of a report."""

    name: str
    title: str
    lead: str  # a summary in one sentence
    figures: tuple[Figure, ...] = ()
    blocks: tuple[Grid | Chart, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        """Return the report as a JSON object."""
        tables = [block for block in self.blocks if isinstance(block, Grid)]
        charts = [block for block in self.blocks if isinstance(block, Chart)]
        return {
            "report": self.name,
            "title": self.title,
            "lead": self.lead,
            "figures": [figure.values() for figure in self.figures],
            "tables": [
                {
                    "title": table.title,
                    "rows": [dict(zip(table.columns, row, strict=True)) for row in table.rows],
                    "more": table.more,
                    "note": table.note,
                }
                for table in tables
            ],
            "charts": [{**chart.values(), "series": dict(chart.series)} for chart in charts],
            "notes": list(self.notes),
        }


def table(
    title: str,
    columns: tuple[str, ...],
    rows: Sequence[tuple[Cell, ...]],
    *,
    most: int,
    units: Mapping[str, str] = {},
    note: str = "",
    empty: str = "None.",
) -> Grid:
    """Return a table of the first rows, which says how many rows it leaves out."""
    more = max(len(rows) - most, 0)
    return Grid(title=title, columns=columns, rows=tuple(rows[:most]), units=units, note=note, empty=empty, more=more)


def bars(title: str, rows: Sequence[tuple[Cell, ...]], **series: int) -> Chart:
    """Return a bar chart with the first column of the rows as labels.

    Each keyword is the name of a series, with `_` for a space, and the number of its column.
    """
    values = {name.replace("_", " "): tuple(float(row[at] or 0) for row in rows) for name, at in series.items()}
    return Chart(title=title, kind="bars", labels=tuple(str(row[0]) for row in rows), series=values)


def share(part: float, whole: float) -> float | None:
    """Return a part in percent of the whole, or None if the whole is 0."""
    return round(100 * part / whole, 1) if whole else None
