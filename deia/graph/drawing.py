"""A neighbourhood in the graph, and how it is drawn as a text tree; `picture` draws it as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from deia.graph.graph_answers import Node, Relation
from deia.graph.graph_questions import nodes, relations_of
from deia.graph.graph_store import Graph
from deia.graph.traversal import AGAINST, TAKING, Edge, adjacent, by_certainty, neighbours
from deia.text import one_line

MOST_DRAWN = 40
BRANCHES, ASCII_BRANCHES = ("├── ", "└── ", "│   "), ("|-- ", "`-- ", "|   ")


class Neighbourhood(NamedTuple):
    """An entity and those around it, by id: how far right of it each is, from which it was reached, their relations."""

    nodes: Mapping[int, Node]  # the one that is asked about is the first
    layers: Mapping[int, int]
    parents: Mapping[int, int]
    lines: Mapping[tuple[int, int], Sequence[Relation]]  # by the entities at which the arrow begins and ends
    is_cut: bool


def neighbourhood(graph: Graph, entity: int, *, depth: int = 1, most: int = MOST_DRAWN) -> Neighbourhood:
    """Return the entities at most `depth` steps from an entity, and the relations between them."""
    layers, parents, front, is_cut = {entity: 0}, dict[int, int](), [entity], False
    edges: list[Edge] = []
    for _ in range(depth):
        new: list[int] = []
        for known in front:
            around = neighbours(graph, known, limit=most)
            for edge in around.edges:
                other = edge.other(known)
                if other not in layers and len(layers) < most:
                    comes_before = (other == edge.target) == (edge.type in AGAINST)
                    layers[other], parents[other] = layers[known] + (-1 if comes_before else 1), known
                    new.append(other)
            edges += around.edges
            is_cut = is_cut or around.is_cut
        front = new
    edges += adjacent(graph, layers)
    inner = dict.fromkeys(edge for edge in edges if edge.source in layers and edge.target in layers)
    lines = {(edge.source, edge.target, edge.type): edge for edge in sorted(inner, key=by_certainty, reverse=True)}
    shown: dict[tuple[int, int], list[Relation]] = {}
    inside = nodes(graph, layers)
    for edge, relation in zip(lines.values(), relations_of(graph, list(lines.values()), inside), strict=True):
        shown.setdefault(edge[1::-1] if edge.type in TAKING else edge[:2], []).append(relation)
    is_cut = is_cut or len(inner) < len(set(edges))
    return Neighbourhood(inside, layers, parents, shown, is_cut)


# --- text ---


def tree(drawn: Neighbourhood, *, ascii_only: bool = False) -> str:
    """Return a neighbourhood as a tree whose root is the entity that is asked about."""
    first = next(iter(drawn.nodes))
    below: dict[int, list[int]] = {}
    for child, parent in drawn.parents.items():
        below.setdefault(parent, []).append(child)
    return "\n".join([_label(drawn.nodes[first]), *_branches(drawn, below, first, "", ascii_only=ascii_only)])


def _branches(
    drawn: Neighbourhood, below: Mapping[int, list[int]], parent: int, indent: str, *, ascii_only: bool
) -> Iterator[str]:
    fork, end, bar = ASCII_BRANCHES if ascii_only else BRANCHES
    children = below.get(parent, [])
    for child in children:
        is_last = child == children[-1]
        yield f"{indent}{end if is_last else fork}{_way(drawn, parent, child)} {_label(drawn.nodes[child])}"
        inner = indent + ("    " if is_last else bar)
        yield from _branches(drawn, below, child, inner, ascii_only=ascii_only)


def _way(drawn: Neighbourhood, parent: int, child: int) -> str:
    both = [*drawn.lines.get((parent, child), ()), *drawn.lines.get((child, parent), ())]
    return " ".join(relation.arrow(drawn.nodes[parent]) for relation in both)


def _label(node: Node) -> str:
    place = f" ({one_line(str(node.places[0]))})" if node.places else ""
    return f"{node.type} {one_line(node.name)}{place}"
