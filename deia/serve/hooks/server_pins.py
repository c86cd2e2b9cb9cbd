"""Tells at the start of a session which MCP servers and hooks of a project are new or run something else than before.

Hosts start what these files name, and a pull of a repository may bring other commands with it. A hash of each entry is
kept in the person's state folder. (Hosts do not pass on to hooks what a server says about its own tools.)
"""

from __future__ import annotations

import hashlib

from deia import files
from deia.fast_json import Json, dumps, loads
from deia.text import one_line, shorten

# Files of a project, and the keys below which they name what a host starts.
NAMING = {
    ".mcp.json": ("mcpServers",), ".cursor/mcp.json": ("mcpServers",), ".vscode/mcp.json": ("servers",),
    ".claude/settings.json": ("hooks",), ".cursor/hooks.json": ("hooks",), ".factory/mcp.json": ("mcpServers",),
    ".gemini/settings.json": ("mcpServers", "hooks"), ".qwen/settings.json": ("mcpServers", "hooks"),
    ".kiro/settings/mcp.json": ("mcpServers",), ".roo/mcp.json": ("mcpServers",), ".amazonq/mcp.json": ("mcpServers",),
}  # fmt: skip
KEPT = "servers.json"  # in the state folder: folder → entry → hash
MOST_BYTES = 200_000  # of a file that names servers
MOST_KEPT = 2_000_000
MOST_TOLD, LONGEST = 5, 60


def changed_servers(folder: str, state: str) -> str:
    """Return which entries are new or different since the last session in a folder, and remember them; else ""."""
    entries = dict(_entries(folder))
    kept = _object(files.read(f"{state}/{KEPT}", MOST_KEPT))
    before = kept.get(folder)
    if before == entries or (before is None and not entries):
        return ""
    files.keep(f"{state}/{KEPT}", dumps({**kept, folder: entries}).encode("ascii"))
    if not isinstance(before, dict):
        return ""
    new = [f"{_shown(name)} is new" for name in entries if name not in before]
    changed = [
        f"{_shown(name)} runs something else" for name in entries if before.get(name, entries[name]) != entries[name]
    ]
    changes = ", ".join([*new, *changed][:MOST_TOLD])
    return f"since the last session here, what the host starts for this project changed: {changes}" if changes else ""


def _entries(folder: str) -> list[tuple[str, Json]]:
    """Return each entry of the files, as `file: name`, with the hash of its content."""
    entries: list[tuple[str, Json]] = []
    for path, keys in NAMING.items():
        data = files.read(f"{folder}/{path}", MOST_BYTES) or b"{}"
        content = _object(data)
        for key in keys:
            named = content.get(key)
            for name, entry in named.items() if isinstance(named, dict) else ():
                entries.append((f"{path}: {name}", _hash(entry, data)))
    return entries


def _hash(entry: Json, data: bytes) -> str:
    """Return a hash of an entry, or of its whole file if it is nested too deep to be written."""
    try:
        content = dumps(entry).encode("ascii")
    except RecursionError:
        content = data
    return hashlib.sha256(content).hexdigest()


def _object(data: bytes | None) -> dict[str, Json]:
    try:
        value = loads((data or b"{}").decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _shown(name: str) -> str:
    return shorten(one_line(name), LONGEST)
