"""Charts of reports as SVG: stacked columns and lines over time, and bars by name.

Colours are classes of the style sheet beside this file, for light and dark; the title of each mark shows its value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from deia.ledger.report_values import Chart
from deia.tables import text_beside

WIDTH, HEIGHT = 1040, 270
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 10, 26
ROW, NAMES, NAME_CHARS = 26, 280, 42  # of bars: height of a row, width of the names, characters of a name
TICKS = 4
GREY = 5  # the number of the grey in the page's colours
DATES = 8  # labels below a chart, approximately


def styles() -> str:
    """Return the style sheet of charts."""
    return text_beside(__file__, ".css")


def picture_of(chart: Chart) -> str:
    """Return a chart as a file of its own, or "" if it has no values."""
    drawn = draw(chart)
    return drawn.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1).replace(
        "<title>", f"<style>{styles()}</style><title>", 1
    )


def draw(chart: Chart) -> str:
    """Return a chart as SVG, or "" if it has no values."""
    if not chart.labels or not any(value for values in chart.series.values() for value in values):
        return ""
    parts = {"columns": _columns, "lines": _lines, "bars": _bars}[chart.kind](chart)
    return "".join(parts)


def _colour(number: int, name: str) -> int:
    """Return the number of a series' colour; "other" is grey, so that it does not get the colour of failures."""
    return GREY if name == "other" else number


def legend(chart: Chart) -> str:
    """Return the names of a chart's series with their colours, as HTML."""
    shown = [(number, name) for number, name in enumerate(chart.series) if any(chart.series[name])]
    keys = "".join(f'<span><i class="k{_colour(number, name)}"></i>{escape(name)}</span>' for number, name in shown)
    return f'<p class="legend">{keys}</p>' if len(chart.series) > 1 else ""


def _begin(chart: Chart, height: int) -> str:
    label = escape(chart.title, quote=True)
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}"><title>{label}</title>'


def scale(most: float, *, whole: bool = False) -> tuple[float, float]:
    """Return a round step and a round top for an axis that reaches up to `most`; the steps of counts are `whole`."""
    rough = max(most / TICKS, 1.0 if whole else 1e-9)
    power = 10.0 ** math.floor(math.log10(rough))
    factors = (1, 2, 5, 10) if whole else (1, 2, 2.5, 5, 10)
    step = next(factor * power for factor in factors if factor * power >= rough * 0.999999)
    return step, step * math.ceil(most / step - 1e-9)


def _axes(chart: Chart, step: float, top: float) -> Iterator[str]:
    value = 0.0
    while value <= top + step / 2:
        y = _height(value, top)
        yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="tick end" x="{LEFT - 6}" y="{y + 4:.1f}">{_short(value)}</text>'
        value += step
    wide = (WIDTH - LEFT - RIGHT) / len(chart.labels)
    step = 1 if chart.labels[0][:1] in "<≥" else math.ceil(len(chart.labels) / DATES)
    for at in range(0, len(chart.labels), step):
        x = LEFT + wide * (at + 0.5)
        yield f'<text class="tick middle" x="{x:.1f}" y="{HEIGHT - 8}">{escape(_date(chart.labels[at]))}</text>'


def _height(value: float, top: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top)


def _columns(chart: Chart) -> Iterator[str]:
    totals = [sum(values[at] or 0 for values in chart.series.values()) for at in range(len(chart.labels))]
    step, top = scale(max(totals), whole=not chart.unit)
    yield _begin(chart, HEIGHT)
    yield from _axes(chart, step, top)
    wide = (WIDTH - LEFT - RIGHT) / len(chart.labels)
    for at, label in enumerate(chart.labels):
        below = 0.0
        for number, (name, values) in enumerate(chart.series.items()):
            value = values[at] or 0.0
            if value:
                high, low = _height(below + value, top), _height(below, top)
                x, gap = LEFT + wide * at, min(wide * 0.18, 6)
                yield _mark(x + gap / 2, high, max(wide - gap, 0.8), max(low - high, 0.6), number, label, name, value)
            below += value
    yield "</svg>"


def _mark(  # noqa: PLR0913, PLR0917 - a rectangle and its title
    x: float, y: float, wide: float, high: float, number: int, label: str, name: str, value: float
) -> str:
    title = escape(f"{label}: {_exact(value)} {name}")
    colour = _colour(number, name)
    return (
        f'<rect class="c{colour}" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="1.5">'
        f"<title>{title}</title></rect>"
    )


def _lines(chart: Chart) -> Iterator[str]:
    step, top = scale(max(value for values in chart.series.values() for value in values if value is not None))
    yield _begin(chart, HEIGHT)
    yield from _axes(chart, step, top)
    wide = (WIDTH - LEFT - RIGHT) / len(chart.labels)
    for number, (name, values) in enumerate(chart.series.items()):
        points = [(LEFT + wide * (at + 0.5), value, chart.labels[at]) for at, value in enumerate(values)]
        for run in _runs(points):
            path = " ".join(f"{x:.1f},{_height(value, top):.1f}" for x, value, _ in run)
            yield f'<polyline class="l{number}" points="{path}"/>'
        for x, value, label in points:
            if value is not None:
                title = escape(f"{label}: {name} {_exact(value)} {chart.unit}")
                y = _height(value, top)
                yield f'<circle class="c{number}" cx="{x:.1f}" cy="{y:.1f}" r="2.6"><title>{title}</title></circle>'
    yield "</svg>"


def _runs(points: Sequence[tuple[float, float | None, str]]) -> Iterator[list[tuple[float, float, str]]]:
    """Yield the uninterrupted runs of points that have values."""
    run: list[tuple[float, float, str]] = []
    for x, value, label in points:
        if value is not None:
            run.append((x, value, label))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _bars(chart: Chart) -> Iterator[str]:
    height = ROW * len(chart.labels) + 8
    most = max(sum(values[at] or 0 for values in chart.series.values()) for at in range(len(chart.labels)))
    room = WIDTH - NAMES - 60
    yield _begin(chart, height)
    for at, label in enumerate(chart.labels):
        y = 4 + ROW * at
        short = label if len(label) <= NAME_CHARS else f"{label[: NAME_CHARS - 1]}…"
        name = f"{escape(short)}<title>{escape(label)}</title>"
        yield f'<text class="name end" x="{NAMES - 10}" y="{y + 16}">{name}</text>'
        x = float(NAMES)
        for number, (name, values) in enumerate(chart.series.items()):
            value = values[at] or 0.0
            wide = room * value / most
            if value:
                yield _mark(x, y + 3, max(wide - 1, 1.0), ROW - 8, number, label, name, value)
            x += wide
        total = sum(values[at] or 0 for values in chart.series.values())
        yield f'<text class="tick" x="{x + 6:.1f}" y="{y + 16}">{_short(total)}</text>'
    yield "</svg>"


def _short(value: float) -> str:
    for size, sign in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= size:
            return f"{value / (1e3 if sign == 'k' else size):.3g}{sign}"
    return f"{value:.4g}"


def _exact(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def _date(label: str) -> str:
    """Return a date without its year, which the title of every mark shows."""
    return label[5:] if len(label) == 10 and label[4] == label[7] == "-" else label
