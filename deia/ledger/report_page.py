"""All reports as one self-contained page of HTML: no scripts and no network, in light and dark, also for print.

Text from the ledger and the commons is escaped, and the page's content security policy forbids loading anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from deia.ledger.charts import draw, legend
from deia.ledger.report_values import Cell, Chart, Figure, Grid, Report

LONGEST = 160  # characters of a table cell
STYLE = """
:root { color-scheme: light dark; --paper: #fbfaf7; --card: #ffffff; --ink: #1f2328; --soft: #667079; --rule: #e3e1da;
  --c0: #2f6f8f; --c1: #d98e32; --c2: #b3483f; --c3: #7a8f55; --c4: #8a6fae; --c5: #a7a9a4; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181c; --card: #1d2126; --ink: #e4e6e8; --soft: #98a2ab;
  --rule: #323840; --c0: #6db3d4; --c1: #e8ab5c; --c2: #e0776d; --c3: #a5bd7c; --c4: #b79fd6; --c5: #767d84; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main, header, footer { max-width: 1120px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 40px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 4px; letter-spacing: -.01em; }
h2 { font-size: 21px; margin: 0 0 2px; }
h3 { font-size: 14px; margin: 0 0 8px; }
.lead { color: var(--soft); margin: 0 0 18px; }
nav { position: sticky; top: 0; z-index: 1; background: var(--paper); border-bottom: 1px solid var(--rule); }
nav div { max-width: 1120px; margin: 0 auto; padding: 10px 24px; display: flex; gap: 20px; flex-wrap: wrap; }
nav a { color: var(--soft); text-decoration: none; } nav a:hover, nav a:focus { color: var(--ink); }
section { margin: 36px 0; scroll-margin-top: 52px; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(132px, 1fr)); gap: 12px; margin: 0 0 14px; }
.figure, .card { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 14px 16px; }
.figure b { display: block; font-size: 25px; line-height: 1.2; font-weight: 600; font-variant-numeric: tabular-nums; }
.figure span { display: block; font-size: 13px; } .figure small { display: block; color: var(--soft); font-size: 12px; }
.card { margin: 0 0 14px; overflow-x: auto; }
.note { color: var(--soft); font-size: 13px; margin: 8px 0 0; }
svg { width: 100%; height: auto; display: block; } svg text { fill: var(--ink); font-size: 12px; }
svg .tick { fill: var(--soft); font-size: 11px; } .end { text-anchor: end; } .middle { text-anchor: middle; }
.grid { stroke: var(--rule); stroke-width: 1; }
rect:hover, circle:hover { opacity: .75; }
polyline { fill: none; stroke-width: 2; stroke-linejoin: round; }
.legend { display: flex; gap: 16px; flex-wrap: wrap; margin: 0 0 6px; font-size: 13px; color: var(--soft); }
.legend i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 6px; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: 12px; white-space: nowrap; }
th, td { padding: 6px 24px 6px 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
tr:last-child td { border-bottom: 0; } td { overflow-wrap: anywhere; min-width: 5ch; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.first { min-width: 22ch; }
footer { color: var(--soft); font-size: 13px; padding-bottom: 48px; }
@media print { nav { display: none; } .card, .figure { break-inside: avoid; } body { background: #fff; } }
""" + "".join(
    f".c{number} {{ fill: var(--c{number}); }} .l{number} {{ stroke: var(--c{number}); }}"
    f" .k{number} {{ background: var(--c{number}); }}\n"
    for number in range(6)
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
UNITS = {"%": " %", "ms": " ms", "s": " s", "min": " min"}
MINUTE = 120  # seconds from which a time is shown in minutes


def page(reports: Sequence[Report], *, made: str, place: str) -> str:
    """Return the page of some reports; `made` says when it was made, `place` names the commons."""
    first = reports[0]
    links = "".join(f'<a href="#{escape(report.name)}">{escape(report.title)}</a>' for report in reports[1:])
    body = "".join(part for report in reports for part in _section(report, first=report is first))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(first.title)} · {escape(place)}</title><style>{STYLE}</style></head><body>"
        f'<header><h1>{escape(first.title)}</h1><p class="lead">{escape(place)} · {escape(first.lead)}</p></header>'
        f"<nav><div>{links}</div></nav><main>{body}</main>"
        f"<footer><p>Made by deia on {escape(made)} from the ledger of this commons. Nothing was sent anywhere, and"
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
    yield "".join(f'<p class="note">{escape(note)}</p>' for note in report.notes)
    yield "</section>"


def _figure(figure: Figure) -> str:
    note = f"<small>{escape(figure.note)}</small>" if figure.note else ""
    shown = escape(shown_cell(figure.value, figure.unit))
    return f'<div class="figure"><b>{shown}</b><span>{escape(figure.label)}</span>{note}</div>'


def _chart(chart: Chart) -> Iterator[str]:
    image = draw(chart)
    if image:
        note = f'<p class="note">{escape(chart.note)}</p>' if chart.note else ""
        yield f'<div class="card"><h3>{escape(chart.title)}</h3>{legend(chart)}{image}{note}</div>'


def _table(grid: Grid) -> Iterator[str]:
    yield f'<div class="card"><h3>{escape(grid.title)}</h3>'
    if grid.rows:
        numeric = [_is_numeric(grid, at) for at in range(len(grid.columns))]
        yield "<table><thead><tr>"
        yield from (f"<th{_class(numeric[at], at)}>{escape(name)}</th>" for at, name in enumerate(grid.columns))
        yield "</tr></thead><tbody>"
        for row in grid.rows:
            cells = (
                f"<td{_class(numeric[at], at)}>{escape(_shortened(shown_cell(cell, grid.units.get(name, ''))))}</td>"
                for at, (name, cell) in enumerate(zip(grid.columns, row, strict=True))
            )
            yield f"<tr>{''.join(cells)}</tr>"
        yield "</tbody></table>"
    else:
        yield f'<p class="note">{escape(grid.empty)}</p>'
    notes = [f"{grid.more:,} more are not shown."] if grid.more else []
    notes += [grid.note] if grid.note and grid.rows else []
    yield "".join(f'<p class="note">{escape(note)}</p>' for note in notes) + "</div>"


def _is_numeric(grid: Grid, at: int) -> bool:
    return all(isinstance(row[at], (int, float)) or row[at] is None for row in grid.rows)


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
