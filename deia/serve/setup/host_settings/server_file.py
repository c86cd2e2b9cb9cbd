"""Finds, adds and removes deia's server in the text of a host's settings; the rest of the file keeps its bytes.

JSON is changed in one place of its text, Codex's TOML by whole lines of one table. It is an error if a server of that
name belongs to somebody else, or if the file cannot be changed without changing more.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Mapping
from typing import Any

from deia.errors import HostError
from deia.fast_json import Json
from deia.serve.server.host_blocks import HOSTS, NAME
from deia.serve.setup.host_settings.hosts_table import PROJECT, USER, Place
from deia.serve.setup.host_settings.json_text import (
    COMMAS,
    COMMENTS,
    body_of,
    insert,
    parse,
    prune,
    split_bom,
    with_containers,
)

TOML_ROOT = "mcp_servers"
BY_HAND = "Correct the file by hand, or print the block and enter it by hand: deia mcp config {host}"
EXTRAS = {"gemini": COMMENTS, "vscode": COMMAS}  # what a host allows in its file besides JSON
TRANSPORT = (
    "type",
    "command",
    "args",
    "url",
    "httpUrl",
    "headers",
    "bearer_token_env_var",
)  # fields that deia writes itself


def _of_programs(name: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return where a desktop program keeps its files on this system, below the person's home."""
    known = {"darwin": f"Library/Application Support/{name}", "win32": f"AppData/Roaming/{name}"}
    other = (f".config/{name}", (("XDG_CONFIG_HOME", ".config"),))
    return (known[sys.platform], ()) if sys.platform in known else other


_CODE, _CODE_MOVED = _of_programs("Code/User")
_CLAUDE, _CLAUDE_MOVED = _of_programs("Claude")
# Where each host keeps its servers, by scope; the same sources as `host_blocks`.
PLACES: Mapping[str, Mapping[str, Place]] = {
    "claude-desktop": {USER: Place(folder=_CLAUDE, file="claude_desktop_config.json", variables=_CLAUDE_MOVED)},
    "claude-code": {
        PROJECT: Place(folder="", file=".mcp.json"),
        USER: Place(folder="", file=".claude.json", variables=(("CLAUDE_CONFIG_DIR", ""),)),
    },
    "cursor": {PROJECT: Place(folder=".cursor", file="mcp.json"), USER: Place(folder=".cursor", file="mcp.json")},
    "vscode": {
        PROJECT: Place(folder=".vscode", file="mcp.json"),
        USER: Place(folder=_CODE, file="mcp.json", variables=_CODE_MOVED),
    },
    "kiro": {
        PROJECT: Place(folder=".kiro/settings", file="mcp.json"),
        USER: Place(folder=".kiro/settings", file="mcp.json"),
    },
    "codex": {
        PROJECT: Place(folder=".codex", file="config.toml"),
        USER: Place(folder=".codex", file="config.toml", variables=(("CODEX_HOME", ".codex"),)),
    },
    "gemini": {
        PROJECT: Place(folder=".gemini", file="settings.json"),
        USER: Place(folder=".gemini", file="settings.json", variables=(("GEMINI_CLI_HOME", ""),)),
    },
}


