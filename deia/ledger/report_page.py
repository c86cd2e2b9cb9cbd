"""All reports as one self-contained page of HTML: no scripts and no network, in light and dark, also for print.

Text from the ledger and the commons is escaped, and the page's content security policy forbids loading anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from deia.ledger.charts import draw, legend, styles
from deia.ledger.report_values import Cell, Chart, Figure, Grid, Report
from deia.tables import text_beside

LONGEST = 160  # characters of a table cell
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
UNITS = {"%": " %", "ms": " ms", "s": " s", "min": " min"}
MINUTE = 120  # seconds from which a time is shown in minutes


def page(reports: Sequence[Report], *, made: str, place: str) -> str:
    """Return the page of some reports; `made` says when it was made, `place` names the commons."""
    first, style = reports[0], styles() + text_beside(__file__, ".css")
    links = "".join(f'<a href="#{escape(report.name)}">{escape(report.title)}</a>' for report in reports[1:])
    body = "".join(part for report in reports for part in _section(report, first=report is first))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(first.title)} · {escape(place)}</title><style>{style}</style></head><body>"
        f'<header><h1>{escape(first.title)}</h1><p class="lead">{escape(place)} · {escape(first.lead)}</p></header>'
        f"<nav><div>{links}</div></nav><main>{body}</main>"
        f"<footer><p>Made by deia on {escape(made)} from the log of this commons. Nothing was sent anywhere, and"
        " this page loads nothing.</p></footer></body></html>\n"
    )


def _section(report: Report, *, first: bool) -> Iterator[str]:
    yield f'<section id="{escape(report.name)}">'
    if not first:
        yield f'<h2>{escape(report.title)}</h2><p class="lead">{escape(report.lead)}</p>'
    if report.figures:
        yield f'<div class="figures">{"".join(map(_figure, report.figures))}</div>'
    for block in report.blocks:
        yield from _chart(block) if isinstance(block, Chart) else _table(block)
    yield from map(_note, report.notes)
    yield "</section>"


def _figure(figure: Figure) -> str:
    note = f"<small>{escape(figure.note)}</small>" if figure.note else ""
    shown = escape(shown_cell(figure.value, figure.unit))
    return f'<div class="figure"><b>{shown}</b><span>{escape(figure.label)}</span>{note}</div>'


def _chart(chart: Chart) -> Iterator[str]:
    image = draw(chart)
    if image:
        note = _note(chart.note) if chart.note else ""
        yield f'<div class="card"><h3>{escape(chart.title)}</h3>{legend(chart)}{image}{note}</div>'


def _table(grid: Grid) -> Iterator[str]:
    if not grid.rows:
        yield f'<p class="empty"><b>{escape(grid.title)}</b> {escape(grid.empty)}</p>'
        return
    numeric = [
        all(isinstance(row[at], (int, float)) or row[at] is None for row in grid.rows)
        for at in range(len(grid.columns))
    ]
    yield f'<div class="card"><h3>{escape(grid.title)}</h3><table><thead><tr>'
    yield from (f"<th{_class(numeric[at], at)}>{escape(name)}</th>" for at, name in enumerate(grid.columns))
    yield "</tr></thead><tbody>"
    for row in grid.rows:
        cells = (
            f"<td{_class(numeric[at], at)}>{escape(_shortened(shown_cell(cell, grid.units.get(name, ''))))}</td>"
            for at, (name, cell) in enumerate(zip(grid.columns, row, strict=True))
        )
        yield f"<tr>{''.join(cells)}</tr>"
    notes = [f"{grid.more:,} more are not shown."] if grid.more else []
    notes += [grid.note] if grid.note else []
    yield f"</tbody></table>{''.join(map(_note, notes))}</div>"


def _note(text: str) -> str:
    """Return a note, with what is between backticks as code."""
    parts = escape(text).split("`")
    marked = "".join(
        f"<code>{part}</code>" if at % 2 and at + 1 < len(parts) else part for at, part in enumerate(parts)
    )
    return f'<p class="note">{marked}</p>'


def _class(numeric: bool, at: int) -> str:  # noqa: FBT001 - the class of a cell depends only on these two
    return ' class="n"' if numeric else ' class="first"' if at == 0 else ""


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def shown_cell(value: Cell, unit: str) -> str:
    """Return a value as people read it, with its unit."""
    if value is None or value == "":
        return "-"
    if isinstance(value, str):
        return value
    if unit == "s" and value >= MINUTE:
        value, unit = round(value / 60, 1), "min"
    number = f"{value:,}" if isinstance(value, int) else f"{value:,.1f}".removesuffix(".0")
    return number + UNITS.get(unit, "")
