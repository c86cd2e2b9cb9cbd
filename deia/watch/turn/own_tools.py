"""Recognises the calls and results of deia's own server, in which nothing is watched.

They are what deia is asked and says, and an answer about an error is no error. A repository can bring a server of the
same name. It gains nothing: only the tools that deia offers are passed over, with the arguments that deia takes, and
none of them runs a command.
"""

from __future__ import annotations

from deia.records import Turn
from deia.tables import Tables

TABLES = Tables(__file__)
FIELDS = TABLES.lists("fields")
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
