"""The graph of a commons and its library, brought up to date when it is opened."""

from __future__ import annotations

from deia.folders import derived_folder
from deia.graph.graph_store import Graph
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def open_graph(root: str, environ: Mapping[str, str]) -> Graph:
    """Return the graph of a commons; raise CommonsError if there is none."""
    return Graph(f"{derived_folder(root, environ)}/graph")
