"""From a tool's name to what it does: checked arguments in, a reply out, for both families of names.

The one place that knows which function answers which tool. Refuses a tool that this server does not offer.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from deia.commons.layers.merge_layers import PROJECT, origin_of
from deia.errors import QueryError
from deia.search.find_document import look_up
from deia.serve.server.desk import SEARCHES, Desk, Reply
from deia.serve.server.read_tools import ask, check, list_documents, read, suggest
from deia.serve.server.validation import checked
from deia.serve.server.write_tools import enter_folder, judge, remove, save

if TYPE_CHECKING:
    Arguments = Mapping[str, Any]
    Tool = Mapping[str, Any]

DOES: Mapping[str, Callable[[Desk, Arguments], Reply]] = {
    "query_global_commons": ask,
    "read_document": read,
    "check_triggers": check,
    "list_documents": list_documents,
    "save_lesson": save,
    "suggest_location": suggest,
    "remove_document": remove,
    "feedback": judge,
    "Librarian_IndexDirectoryToLibrary": enter_folder,
}


def find_tool(offered: Sequence[Tool], name: str) -> Tool:
    """Give the tool of this name.

    Raises:
        QueryError: this server does not offer it.
    """
    for tool in offered:
        if tool["name"] == name:
            return tool
    names = [tool["name"] for tool in offered]
    near = difflib.get_close_matches(name[:100], names, n=1)
    fix = f"Did you mean {near[0]}?" if near else f"Offered are: {', '.join(names)}."
    raise QueryError(f"there is no tool {name[:100]!r}", fix=fix)


def prepared(desk: Desk, tool: Tool, given: Arguments | None) -> tuple[str, Arguments]:
    """Give which of our own tools is meant, and its checked arguments.

    Raises:
        QueryError: an argument is wrong, or names no document.
    """
    arguments = checked(tool, given)
    translate = COMPAT.get(tool["name"])
    return translate(desk, arguments) if translate else (tool["name"], arguments)


def call(desk: Desk, name: str, arguments: Arguments) -> Reply:
    """Do what one of our own tools does.

    Raises:
        DeiaError: it cannot be done; the message says what to do next.
    """
    return desk.steady(lambda: DOES[name](desk, arguments)) if name in READING else DOES[name](desk, arguments)


READING = ("query_global_commons", "read_document", "list_documents", "suggest_location")  # done twice, they do no harm


# --- the other family's arguments ---


def _identity(desk: Desk, path: str) -> str:
    catalog = desk.librarian.open_catalog()
    name = path.removeprefix("library://")
    return look_up(catalog, name, root=desk.root, folder=desk.folder, tool=SEARCHES).document.entry.id


def _search(_desk: Desk, given: Arguments) -> tuple[str, Arguments]:
    limit = min(max(int(given.get("limit", 5)), 1), 50)
    return "query_global_commons", {"query": given["query"], "limit": limit, "detail": "full"}


def _read(_desk: Desk, given: Arguments) -> tuple[str, Arguments]:
    return "read_document", {**_without(given, "path"), "document": given["path"].removeprefix("library://")}


def _add(_desk: Desk, given: Arguments) -> tuple[str, Arguments]:
    folder = given.get("path", "").removeprefix("library://").strip("/").removeprefix("bok/")
    category = {"category": folder} if folder and folder != "bok" else {}
    return "save_lesson", {**_without(given, "path", "content"), "text": given["content"], **category}


def _update(desk: Desk, given: Arguments) -> tuple[str, Arguments]:
    found = {**_without(given, "path", "content"), "text": given["content"], "update": _identity(desk, given["path"])}
    return "save_lesson", found


def _remove(desk: Desk, given: Arguments) -> tuple[str, Arguments]:
    return "remove_document", {"id": _identity(desk, given["path"])}


def _list(_desk: Desk, given: Arguments) -> tuple[str, Arguments]:
    below = given.get("path", "").removeprefix("library://").lstrip("/")
    return "list_documents", {**_without(given, "path"), **({"below": below} if below else {})}


def _suggest(_desk: Desk, given: Arguments) -> tuple[str, Arguments]:
    return "suggest_location", {"text": given["content"]}


def _without(given: Arguments, *names: str) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in names}


COMPAT: Mapping[str, Callable[[Desk, Arguments], tuple[str, Arguments]]] = {
    "Librarian_SearchLibrary": _search,
    "Librarian_ReadFromLibrary": _read,
    "Librarian_AddToLibrary": _add,
    "Librarian_UpdateLibraryDoc": _update,
    "Librarian_RemoveFromLibrary": _remove,
    "Librarian_ListLibraryContents": _list,
    "Librarian_GetLibraryOverview": _list,
    "Librarian_SuggestLibraryLocation": _suggest,
}


# --- what a person is asked first, where the client can ask ---


def to_confirm(desk: Desk, name: str, arguments: Arguments) -> str:
    """Give the question to put before a change of what is there, or the empty text."""
    if name == "save_lesson" and arguments.get("update"):
        return f"Replace the text of {_titled(desk, arguments['update'])}? The old text is kept in .trash/."
    if name == "remove_document" and not arguments.get("undo"):
        return f"Move {_titled(desk, arguments['id'])} to .trash/? It can be brought back."
    return ""


def _titled(desk: Desk, ident: str) -> str:
    found = desk.librarian.open_catalog().document(ident)
    if found is None or origin_of(found.entry.path) != PROJECT:
        return repr(ident[:100])
    return f"{found.entry.id} ({' '.join(found.entry.title.split())[:120]})"


def to_narrow(reply: Reply, name: str, arguments: Arguments) -> list[str]:
    """Give the clusters of which a person may choose one, where a question was too broad to answer."""
    if name != "query_global_commons" or arguments.get("cluster"):
        return []
    return [str(one) for one in reply.fields.get("available_clusters", ())][:12]
