"""A neighbourhood as text: all that is around, with the way that arrows point, and no more than was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.graph.drawing import neighbourhood, tree
from deia.graph.facts import Entity, Facts, Reference
from deia.graph.graph_store import Graph

if TYPE_CHECKING:
    from pathlib import Path

FLOW = ("A PRODUCES Kafka", "B CONSUMES Kafka", "C USES B", "B USES C")


def flow(folder: Path, *relations: str) -> Graph:
    """Return a graph of services in one document."""
    words = [line.split() for line in relations]
    names = dict.fromkeys(name for source, _, target in words for name in (source, target))
    facts = Facts(
        entities=tuple(Entity(name, "SERVICE", 1, 1, shared=True) for name in names),
        references=tuple(
            Reference(kind, target, line, source, "SERVICE") for line, (source, kind, target) in enumerate(words, 1)
        ),
    )
    graph = Graph(str(folder))
    with graph.transaction():
        graph.put("flow.md", "1", facts)
    return graph


def ident(graph: Graph, name: str) -> int:
    found: int = graph.database.execute("select id from entities where name = ?", (name,)).fetchone()[0]
    return found


def test_a_tree_shows_what_is_around_and_which_way_things_go(tmp_path: Path) -> None:
    with flow(tmp_path, *FLOW) as graph:
        around = neighbourhood(graph, ident(graph, "Kafka"), depth=2)
        assert tree(around).splitlines() == [
            "SERVICE Kafka (flow.md:1)",
            "├── --[CONSUMES]--> SERVICE B (flow.md:1)",
            "│   └── --[USES]--> <--[USES]-- SERVICE C (flow.md:1)",
            "└── <--[PRODUCES]-- SERVICE A (flow.md:1)",
        ]
        assert tree(around, ascii_only=True).isascii()
        assert not around.is_cut


@pytest.mark.parametrize("depth", [1, 3])
def test_no_more_than_asked_for_is_drawn_and_what_is_missing_is_told(tmp_path: Path, depth: int) -> None:
    with flow(tmp_path, *(f"s{number} USES hub" for number in range(60)), "hub OWNS all") as graph:
        around = neighbourhood(graph, ident(graph, "hub"), depth=depth, most=10)
        assert len(around.nodes) == len(around.layers) == 10
        assert around.is_cut
        assert "all" in {node.name for node in around.nodes.values()}, "each type of relation has its share"


def test_what_nothing_is_around_stands_alone(tmp_path: Path) -> None:
    with flow(tmp_path, *FLOW) as graph:
        assert tree(neighbourhood(graph, ident(graph, "flow.md"))) == "DOCUMENT flow.md (flow.md:1)"
