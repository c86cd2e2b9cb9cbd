"""A report as a value: figures, tables and charts, which a terminal, a page and JSON each show in their own way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    Cell = str | int | float | None


class Figure(Record):
    """One number with what it counts, and perhaps what it is part of."""

    label: str
    value: Cell
    unit: str = ""  # "", "%", "ms", "s", "bytes"
    note: str = ""


class Grid(Record):
    """A table; `empty` is said where it has no rows."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    units: Mapping[str, str] = {}  # column → unit, as of a figure
    note: str = ""
    empty: str = "Nothing."
    more: int = 0  # rows that were left out


class Chart(Record):
    """Values by label, a series a name: stacked columns over time, lines over time, or bars by name."""

    title: str
    kind: str  # columns | lines | bars
    labels: tuple[str, ...]
    series: Mapping[str, tuple[float | None, ...]]
    unit: str = ""
    note: str = ""


class Report(Record):
    """Everything that one report says."""

    name: str
    title: str
    lead: str  # the report in one sentence
    figures: tuple[Figure, ...] = ()
    blocks: tuple[Grid | Chart, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON has it."""
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
    """Give a table of the first rows, at most so many, that says how many it leaves out."""
    more = max(len(rows) - most, 0)
    return Grid(title=title, columns=columns, rows=tuple(rows[:most]), units=units, note=note, empty=empty, more=more)


def bars(title: str, rows: Sequence[tuple[Any, ...]], **series: int) -> Chart:
    """Give bars by the first column of some rows; a series is named, with `_` for a space, and told by its column."""
    values = {name.replace("_", " "): tuple(float(row[at]) for row in rows) for name, at in series.items()}
    return Chart(title=title, kind="bars", labels=tuple(str(row[0]) for row in rows), series=values)


def share(part: float, whole: float) -> float | None:
    """Give a part in percent of the whole, or None where there is no whole."""
    return round(100 * part / whole, 1) if whole else None
