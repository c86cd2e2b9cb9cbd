"""A report for a person at a terminal: figures, small plots and tables, within the terminal's width.

Everything that comes from the ledger is made printable first. Refuses to know where the figures come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from deia.ledger.report_page import shown_cell
from deia.ledger.report_values import Chart, Figure, Grid, Report
from deia.search.rendering.columns import columns, cut, plain, wrap
from deia.search.rendering.terminal_answer import Look

if TYPE_CHECKING:
    from deia.ledger.report_values import Cell

NARROWEST, WIDEST = 60, 140
STEPS, PLAIN_STEPS = " ▁▂▃▄▅▆▇█", " .:-=+*#@"
BAR, PLAIN_BAR = "█", "#"
LONGEST_NAME = 36
ROWS_OF_BARS = 10
LEAST_COLUMN = 5  # columns of a terminal that a column of text keeps
SHORT = 10  # columns up to which a cell is a number or a day, which say nothing when they are cut


def report_text(report: Report, look: Look) -> str:
    """Give a report as lines of text."""
    width = min(max(look.width, NARROWEST), WIDEST)
    lines = [_styled(report.title, "1", look), *wrap(plain(report.lead), width), ""]
    lines += _figures(report.figures)
    for block in report.blocks:
        lines += _chart(block, width, look) if isinstance(block, Chart) else _table(block, width, look)
    for note in report.notes:
        lines += ["", *wrap(plain(note), width)]
    return "\n".join(lines)


def grid_text(grid: Grid, look: Look) -> list[str]:
    """Give a table alone, without its title."""
    return list(_table(grid, max(look.width, NARROWEST), look))[2:]


def _styled(text: str, code: str, look: Look) -> str:
    return f"\x1b[{code}m{plain(text)}\x1b[0m" if look.colour else plain(text)


def _figures(figures: Sequence[Figure]) -> Iterator[str]:
    told = [(shown_cell(each.value, each.unit), each.label, each.note) for each in figures]
    wide = max((columns(value) for value, _, _ in told), default=0)
    for value, label, note in told:
        yield f"{' ' * (wide - columns(value))}{value}  {label}{f' ({plain(note)})' if note else ''}"


def _chart(chart: Chart, width: int, look: Look) -> Iterator[str]:
    if not chart.labels or not any(value for values in chart.series.values() for value in values):
        return
    yield ""
    yield _styled(chart.title, "1", look)
    yield from (_bars(chart, width, look) if chart.kind == "bars" else _sparks(chart, width, look))


def _sparks(chart: Chart, width: int, look: Look) -> Iterator[str]:
    """Give each series as a row of small columns, with the most that it reaches."""
    steps = STEPS if look.symbols else PLAIN_STEPS
    wide = max(len(name) for name, values in chart.series.items() if any(values))
    room = width - wide - 16
    for name, values in chart.series.items():
        if not any(values):
            continue
        kept = _squeezed([value or 0.0 for value in values], room)
        most = max(kept)
        row = "".join(steps[min(-(-int(value * 800 / most) // 100), 8) if most else 0] for value in kept)
        yield f"{name.rjust(wide)}  {row}  most {shown_cell(_whole(most), chart.unit)}"
    if len(chart.labels) > 1:
        first, last = chart.labels[0], chart.labels[-1]
        length = min(len(chart.labels), room)
        yield f"{' ' * wide}  {first}{' ' * max(length - len(first) - len(last), 1)}{last}"


def _squeezed(values: Sequence[float], room: int) -> list[float]:
    """Give at most so many values: of neighbours that share a place the greatest."""
    if len(values) <= room:
        return list(values)
    return [
        max(values[at * len(values) // room : max((at + 1) * len(values) // room, at * len(values) // room + 1)])
        for at in range(room)
    ]


def _bars(chart: Chart, width: int, look: Look) -> Iterator[str]:
    totals = [sum(values[at] or 0.0 for values in chart.series.values()) for at in range(len(chart.labels))]
    chosen = sorted(range(len(totals)), key=lambda at: -totals[at])[:ROWS_OF_BARS]
    wide = min(max(columns(plain(chart.labels[at])) for at in chosen), LONGEST_NAME)
    most = max(totals) or 1
    room = width - wide - 14
    for at in chosen:
        name = cut(plain(chart.labels[at]), wide)
        bar = (BAR if look.symbols else PLAIN_BAR) * max(round(room * totals[at] / most), int(totals[at] > 0))
        yield f"{name}{' ' * (wide - columns(name))}  {bar} {shown_cell(_whole(totals[at]), chart.unit)}"
    if len(chart.series) > 1:
        yield f"{' ' * wide}  {' + '.join(chart.series)}"


def _whole(value: float) -> float | int:
    return int(value) if value == int(value) else round(value, 1)


def _table(grid: Grid, width: int, look: Look) -> Iterator[str]:
    yield ""
    yield _styled(grid.title, "1", look)
    if not grid.rows:
        yield f"  {grid.empty}"
        return
    cells = [
        [plain(shown_cell(cell, grid.units.get(name, ""))) for name, cell in zip(grid.columns, row, strict=True)]
        for row in grid.rows
    ]
    shown = min(len(grid.columns), (width - LEAST_COLUMN) // (LEAST_COLUMN + 2))  # what is left out, JSON has
    cells = [row[:shown] for row in cells]
    wide = _widths([list(grid.columns[:shown]), *cells], width - 2)
    right = [all(_is_number(row[at]) for row in grid.rows) for at in range(shown)]
    yield _styled(_row(grid.columns[:shown], wide, right), "2", look)
    for row in cells:
        yield _row(row, wide, right)
    if grid.more:
        yield f"  and {grid.more:,} more"
    if grid.note:
        yield from (f"  {line}" for line in wrap(plain(grid.note), width - 2))


def _is_number(cell: Cell) -> bool:
    return cell is None or isinstance(cell, (int, float))


def _row(cells: Sequence[str], wide: Sequence[int], right: Sequence[bool]) -> str:
    told = []
    for cell, room, to_right in zip(cells, wide, right, strict=True):
        text = cut(cell, room)
        space = " " * (room - columns(text))
        told.append(space + text if to_right else text + space)
    return f"  {'  '.join(told)}".rstrip()


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Give each column what it needs; what is too much is taken from the widest, column by column.

    What a row is about is told as long as anything else can give way, and numbers and days longer than their headings.
    """
    wide = [max(columns(row[at]) for row in rows) for at in range(len(rows[0]))]
    told = [max(columns(row[at]) for row in rows[1:]) for at in range(len(wide))]
    least = [max(LEAST_COLUMN, room if room <= SHORT else 0) for room in told]
    least[0] = max(LEAST_COLUMN, min(wide[0], LONGEST_NAME))
    while sum(wide) + 2 * (len(wide) - 1) > width and max(wide) > LEAST_COLUMN:
        giving = (
            [at for at, room in enumerate(wide) if room > least[at]]
            or [at for at, room in enumerate(wide) if at and room > LEAST_COLUMN]
            or [0]
        )
        wide[max(giving, key=lambda at: wide[at])] -= 1
    return wide