def is_ours(entry: object) -> bool:
    """Return whether a server named deia is ours: one with an address is, any other if it starts deia."""
    if not isinstance(entry, dict):
        return False
    if any(isinstance(entry.get(name), str) for name in ("url", "httpUrl")):
        return True
    args = entry.get("args")
    words = [entry.get("command"), *(args if isinstance(args, list) else [])]
    names = [word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe") for word in words if isinstance(word, str)]
    return "deia.serve.main" in names or "deia" in names


def server_in(text: str, host: str, *, path: str) -> dict[str, Any] | None:
    """Return the fields of deia's server in a file, or None.

    Raises:
        HostError: the file cannot be read, or a server of that name belongs to somebody else.
    """
    body = body_of(text)
    settings: Any = {}
    if host == "codex":
        settings = _toml(body, path, host)
    elif body:
        settings = parse(body, where=path, extras=EXTRAS.get(host, ""))
    key = TOML_ROOT if host == "codex" else HOSTS[host].key
    servers = settings.get(key, {}) if isinstance(settings, dict) else None
    if not isinstance(servers, dict):
        part = key if isinstance(settings, dict) else "the file"
        raise HostError(f"{part} is not an object", where=path, fix=BY_HAND.format(host=host))
    entry = servers.get(NAME)
    if entry is not None and not is_ours(entry):
        fix = f"Rename that server, or see: deia mcp config {host}"
        raise HostError(f"it has a server called {NAME} that is somebody else's", where=path, fix=fix)
    return entry


def with_server(text: str, host: str, fields: Mapping[str, Json], *, path: str) -> str:
    """Return a file's text with the server; unchanged if it has it already.

    What a person added to the server (an environment, permissions for tools) stays.

    Raises:
        HostError: the file cannot be changed.
    """
    present = server_in(text, host, path=path)
    kept = {name: value for name, value in (present or {}).items() if name not in TRANSPORT}
    wanted = {**fields, **kept}
    if present == wanted:
        return text
    bare = without_server(text, host, path=path)
    if host == "codex":
        return _with_table(bare, wanted, path)
    bom, body = split_bom(bare)
    key = HOSTS[host].key
    return bom + insert(with_containers(body, [key], {}), [key], wanted, key=NAME)


def without_server(text: str, host: str, *, path: str) -> str:
    """Return a file's text without the server, and without an object that this leaves empty.

    Raises:
        HostError: the file cannot be changed.
    """
    if server_in(text, host, path=path) is None:
        return text
    if host == "codex":
        return _without_table(text, path)
    bom, body = split_bom(text)
    return bom + prune(body, [HOSTS[host].key, NAME], steps=[1], where=path, extras=COMMAS)


# --- TOML ---


def _toml(text: str, path: str, host: str = "codex") -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise HostError(f"not TOML: {error}", where=path, fix=BY_HAND.format(host=host)) from error


def _with_table(text: str, fields: Mapping[str, Json], path: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{TOML_ROOT}.{NAME}]"]
    lines += [f"{name} = {_written(value)}" for name, value in fields.items()]
    before = f"{text.rstrip()}{newline * 2}" if text.strip() else ""
    after = before + newline.join(lines) + newline
    settings = _toml(text, path)
    expected = {**settings, TOML_ROOT: {**settings.get(TOML_ROOT, {}), NAME: dict(fields)}}
    return _only_if(after, expected, path)


def _without_table(text: str, path: str) -> str:
    """Return the text without the lines of the table and its subtables; what stands above its header stays."""
    kept: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        head = line.strip()
        if head.startswith("["):
            name = head.strip("[]").partition("]")[0].replace(" ", "").replace('"', "").replace("'", "")
            inside = name == f"{TOML_ROOT}.{NAME}" or name.startswith(f"{TOML_ROOT}.{NAME}.")
        if not inside:
            kept.append(line)
    expected = _toml(text, path)
    servers = {name: value for name, value in expected.pop(TOML_ROOT).items() if name != NAME}
    whole = {**expected, **({TOML_ROOT: servers} if servers else {})}
    after = "".join(kept).rstrip()
    return _only_if(f"{after}\n" if after else "", whole, path)


def _only_if(text: str, expected: Mapping[str, Any], path: str) -> str:
    """Return a text if its settings are the expected ones.

    Raises:
        HostError: they are not, because the file is written in a way that cannot be changed by lines.
    """
    settings = {name: value for name, value in _toml(text, path).items() if value or name != TOML_ROOT}
    if settings != expected:
        problem = "the file is written in a way that cannot be changed line by line"
        raise HostError(problem, where=path, fix=BY_HAND.format(host="codex"))
    return text


def _written(value: Json) -> str:
    """Return a value as TOML; texts and lists are written as in JSON, tables inline."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(name)} = {_written(item)}" for name, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    return json.dumps(value) if isinstance(value, (str, bool, int, float)) else json.dumps(str(value))
