"""The tools that ask the graph; they only read, and what they show of documents stays on lines of its own."""

from __future__ import annotations

from deia.errors import QueryError
from deia.graph import exports
from deia.graph.graph_answers import GraphAnswer
from deia.graph.schema import fields_of
from deia.librarian import Librarian
from deia.serve.server.desk import Desk, Reply
from deia.serve.server.tool_arguments import (
    EntitiesArguments,
    ExportArguments,
    PathArguments,
    RelationsArguments,
    TraceArguments,
)


def _librarian(desk: Desk) -> Librarian:
    """Return the librarian; raise QueryError if only collections are offered, since the graph is of everything."""
    if desk.collections:
        raise QueryError("this server gives collections away and has no graph", fix="Ask query_global_commons.")
    return desk.librarian


def _reply(answer: GraphAnswer) -> Reply:
    return Reply(fields=answer.to_dict(), text=answer.text)


def entities(desk: Desk, arguments: EntitiesArguments) -> Reply:
    """List entities."""
    asked, fields = _librarian(desk), fields_of(arguments.fields)
    return _reply(asked.entities(arguments.query, type=arguments.type, fields=fields, limit=arguments.limit))


def relations(desk: Desk, arguments: RelationsArguments) -> Reply:
    """Return the relations of an entity."""
    asked = _librarian(desk)
    return _reply(asked.relations(arguments.entity, direction=arguments.direction, limit=arguments.limit))


def trace(desk: Desk, arguments: TraceArguments) -> Reply:
    """Return what is upstream or downstream of an entity."""
    asked = _librarian(desk)
    return _reply(asked.trace(arguments.entity, direction=arguments.direction, max_depth=arguments.max_depth))


def path(desk: Desk, arguments: PathArguments) -> Reply:
    """Return a shortest path between two entities."""
    return _reply(_librarian(desk).path(arguments.start, arguments.end, max_depth=arguments.max_depth))


def stats(desk: Desk) -> Reply:
    """Return how much there is."""
    return _reply(_librarian(desk).graph_stats())


def exported(desk: Desk, arguments: ExportArguments) -> Reply:
    """Return the graph, or what there is of one type, in a format for other programs."""
    with _librarian(desk).open_graph() as graph:
        export = exports.export(graph, arguments.format, kind=arguments.type, most=arguments.limit)
        content = "\n".join(export.lines)
    return Reply(fields={"content": content, "complete": not export.is_cut}, text=content)
