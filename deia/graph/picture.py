"""A neighbourhood in the graph as one SVG picture for light and dark pages, without scripts.

Whatever flows does so from left to right. Labels do not overlap: every line ends at its own place on the edge of a box,
and its name stands at the end where fewer lines meet.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from deia.graph.drawing import Neighbourhood
from deia.graph.exports import xml
from deia.graph.facts import RESOLVED
from deia.graph.graph_answers import Node, Relation
from deia.text import one_line, shorten

MOST_NAME, MOST_LABEL = 36, 30  # characters
CHAR, SMALL = 7.4, 6.2  # the width of a character in pixels, in a box and beside a line
HEIGHT, PORT, TIGHT = 38.0, 15.0, 5.0  # the least of a box; of a line that ends at it, with and without a name
SPACE, MARGIN, PADDING, BEND = 14.0, 16.0, 10.0, 56.0
SWEEPS = 4  # over the columns, to put related entities side by side
LEFT, RIGHT = -1, 1
STYLE = """svg{color-scheme:light dark;background:#fff}
text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1c2024}
.type,.label{font-size:10px;fill:#5b6470}rect{fill:#f4f6f8;stroke:#8b95a1}.asked rect{fill:#dbeafe;stroke:#2563eb}
path{fill:none;stroke:#8b95a1}.unsure{stroke-dasharray:4 3}marker path{fill:#8b95a1;stroke:none}
@media (prefers-color-scheme:dark){svg{background:#14171a}text{fill:#e6e9ec}.type,.label{fill:#9aa4af}
rect{fill:#1f2429;stroke:#5b6470}.asked rect{fill:#1e3a5f;stroke:#60a5fa}path{stroke:#6b7480}
marker path{fill:#6b7480}}"""
ARROW = (
    '<marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8z"/></marker>'
)


class Line(NamedTuple):
    """The relations from one entity to another, which are drawn as one line."""

    source: int  # where it begins
    target: int
    label: str
    about: str  # the evidence
    is_sure: bool

    def other(self, entity: int) -> int:
        """Return the end that is not this entity."""
        return self.target if entity == self.source else self.source


class Plan(NamedTuple):
    """The arrangement before anything has a size: columns of entities, and the lines on each side of an entity."""

    columns: Mapping[int, Sequence[int]]
    column_of: Mapping[int, int]
    sides: Mapping[tuple[int, int], Sequence[Line]]  # by entity and side, from the top
    named_at: Mapping[Line, int]  # the end at which the name of a line stands

    def side(self, line: Line, entity: int) -> int:
        """Return the side of an entity on which a line ends."""
        return LEFT if self.column_of[entity] > self.column_of[line.other(entity)] else RIGHT

    def room(self, column: int, side: int) -> float:
        """Return the room that the names of lines need on a side of a column."""
        lines = ((line, entity) for entity in self.columns[column] for line in self.sides.get((entity, side), ()))
        return max((wide(line.label) * SMALL + 12 for line, at in lines if self.named_at[line] == at), default=12.0)


class Box(NamedTuple):
    """Where an entity is drawn."""

    x: float
    y: float
    width: float
    height: float


def picture(drawn: Neighbourhood) -> str:
    """Return a neighbourhood as SVG."""
    lines = [_line(pair, relations) for pair, relations in drawn.lines.items() if pair[0] != pair[1]]
    plan = _plan(drawn.layers, lines)
    boxes = _boxes(drawn, plan)
    last = max(plan.columns)
    turns = any((entity, RIGHT) in plan.sides for entity in plan.columns[last])
    width = max(box.x + box.width for box in boxes.values()) + MARGIN + turns * (BEND + plan.room(last, RIGHT))
    height = max(box.y + box.height for box in boxes.values()) + MARGIN
    first = next(iter(drawn.nodes))
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    title = f"<title>{xml(drawn.nodes[first].name)} and what is around it</title>"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">{title}',
        f"<style>{STYLE}</style><defs>{ARROW}</defs>",
        *(_drawn_line(plan, boxes, line) for line in lines),
        *(_drawn_box(node, boxes[entity], is_asked=entity == first) for entity, node in drawn.nodes.items()),
        "</svg>\n",
    ]
    return "".join(parts)


def wide(text: str) -> int:
    """Return the width of a text in character columns."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _line(pair: tuple[int, int], relations: Sequence[Relation]) -> Line:
    label = shorten(", ".join(relation.type for relation in relations), MOST_LABEL)
    about = "\n".join(f"{relation.type}: {relation.evidence}" for relation in relations)
    return Line(*pair, label, about, any(relation.certainty == RESOLVED for relation in relations))


# --- what goes where ---


def _plan(layers: Mapping[int, int], lines: Sequence[Line]) -> Plan:
    columns: dict[int, list[int]] = {}
    for entity, layer in sorted(layers.items(), key=lambda item: item[1]):
        columns.setdefault(layer, []).append(entity)
    around: dict[int, list[Line]] = {entity: [] for entity in layers}
    for line in lines:
        around[line.source].append(line)
        around[line.target].append(line)
    places = _arranged(columns, around)
    named_at = {line: min(line[:2], key=lambda end: (len(around[end]), -places[end])) for line in lines}
    plan = Plan(columns, layers, {}, named_at)
    sides: dict[tuple[int, int], list[Line]] = {}
    for entity, own in around.items():
        for line in sorted(own, key=lambda line: (places[line.other(entity)], line.source == entity)):
            sides.setdefault((entity, plan.side(line, entity)), []).append(line)
    return plan._replace(sides=sides)


def _arranged(columns: Mapping[int, list[int]], around: Mapping[int, Sequence[Line]]) -> dict[int, float]:
    """Sort each column so that related entities stand side by side; return how far down each is, from 0 to 1."""
    places: dict[int, float] = {}

    def put(column: Sequence[int]) -> None:
        places.update({entity: (at + 0.5) / len(column) for at, entity in enumerate(column)})

    def wanted(entity: int) -> float:
        others = [places[line.other(entity)] for line in around[entity]]
        return sum(others) / len(others) if others else places[entity]

    for column in columns.values():
        put(column)
    for sweep in range(SWEEPS):
        for layer in sorted(columns, reverse=bool(sweep % 2)):
            columns[layer].sort(key=wanted)
            put(columns[layer])
    return places


def _boxes(drawn: Neighbourhood, plan: Plan) -> dict[int, Box]:
    heights = {entity: _height(plan, entity) for entity in drawn.nodes}
    tallest = max(_column_height(column, heights) for column in plan.columns.values())
    boxes: dict[int, Box] = {}
    x, before = MARGIN, None
    for layer, column in plan.columns.items():
        if before is not None:
            x += plan.room(before, RIGHT) + BEND + plan.room(layer, LEFT)
        width = max(wide(text) * CHAR for entity in column for text in _texts(drawn.nodes[entity])) + 2 * PADDING
        y = MARGIN + (tallest - _column_height(column, heights)) / 2
        for entity in column:
            boxes[entity] = Box(x, y, width, heights[entity])
            y += heights[entity] + SPACE
        x, before = x + width, layer
    return boxes


def _column_height(column: Sequence[int], heights: Mapping[int, float]) -> float:
    return sum(heights[entity] for entity in column) + SPACE * (len(column) - 1)


def _height(plan: Plan, entity: int) -> float:
    return max(HEIGHT, *(sum(_steps(plan, entity, side)) + 8 for side in (LEFT, RIGHT)))


def _steps(plan: Plan, entity: int, side: int) -> list[float]:
    """Return the height that each line takes up on a side of an entity."""
    return [PORT if plan.named_at[line] == entity else TIGHT for line in plan.sides.get((entity, side), ())]


def _texts(node: Node) -> Iterator[str]:
    yield shorten(one_line(node.name), MOST_NAME)
    yield shorten(one_line(node.type), MOST_NAME)


# --- how it is drawn ---


def _drawn_line(plan: Plan, boxes: Mapping[int, Box], line: Line) -> str:
    (x, y, side), (to_x, to_y, to_side) = (_end(plan, boxes, line, entity) for entity in line[:2])
    out = x + side * plan.room(plan.column_of[line.source], side)
    into = to_x + to_side * plan.room(plan.column_of[line.target], to_side)
    bend = max(BEND, abs(into - out)) / 2
    curve = f"C{out + side * bend:.1f} {y:.1f} {into + to_side * bend:.1f} {to_y:.1f} {into:.1f} {to_y:.1f}"
    way = f"M{x:.1f} {y:.1f}H{out:.1f}{curve}H{to_x:.1f}"
    named = (x, y, side) if plan.named_at[line] == line.source else (to_x, to_y, to_side)
    anchor = "start" if named[2] == RIGHT else "end"
    label = f'<text class="label" x="{named[0] + named[2] * 7:.1f}" y="{named[1] - 3:.1f}" text-anchor="{anchor}">'
    unsure = "" if line.is_sure else ' class="unsure"'
    path = f'<path{unsure} marker-end="url(#arrow)" d="{way}"/>'
    return f"<g><title>{xml(line.about)}</title>{path}{label}{xml(line.label)}</text></g>"


def _end(plan: Plan, boxes: Mapping[int, Box], line: Line, entity: int) -> tuple[float, float, int]:
    """Return where a line ends at an entity, and on which side."""
    side, box = plan.side(line, entity), boxes[entity]
    at, steps = plan.sides[entity, side].index(line), _steps(plan, entity, side)
    y = box.y + (box.height - sum(steps)) / 2 + sum(steps[:at]) + max(steps[at] - 3, TIGHT / 2)  # a name stands above
    return box.x + (box.width if side == RIGHT else 0), y, side


def _drawn_box(node: Node, box: Box, *, is_asked: bool) -> str:
    name, kind = map(xml, _texts(node))
    about = xml("\n".join([node.name, node.description, *map(str, node.places)]))
    group = '<g class="asked">' if is_asked else "<g>"
    rect = f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="5"/>'
    x, y = box.x + PADDING, box.y + box.height / 2
    texts = (
        f'<text x="{x:.1f}" y="{y - 2:.1f}">{name}</text><text class="type" x="{x:.1f}" y="{y + 11:.1f}">{kind}</text>'
    )
    return f"{group}<title>{about}</title>{rect}{texts}</g>"
