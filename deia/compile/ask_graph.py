"""Questions to the graph of a commons, as methods of whoever has it open."""

from __future__ import annotations

from deia import files
from deia.errors import QueryError
from deia.folders import GRAPH
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deia.compile.compiled_files import CompiledFiles
    from deia.graph.graph_answers import (
        DependentsAnswer,
        EntitiesAnswer,
        PathAnswer,
        RelationsAnswer,
        StatsAnswer,
        TraceAnswer,
    )
    from deia.graph.graph_store import Graph
    from deia.search.catalog import Catalog

ASKING = ("what", "which", "who", "the", "dependents", "callers", "users", "importers", "consumers")
MOST_WORDS = 100  # of a question that are looked at: no such question has more
USING = tuple(  # how words begin of which every such question has one
    "affect blast break call consum depend effect fail hit impact import inherit need reference rel rest use".split()
)
SHOWN = 8  # dependents in an answer to a question


class AsksGraph:
    """What answers questions to the graph. Each answer has its `text`, and `to_dict()` for programs.

    A name may be misspelt or abbreviated; an answer about a guess has a `note`. If it may mean several things, these
    are the answer's `choices`, whose `typed` leads to one of them alone.

    Raises:
        QueryError: the graph has no such entity or type, or a number or a direction makes no sense.
        CommonsError: there is no graph.
    """

    root: str
    collections: tuple[str, ...]
    _environ: Mapping[str, str]
    _compiled: CompiledFiles

    def open_graph(self) -> Graph:
        """Return the graph, brought up to date; close it after use, as `with` does."""
        from deia.compile.graph_update import open_graph  # noqa: PLC0415 - few programs ask the graph

        return open_graph(self.root, self._environ, self.collections)

    def entities(
        self,
        query: str = "",
        *,
        type: str = "",  # noqa: A002 - as entities have it
        fields: Mapping[str, str] = {},
        limit: int = 20,
    ) -> EntitiesAnswer:
        """Return the entities of a type, or those that a name may mean, of which `fields` have the values given."""
        from deia.graph.graph_questions import entities  # noqa: PLC0415 - likewise

        with self.open_graph() as graph:
            return entities(graph, query=query, kind=type, fields=fields, limit=limit)

    def relations(
        self,
        entity: str,
        *,
        direction: str = "both",
        type: str = "",  # noqa: A002 - as entities have it
        limit: int = 20,
    ) -> RelationsAnswer:
        """Return the relations of an entity that lead `in`, `out` or both, each with the line that shows it."""
        from deia.graph.graph_questions import relations  # noqa: PLC0415 - likewise

        with self.open_graph() as graph:
            return relations(graph, entity, direction=direction, kind=type, limit=limit)

    def trace(
        self,
        entity: str,
        *,
        direction: str = "downstream",
        type: str = "",  # noqa: A002 - as entities have it
        max_depth: int = 5,
    ) -> TraceAnswer:
        """Return what is `upstream` or `downstream` of an entity, as chains."""
        from deia.graph.graph_questions import trace  # noqa: PLC0415 - likewise

        with self.open_graph() as graph:
            return trace(graph, entity, direction=direction, kind=type, max_depth=max_depth)

    def path(self, start: str, end: str, *, max_depth: int = 5) -> PathAnswer:
        """Return a shortest path between two entities."""
        from deia.graph.graph_questions import path  # noqa: PLC0415 - likewise

        with self.open_graph() as graph:
            return path(graph, start, end, max_depth=max_depth)

    def dependents(
        self,
        entity: str,
        *,
        type: str = "",  # noqa: A002 - as entities have it
        max_depth: int = 5,
        limit: int = 20,
    ) -> DependentsAnswer:
        """Return what may break if an entity changes."""
        from deia.graph.graph_questions import dependents  # noqa: PLC0415 - likewise

        with self.open_graph() as graph:
            return dependents(graph, entity, kind=type, max_depth=max_depth, limit=limit)

    def said_to_depend(self, question: str) -> tuple[str, ...]:
        """Return what the graph says, line by line, if a question is what depends on something that it knows.

        The graph is asked as it is, since a search does not wait until it is up to date.
        """
        folder = f"{self._compiled.folder}/{GRAPH}"
        name = _changed_thing(question) if files.exists(folder) else ""
        if not name:
            return ()
        from deia.graph.graph_questions import dependents  # noqa: PLC0415 - few questions are such
        from deia.graph.graph_store import Graph, GraphError  # noqa: PLC0415

        try:
            with Graph(folder) as graph:
                return tuple(dependents(graph, name, limit=SHOWN).text.split("\n"))
        except (QueryError, GraphError):  # it has nothing of that name
            return ()

    def graph_stats(self) -> StatsAnswer:
        """Return how much there is in the graph, and how many passages and vectors the catalogs have."""
        from deia.graph.graph_questions import stats  # noqa: PLC0415 - likewise

        both = (self._compiled.open_catalog(), self._compiled.open_library())
        catalogs = [catalog for catalog in both if catalog is not None]
        chunks = sum(catalog.keyword.chunks for catalog in catalogs)
        with self.open_graph() as graph:
            return stats(graph, chunks=chunks, vectors=sum(map(_vectors, catalogs)))


def _changed_thing(question: str) -> str:
    """Return what `changed_thing` does; its patterns cost as much as a short search, and few questions need them."""
    first, *others = question.casefold().split(maxsplit=MOST_WORDS) or [""]
    if first not in ASKING or not any(word.startswith(USING) for word in (first, *others)):
        return ""
    from deia.search.question.impact import changed_thing  # noqa: PLC0415 - as the docstring says

    return changed_thing(question)


def _vectors(catalog: Catalog) -> int:
    """Return how many passages of a catalog have vectors."""
    return max((len(catalog.vectors(tier)) for tier in catalog.tiers), default=0)
