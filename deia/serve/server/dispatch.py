"""From the name of a tool to what it does: checks the arguments and calls the function that answers.

The tools of the agent-library family have other names and parameters; they are translated into ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from deia import files
from deia.commons.layers.merge_layers import PROJECT, origin_of
from deia.errors import QueryError
from deia.librarian import Librarian
from deia.records import Record
from deia.search.find_document import look_up
from deia.serve.server.answer_tools import answer_question
from deia.serve.server.desk import SEARCH_TOOL, Desk, Reply
from deia.serve.server.library_tools import index_source, list_sources
from deia.serve.server.protocol_tools import repair, step
from deia.serve.server.read_tools import check, entities, export, from_graph, list_documents, query, read, suggest
from deia.serve.server.tool_arguments import checked
from deia.serve.server.tool_schemas import Tool
from deia.serve.server.write_tools import add_folder, feedback, is_of_index, remove, save
from deia.suggestions import nearest

Values: TypeAlias = Mapping[str, Any]  # of arguments, checked against the tool's schema

# What answers each tool. It takes the tool's arguments by name; those that a call leaves out have its defaults.
TOOLS: Mapping[str, Callable[..., Reply]] = {
    "query_global_commons": query,
    "answer": answer_question,
    "read_document": read,
    "check_triggers": check,
    "list_documents": list_documents,
    "save_lesson": save,
    "suggest_location": suggest,
    "remove_document": remove,
    "feedback": feedback,
    "index_source": index_source,
    "list_sources": list_sources,
    "entities": entities,
    "relations": partial(from_graph, Librarian.relations),
    "trace": partial(from_graph, Librarian.trace),
    "path": partial(from_graph, Librarian.path),
    "stats": partial(from_graph, Librarian.graph_stats),
    "export": export,
    "protocol": step,
    "repair": repair,
    "Librarian_IndexDirectoryToLibrary": add_folder,
}
# Tools that are tried again if the compiled files changed meanwhile.
RETRIED = ("query_global_commons", "answer", "read_document", "list_documents", "suggest_location", "protocol")
NAMES = {
    "from": "start",
    "to": "end",
    "maxDepth": "max_depth",
    "continue": "token",
}  # of parameters that the functions call otherwise


class Call(Record):
    """A call of one of our own tools."""

    tool: str
    arguments: Values


def find_tool(tools: Sequence[Tool], name: str) -> Tool:
    """Return the tool with this name; raise QueryError if this server does not offer it."""
    for tool in tools:
        if tool.name == name:
            return tool
    raise QueryError(f"there is no tool {name[:100]!r}", fix=nearest(name, [tool.name for tool in tools]))


def prepare(desk: Desk, tool: Tool, values: Values | None) -> Call:
    """Return a call with checked arguments, translated if the tool belongs to the other family."""
    arguments = checked(tool, values)
    translate = COMPAT.get(tool.name)
    return Call(tool=tool.own_name, arguments=translate(desk, arguments) if translate else arguments)


def answer(desk: Desk, call: Call) -> Reply:
    """Return what the called tool answers."""
    arguments = {NAMES.get(name, name): value for name, value in call.arguments.items()}
    reply = partial(TOOLS[call.tool], desk, **arguments)
    return desk.retry(reply) if call.tool in RETRIED else reply()


# --- the arguments of the agent-library family ---


def _document_id(desk: Desk, values: Values) -> str:
    catalog, path = desk.librarian.open_catalog(), _shelved(desk, values)
    return look_up(catalog, path, root=desk.root, folder=desk.folder, tool=SEARCH_TOOL).document.entry.id


def _path(values: Values) -> str:
    return str(values.get("path", "")).removeprefix("library://")


def _shelved(desk: Desk, values: Values) -> str:
    """Return the path of a document, which may leave out the folder `bok/`, as that of a new one may."""
    path = _path(values)
    is_below = not files.exists(f"{desk.root}/{path}") and files.exists(f"{desk.root}/bok/{path}")
    return f"bok/{path}" if is_below else path


def _renamed(values: Values, **names: str) -> Values:
    """Return some of the arguments, those that there are, under our names."""
    return {own: values[other] for own, other in names.items() if other in values}


def _search(_desk: Desk, values: Values) -> Values:
    limit = min(max(int(values.get("limit", 5)), 1), 50)
    kept = _renamed(values, query="query", mode="mode", asset_type="asset_type")
    return {**kept, "limit": limit, "detail": "full"}


def _add(desk: Desk, values: Values) -> Values:
    path = files.forward(_path(values)).replace("\\", "/").removeprefix(f"{desk.root}/").removeprefix("./")
    if files.is_absolute(path) and not f"{path}/".startswith("/bok/"):
        fix = "Name a folder, or a file that ends in .md, such as bok/patterns/queue.md."
        raise QueryError(f"{path[:200]!r} is outside bok/", fix=fix)
    folder, name = f"/{path.strip('/')}".removeprefix("/bok/").strip("/"), ""
    if folder.endswith(".md"):
        folder, _, name = folder.rpartition("/")
    category = {"category": folder} if folder and folder != "bok" else {}
    return {
        **_renamed(values, title="title", text="content", tags="tags"),
        **category,
        **({"file": name} if name else {}),
    }


def _list(_desk: Desk, values: Values) -> Values:
    return {"below": _path(values).lstrip("/"), **_renamed(values, limit="limit", offset="offset", view="view")}


COMPAT: Mapping[str, Callable[[Desk, Values], Values]] = {
    "Librarian_SearchLibrary": _search,
    "Librarian_ReadFromLibrary": lambda desk, values: {
        "document": _shelved(desk, values), **_renamed(values, lines="lines"),
    },
    "Librarian_AddToLibrary": _add,
    "Librarian_UpdateLibraryDoc": lambda desk, values: {
        "update": _document_id(desk, values), **_renamed(values, title="title", text="content"),
    },
    "Librarian_RemoveFromLibrary": lambda desk, values: {"id": _document_id(desk, values)},
    "Librarian_ListLibraryContents": _list,
    "Librarian_GetLibraryOverview": _list,
    "Librarian_SuggestLibraryLocation": lambda _, values: {"text": values["content"]},
}  # fmt: skip


# --- questions to the person, if the client can ask ---


def confirmation(desk: Desk, call: Call) -> str:
    """Return the question to ask before an existing document is changed, or an empty text if none is needed."""
    values = call.arguments
    if call.tool == "save_lesson" and values.get("update"):
        return f"Replace the text of {_label(desk, values['update'])}? The old text is kept in .trash/."
    if call.tool == "remove_document" and not values.get("undo"):
        return f"Move {_label(desk, values['id'])} to .trash/? It can be restored."
    if call.tool == "repair" and values.get("apply"):
        return "Take in what is stale of your library, and cut sources anew if questions then find more?"
    source = ""
    if call.tool == "index_source" and not values.get("content"):
        source = values["source"]
    elif call.tool == "Librarian_IndexDirectoryToLibrary" and not is_of_index(desk.root, values["path"]):
        source = values["path"]
    return f"Take {' '.join(source.split())[:200]!r} into your library?" if source else ""


def _label(desk: Desk, ident: str) -> str:
    document = desk.librarian.open_catalog().document(ident)
    if document is None or origin_of(document.entry.path) != PROJECT:
        return repr(ident[:100])
    return f"{document.entry.id} ({' '.join(document.entry.title.split())[:120]})"
