"""Recognises the calls and results of deia's own server, in which nothing is watched.

They are what deia is asked and says, and an answer about an error is no error. A repository can bring a server of the
same name. It gains nothing: only the tools that deia offers are passed over, with the arguments that deia takes, and
none of them runs a command.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn

if TYPE_CHECKING:
    from collections.abc import Mapping

# Tool → its arguments, as `deia mcp` offers them.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "query_global_commons": (
        "query", "platform", "audience", "urgency", "cluster", "mode", "limit", "detail", "asset_type", "collection",
    ),
    "read_document": ("document", "lines"),
    "check_triggers": ("conversation", "conversation_id"),
    "list_documents": ("platform", "audience", "urgency", "cluster", "tag", "limit", "offset"),
    "save_lesson": (
        "title", "text", "summary", "platform", "urgency", "tags", "keywords", "category", "trigger", "update",
    ),
    "suggest_location": ("text",),
    "remove_document": ("id", "undo"),
    "feedback": ("id", "verdict", "note"),
    "index_source": ("source", "content", "filter", "collection", "branch"),
    "list_sources": (),
    "Librarian_SearchLibrary": ("query", "limit"),
    "Librarian_ReadFromLibrary": ("path", "lines"),
    "Librarian_AddToLibrary": ("title", "content", "path", "tags"),
    "Librarian_UpdateLibraryDoc": ("path", "content", "title"),
    "Librarian_RemoveFromLibrary": ("path",),
    "Librarian_ListLibraryContents": ("path", "limit", "offset"),
    "Librarian_IndexDirectoryToLibrary": ("path",),
    "Librarian_GetLibraryOverview": (),
    "Librarian_SuggestLibraryLocation": ("content",),
}  # fmt: skip
NAMES = tuple(FIELDS)
SERVERS = ("deia", "plugin_deia_deia")  # the second is the server of the plugin at Claude Code
NAMELESS = ("query_global_commons", "Librarian_")  # beginnings of names that count without their server's
SEPARATORS = "_-.:/@"


def is_own(turn: Turn) -> bool:
    """Return whether a turn is a call of deia's own server or its result, whatever the host calls the tool."""
    if not turn.tool.endswith(NAMES):
        return False
    name = next(name for name in NAMES if turn.tool.endswith(name))
    server = turn.tool[: -len(name)].strip(SEPARATORS)
    server = (server[3:] if server[:3].lower() == "mcp" else server).strip(SEPARATORS)
    if server not in SERVERS and (server or not name.startswith(NAMELESS)):
        return False
    is_spoken = turn.role == "tool_call" and bool(turn.text)
    return not is_spoken and (turn.tool_input or {}).keys() <= set(FIELDS[name])
