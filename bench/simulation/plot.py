"""Lines over rounds as one self-contained SVG: one panel per figure, from 0 to 1, legible on light and dark."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

COLOURS = ("#1a7f5a", "#8a8f98", "#c2571a")  # told apart by the colour-blind, and by their dashes
DASHES = ("", "5 4", "1.5 3.5")
WIDTH, HEIGHT, COLUMNS = 330, 190, 2  # of a panel
LEFT, TOP, RIGHT, BOTTOM = 38, 34, 14, 26
LEGEND, EDGE = 34, 6


def panels(
    series: Mapping[str, Mapping[str, Sequence[float]]], *, below: str, turn: int | None = None, from_then: str = ""
) -> str:
    """Draw a panel for each title, with a line for each name; the event that begins at `turn` is described in words."""
    rows = -(-len(series) // COLUMNS)
    width, height = WIDTH * COLUMNS, HEIGHT * rows + LEGEND + EDGE
    names = list(dict.fromkeys(name for lines in series.values() for name in lines))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"',
        ' font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *_legend(names),
    ]
    for number, (title, lines) in enumerate(series.items()):
        x, y = number % COLUMNS * WIDTH, LEGEND + number // COLUMNS * HEIGHT
        parts += [f'<g transform="translate({x} {y})">', *_panel(title, lines, below)]
        parts += [*_mark(lines, turn, from_then), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def _legend(names: Sequence[str]) -> Iterator[str]:
    x = LEFT
    for number, name in enumerate(names):
        yield _line(f"M{x} 18h26", number)
        yield f'<text x="{x + 32}" y="22" fill="#222222">{escape(name)}</text>'
        x += 52 + 7 * len(name)


def _panel(title: str, lines: Mapping[str, Sequence[float]], below: str) -> Iterator[str]:
    yield f'<text x="{LEFT}" y="20" font-weight="bold" fill="#222222">{escape(title)}</text>'
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    for step in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = bottom - step * (bottom - TOP)
        yield f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#dddddd" fill="none"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#555555">{step:g}</text>'
    most = max(1, max(map(len, lines.values()), default=1) - 1)
    for at in range(most + 1):
        x = LEFT + at * (right - LEFT) / most
        yield f'<text x="{x:.1f}" y="{bottom + 14}" text-anchor="middle" fill="#555555">{at}</text>'
    yield f'<text x="{right}" y="{bottom + 24}" text-anchor="end" fill="#555555">{escape(below)}</text>'
    for number, values in enumerate(lines.values()):
        points = [
            f"{LEFT + at * (right - LEFT) / most:.1f} {bottom - value * (bottom - TOP):.1f}"
            for at, value in enumerate(values)
        ]
        yield _line("M" + "L".join(points), number)


def _mark(lines: Mapping[str, Sequence[float]], turn: int | None, told: str) -> Iterator[str]:
    if turn is None:
        return
    x = LEFT + turn * (WIDTH - RIGHT - LEFT) / max(1, max(map(len, lines.values()), default=1) - 1)
    yield f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#999999" stroke-dasharray="2 2" fill="none"/>'
    yield f'<text x="{x + 4:.1f}" y="{HEIGHT - BOTTOM - 16}" fill="#555555">{escape(told)}</text>'


def _line(path: str, number: int) -> str:
    dash = f' stroke-dasharray="{DASHES[number]}"' if DASHES[number] else ""
    return f'<path d="{path}" stroke="{COLOURS[number]}" stroke-width="2" fill="none"{dash}/>'
