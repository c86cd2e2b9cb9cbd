"""From the name of a tool to what it does: checks the arguments and calls the function that answers.

The tools of the agent-library family have other names and parameters; they are translated into ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from deia.commons.layers.merge_layers import PROJECT, origin_of
from deia.errors import QueryError
from deia.search.find_document import look_up
from deia.serve.server.desk import SEARCH_TOOL, Desk, Reply
from deia.serve.server.library_tools import index_source, list_sources
from deia.serve.server.read_tools import check, list_documents, query, read, suggest
from deia.serve.server.tool_arguments import (
    Arguments,
    CheckArguments,
    FeedbackArguments,
    FolderArguments,
    ListArguments,
    QueryArguments,
    ReadArguments,
    RemoveArguments,
    SaveArguments,
    SourceArguments,
    SourcesArguments,
    SuggestArguments,
)
from deia.serve.server.tool_schemas import Tool
from deia.serve.server.validation import checked
from deia.serve.server.write_tools import add_folder, feedback, remove, save
from deia.suggestions import nearest

Values: TypeAlias = Mapping[str, Any]  # of arguments, checked against the tool's schema

ARGUMENTS: Mapping[str, Callable[..., Arguments]] = {
    "query_global_commons": QueryArguments,
    "read_document": ReadArguments,
    "check_triggers": CheckArguments,
    "list_documents": ListArguments,
    "save_lesson": SaveArguments,
    "suggest_location": SuggestArguments,
    "remove_document": RemoveArguments,
    "feedback": FeedbackArguments,
    "index_source": SourceArguments,
    "list_sources": SourcesArguments,
    "Librarian_IndexDirectoryToLibrary": FolderArguments,
}


def find_tool(tools: Sequence[Tool], name: str) -> Tool:
    """Return the tool with this name; raise QueryError if this server does not offer it."""
    for tool in tools:
        if tool.name == name:
            return tool
    raise QueryError(f"there is no tool {name[:100]!r}", fix=nearest(name, [tool.name for tool in tools]))


def prepare(desk: Desk, tool: Tool, values: Values | None) -> Arguments:
    """Return the checked arguments of a call, translated if the tool belongs to the other family."""
    arguments = checked(tool, values)
    translate = COMPAT.get(tool.name)
    return translate(desk, arguments) if translate else arguments_of(tool.name, arguments)


def arguments_of(name: str, values: Values) -> Arguments:
    """Return checked arguments as the record of the tool."""
    return ARGUMENTS[name](**{key: tuple(value) if isinstance(value, list) else value for key, value in values.items()})


def call(desk: Desk, arguments: Arguments) -> Reply:  # noqa: C901, PLR0911 - one return for each tool
    """Run the tool to which the arguments belong."""
    match arguments:
        case QueryArguments():
            return desk.retry(lambda: query(desk, arguments))
        case ReadArguments():
            return desk.retry(lambda: read(desk, arguments))
        case ListArguments():
            return desk.retry(lambda: list_documents(desk, arguments))
        case SuggestArguments():
            return desk.retry(lambda: suggest(desk, arguments.text))
        case CheckArguments():
            return check(desk, arguments)
        case SaveArguments():
            return save(desk, arguments)
        case RemoveArguments():
            return remove(desk, arguments)
        case FeedbackArguments():
            return feedback(desk, arguments)
        case SourceArguments():
            return index_source(desk, arguments)
        case SourcesArguments():
            return list_sources(desk)
        case FolderArguments():
            return add_folder(desk, arguments.path)


# --- the arguments of the agent-library family ---


def _document_id(desk: Desk, path: str) -> str:
    catalog = desk.librarian.open_catalog()
    return look_up(catalog, _path(path), root=desk.root, folder=desk.folder, tool=SEARCH_TOOL).document.entry.id


def _path(address: str) -> str:
    return address.removeprefix("library://")


def _search(_desk: Desk, values: Values) -> Arguments:
    limit = min(max(int(values.get("limit", 5)), 1), 50)
    return QueryArguments(query=values["query"], limit=limit, detail="full")


def _read(_desk: Desk, values: Values) -> Arguments:
    return ReadArguments(document=_path(values["path"]), lines=values.get("lines", ""))


def _add(_desk: Desk, values: Values) -> Arguments:
    folder = _path(values.get("path", "")).strip("/").removeprefix("bok/")
    lesson = SaveArguments(title=values["title"], text=values["content"], tags=tuple(values.get("tags", ())))
    return lesson.but(category=folder) if folder and folder != "bok" else lesson


def _update(desk: Desk, values: Values) -> Arguments:
    update = _document_id(desk, values["path"])
    return SaveArguments(title=values.get("title", ""), text=values["content"], update=update)


def _remove(desk: Desk, values: Values) -> Arguments:
    return RemoveArguments(id=_document_id(desk, values["path"]))


def _list(_desk: Desk, values: Values) -> Arguments:
    page = {name: values[name] for name in ("limit", "offset") if name in values}
    return ListArguments(below=_path(values.get("path", "")).lstrip("/"), **page)


def _suggest(_desk: Desk, values: Values) -> Arguments:
    return SuggestArguments(text=values["content"])


COMPAT: Mapping[str, Callable[[Desk, Values], Arguments]] = {
    "Librarian_SearchLibrary": _search,
    "Librarian_ReadFromLibrary": _read,
    "Librarian_AddToLibrary": _add,
    "Librarian_UpdateLibraryDoc": _update,
    "Librarian_RemoveFromLibrary": _remove,
    "Librarian_ListLibraryContents": _list,
    "Librarian_GetLibraryOverview": _list,
    "Librarian_SuggestLibraryLocation": _suggest,
}


# --- questions to the person, if the client can ask ---


def confirmation(desk: Desk, arguments: Arguments) -> str:
    """Return the question to ask before an existing document is changed, or an empty text if none is needed."""
    if isinstance(arguments, SaveArguments) and arguments.update:
        return f"Replace the text of {_label(desk, arguments.update)}? The old text is kept in .trash/."
    if isinstance(arguments, RemoveArguments) and not arguments.undo:
        return f"Move {_label(desk, arguments.id)} to .trash/? It can be restored."
    if isinstance(arguments, SourceArguments) and not arguments.content:
        return f"Take {' '.join(arguments.source.split())[:200]!r} into your library?"
    return ""


def _label(desk: Desk, ident: str) -> str:
    document = desk.librarian.open_catalog().document(ident)
    if document is None or origin_of(document.entry.path) != PROJECT:
        return repr(ident[:100])
    return f"{document.entry.id} ({' '.join(document.entry.title.split())[:120]})"


def cluster_choices(reply: Reply, arguments: Arguments) -> list[str]:
    """Return the clusters from which a person may choose if a question was too broad to answer."""
    return list(reply.clusters[:12]) if isinstance(arguments, QueryArguments) and not arguments.cluster else []
