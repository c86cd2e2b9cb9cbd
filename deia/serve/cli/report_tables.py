"""Reports for a terminal: figures, small charts and tables, within the terminal's width.

All text is made printable first, because it comes from the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deia.ledger.report_page import shown_cell
from deia.ledger.report_values import Chart, Figure, Grid, Report
from deia.search.rendering.columns import columns, cut, plain, wrap
from deia.search.rendering.terminal_answer import Look

NARROWEST, WIDEST = 60, 140
STEPS, PLAIN_STEPS = " ▁▂▃▄▅▆▇█", " .:-=+*#@"
BAR, PLAIN_BAR = "█", "#"
LONGEST_NAME = 36
ROWS_OF_BARS = 10
LEAST_COLUMN = 5  # characters that a column of text keeps at least
SHORT = 10  # a cell of up to so many characters is a number or a day, which would be useless if cut


def report_text(report: Report, look: Look) -> str:
    """Return a report as text."""
    width = min(max(look.width, NARROWEST), WIDEST)
    lines = [_styled(report.title, "1", look), *wrap(plain(report.lead), width), ""]
    lines += _figures(report.figures)
    for block in report.blocks:
        lines += _chart(block, width, look) if isinstance(block, Chart) else _table(block, width, look)
    for note in report.notes:
        lines += ["", *wrap(plain(note), width)]
    return "\n".join(lines)


def grid_text(grid: Grid, look: Look) -> list[str]:
    """Return the lines of a table without its title."""
    return list(_table(grid, max(look.width, NARROWEST), look))[2:]


def _styled(text: str, code: str, look: Look) -> str:
    return f"\x1b[{code}m{plain(text)}\x1b[0m" if look.colour else plain(text)


def _figures(figures: Sequence[Figure]) -> Iterator[str]:
    values = [shown_cell(figure.value, figure.unit) for figure in figures]
    width = max(map(columns, values), default=0)
    for value, figure in zip(values, figures, strict=True):
        note = f" ({plain(figure.note)})" if figure.note else ""
        yield f"{' ' * (width - columns(value))}{value}  {figure.label}{note}"


def _chart(chart: Chart, width: int, look: Look) -> Iterator[str]:
    if not chart.labels or not any(value for values in chart.series.values() for value in values):
        return
    yield ""
    yield _styled(chart.title, "1", look)
    yield from (_bars(chart, width, look) if chart.kind == "bars" else _sparks(chart, width, look))


def _sparks(chart: Chart, width: int, look: Look) -> Iterator[str]:
    """Yield each series as a row of small columns, with its maximum."""
    steps = STEPS if look.symbols else PLAIN_STEPS
    name_width = max(len(name) for name, values in chart.series.items() if any(values))
    room = width - name_width - 16
    for name, values in chart.series.items():
        if not any(values):
            continue
        heights = _squeezed([value or 0.0 for value in values], room)
        most = max(heights)
        row = "".join(steps[min(-(-int(value * 800 / most) // 100), 8) if most else 0] for value in heights)
        yield f"{name.rjust(name_width)}  {row}  most {shown_cell(_whole(most), chart.unit)}"
    if len(chart.labels) > 1:
        first, last = chart.labels[0], chart.labels[-1]
        length = min(len(chart.labels), room)
        yield f"{' ' * name_width}  {first}{' ' * max(length - len(first) - len(last), 1)}{last}"


def _squeezed(values: Sequence[float], room: int) -> list[float]:
    """Return at most `room` values: the greatest of those that share a place."""
    if len(values) <= room:
        return list(values)
    return [
        max(values[at * len(values) // room : max((at + 1) * len(values) // room, at * len(values) // room + 1)])
        for at in range(room)
    ]


def _bars(chart: Chart, width: int, look: Look) -> Iterator[str]:
    totals = [sum(values[at] or 0.0 for values in chart.series.values()) for at in range(len(chart.labels))]
    largest = sorted(range(len(totals)), key=lambda at: -totals[at])[:ROWS_OF_BARS]
    name_width = min(max(columns(plain(chart.labels[at])) for at in largest), LONGEST_NAME)
    most = max(totals) or 1
    room = width - name_width - 14
    for at in largest:
        name = cut(plain(chart.labels[at]), name_width)
        bar = (BAR if look.symbols else PLAIN_BAR) * max(round(room * totals[at] / most), int(totals[at] > 0))
        yield f"{name}{' ' * (name_width - columns(name))}  {bar} {shown_cell(_whole(totals[at]), chart.unit)}"
    if len(chart.series) > 1:
        yield f"{' ' * name_width}  {' + '.join(chart.series)}"


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
    shown = min(len(grid.columns), (width - LEAST_COLUMN) // (LEAST_COLUMN + 2))  # --json has the others
    cells = [row[:shown] for row in cells]
    widths = _widths([list(grid.columns[:shown]), *cells], width - 2)
    right = [all(row[at] is None or isinstance(row[at], (int, float)) for row in grid.rows) for at in range(shown)]
    yield _styled(_row(grid.columns[:shown], widths, right), "2", look)
    yield from (_row(row, widths, right) for row in cells)
    if grid.more:
        yield f"  and {grid.more:,} more"
    if grid.note:
        yield from (f"  {line}" for line in wrap(plain(grid.note), width - 2))


def _row(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = []
    for cell, width, to_right in zip(cells, widths, right, strict=True):
        text = cut(cell, width)
        space = " " * (width - columns(text))
        padded.append(space + text if to_right else text + space)
    return f"  {'  '.join(padded)}".rstrip()


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the width of each column; if all together are too wide, the widest are narrowed, one step at a time."""
    # The first column, which names the row, is narrowed last. Numbers and days are narrowed after other texts; headings
    # may be cut before them.
    widths = [max(columns(row[at]) for row in rows) for at in range(len(rows[0]))]
    cell_widths = [max(columns(row[at]) for row in rows[1:]) for at in range(len(widths))]
    least = [max(LEAST_COLUMN, cell if cell <= SHORT else 0) for cell in cell_widths]
    least[0] = max(LEAST_COLUMN, min(widths[0], LONGEST_NAME))
    while sum(widths) + 2 * (len(widths) - 1) > width and max(widths) > LEAST_COLUMN:
        narrowable = (
            [at for at, column in enumerate(widths) if column > least[at]]
            or [at for at, column in enumerate(widths) if at and column > LEAST_COLUMN]
            or [0]
        )
        widths[max(narrowable, key=lambda at: widths[at])] -= 1
    return widths
