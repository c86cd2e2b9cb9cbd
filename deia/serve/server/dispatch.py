"""From the name of a tool to what it does: checks the arguments and calls the function that answers.

The tools of the agent-library family have other names and parameters; they are translated into ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from deia.commons.layers.merge_layers import PROJECT, origin_of
from deia.errors import QueryError
from deia.search.find_document import look_up
from deia.serve.server import tool_arguments
from deia.serve.server.desk import SEARCH_TOOL, Desk, Reply
from deia.serve.server.graph_tools import entities, exported, path, relations, stats, trace
from deia.serve.server.library_tools import index_source, list_sources
from deia.serve.server.read_tools import check, list_documents, query, read, suggest
from deia.serve.server.tool_schemas import Tool
from deia.serve.server.write_tools import add_folder, feedback, is_of_index, remove, save
from deia.suggestions import nearest

Values: TypeAlias = Mapping[str, Any]  # of arguments, checked against the tool's schema

# Each tool with the record of its arguments, and what answers it.
TOOLS: Mapping[str, tuple[Callable[..., tool_arguments.Arguments], Callable[[Desk, Any], Reply]]] = {
    "query_global_commons": (
        tool_arguments.QueryArguments,
        lambda desk, arguments: desk.retry(lambda: query(desk, arguments)),
    ),
    "read_document": (tool_arguments.ReadArguments, lambda desk, arguments: desk.retry(lambda: read(desk, arguments))),
    "check_triggers": (tool_arguments.CheckArguments, check),
    "list_documents": (
        tool_arguments.ListArguments,
        lambda desk, arguments: desk.retry(lambda: list_documents(desk, arguments)),
    ),
    "save_lesson": (tool_arguments.SaveArguments, save),
    "suggest_location": (
        tool_arguments.SuggestArguments,
        lambda desk, arguments: desk.retry(lambda: suggest(desk, arguments.text)),
    ),
    "remove_document": (tool_arguments.RemoveArguments, remove),
    "feedback": (tool_arguments.FeedbackArguments, feedback),
    "index_source": (tool_arguments.SourceArguments, index_source),
    "list_sources": (tool_arguments.SourcesArguments, lambda desk, _: list_sources(desk)),
    "entities": (tool_arguments.EntitiesArguments, entities),
    "relations": (tool_arguments.RelationsArguments, relations),
    "trace": (tool_arguments.TraceArguments, trace),
    "path": (tool_arguments.PathArguments, path),
    "stats": (tool_arguments.StatsArguments, lambda desk, _: stats(desk)),
    "export": (tool_arguments.ExportArguments, exported),
    "Librarian_IndexDirectoryToLibrary": (
        tool_arguments.FolderArguments,
        lambda desk, arguments: add_folder(desk, arguments.path),
    ),
}
ANSWERS = dict(TOOLS.values())
FIELDS = {"from": "start", "to": "end", "maxDepth": "max_depth"}  # of records, for parameters that cannot be fields


def find_tool(tools: Sequence[Tool], name: str) -> Tool:
    """Return the tool with this name; raise QueryError if this server does not offer it."""
    for tool in tools:
        if tool.name == name:
            return tool
    raise QueryError(f"there is no tool {name[:100]!r}", fix=nearest(name, [tool.name for tool in tools]))


def prepare(desk: Desk, tool: Tool, values: Values | None) -> tool_arguments.Arguments:
    """Return the checked arguments of a call, translated if the tool belongs to the other family."""
    arguments = tool_arguments.checked(tool, values)
    translate = COMPAT.get(tool.name)
    return translate(desk, arguments) if translate else arguments_of(tool.name, arguments)


def arguments_of(name: str, values: Values) -> tool_arguments.Arguments:
    """Return checked arguments as the record of the tool."""
    fields = {FIELDS.get(key, key): tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    return TOOLS[name][0](**fields)


def call(desk: Desk, arguments: tool_arguments.Arguments) -> Reply:
    """Run the tool to which the arguments belong."""
    return ANSWERS[type(arguments)](desk, arguments)


# --- the arguments of the agent-library family ---


def _document_id(desk: Desk, path: str) -> str:
    catalog = desk.librarian.open_catalog()
    return look_up(catalog, _path(path), root=desk.root, folder=desk.folder, tool=SEARCH_TOOL).document.entry.id


def _path(address: str) -> str:
    return address.removeprefix("library://")


def _search(_desk: Desk, values: Values) -> tool_arguments.Arguments:
    limit = min(max(int(values.get("limit", 5)), 1), 50)
    kept = {name: values[name] for name in ("mode", "asset_type") if name in values}
    return tool_arguments.QueryArguments(query=values["query"], limit=limit, detail="full", **kept)


def _add(_desk: Desk, values: Values) -> tool_arguments.Arguments:
    folder = _path(values.get("path", "")).strip("/").removeprefix("bok/")
    lesson = tool_arguments.SaveArguments(
        title=values["title"], text=values["content"], tags=tuple(values.get("tags", ()))
    )
    return lesson.but(category=folder) if folder and folder != "bok" else lesson


def _update(desk: Desk, values: Values) -> tool_arguments.Arguments:
    update = _document_id(desk, values["path"])
    return tool_arguments.SaveArguments(title=values.get("title", ""), text=values["content"], update=update)


def _list(_desk: Desk, values: Values) -> tool_arguments.Arguments:
    page = {name: values[name] for name in ("limit", "offset", "view") if name in values}
    return tool_arguments.ListArguments(below=_path(values.get("path", "")).lstrip("/"), **page)


COMPAT: Mapping[str, Callable[[Desk, Values], tool_arguments.Arguments]] = {
    "Librarian_SearchLibrary": _search,
    "Librarian_ReadFromLibrary": lambda _desk, values: tool_arguments.ReadArguments(
        document=_path(values["path"]), lines=values.get("lines", "")
    ),
    "Librarian_AddToLibrary": _add,
    "Librarian_UpdateLibraryDoc": _update,
    "Librarian_RemoveFromLibrary": lambda desk, values: tool_arguments.RemoveArguments(
        id=_document_id(desk, values["path"])
    ),
    "Librarian_ListLibraryContents": _list,
    "Librarian_GetLibraryOverview": _list,
    "Librarian_SuggestLibraryLocation": lambda _desk, values: tool_arguments.SuggestArguments(text=values["content"]),
}


# --- questions to the person, if the client can ask ---


def confirmation(desk: Desk, arguments: tool_arguments.Arguments) -> str:
    """Return the question to ask before an existing document is changed, or an empty text if none is needed."""
    if isinstance(arguments, tool_arguments.SaveArguments) and arguments.update:
        return f"Replace the text of {_label(desk, arguments.update)}? The old text is kept in .trash/."
    if isinstance(arguments, tool_arguments.RemoveArguments) and not arguments.undo:
        return f"Move {_label(desk, arguments.id)} to .trash/? It can be restored."
    source = ""
    if isinstance(arguments, tool_arguments.SourceArguments) and not arguments.content:
        source = arguments.source
    elif isinstance(arguments, tool_arguments.FolderArguments) and not is_of_index(desk.root, arguments.path):
        source = arguments.path
    return f"Take {' '.join(source.split())[:200]!r} into your library?" if source else ""


def _label(desk: Desk, ident: str) -> str:
    document = desk.librarian.open_catalog().document(ident)
    if document is None or origin_of(document.entry.path) != PROJECT:
        return repr(ident[:100])
    return f"{document.entry.id} ({' '.join(document.entry.title.split())[:120]})"


def cluster_choices(reply: Reply, arguments: tool_arguments.Arguments) -> list[str]:
    """Return the clusters from which a person may choose if a question was too broad to answer."""
    return (
        list(reply.clusters[:12])
        if isinstance(arguments, tool_arguments.QueryArguments) and not arguments.cluster
        else []
    )
