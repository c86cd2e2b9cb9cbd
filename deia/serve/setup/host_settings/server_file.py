"""Writes deia's server for each host's settings, and finds, adds and removes it there; the rest keeps its bytes.

JSON is changed in one place of its text, Codex's TOML by whole lines of one table. It is an error if a server of that
name belongs to somebody else, or if the file cannot be changed without changing more.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from deia.errors import HostError
from deia.fast_json import Json
from deia.records import Record
from deia.serve.setup.host_settings.hosts_table import SERVERS
from deia.serve.setup.host_settings.json_text import BOM, COMMAS, insert, parse, prune, with_containers

NAME = "deia"
TOML_ROOT = "mcp_servers"
BY_HAND = "Correct the file by hand, or print the block and enter it by hand: deia serve config {host}"
# The fields that deia writes itself.
TRANSPORT = ("type", "command", "args", "url", "httpUrl", "headers", "bearer_token_env_var")


class Block(Record):
    """A block of settings for a person to paste, and the file that it belongs in."""

    place: str
    text: str
    note: str = ""


def fields_for(host: str, *, url: str = "", arguments: Sequence[str] = (), token: bool = False) -> dict[str, Json]:
    """Return a host's settings for a server that it starts with these arguments, or for one that runs at `url`.

    With `token` the host sends the token from its environment; the token itself is not written down.
    """
    server = SERVERS[host]
    if url:
        address = {**({"type": server.address_type} if server.address_type else {}), server.address: url}
        return {**address, **(server.token_fields if token else {}), **server.more}
    # With `-P` it does not import modules from the working folder, which may be anybody's repository.
    command, rest = sys.executable, ["-P", "-m", "deia.serve.main", "mcp", *arguments]
    started: dict[str, Json] = {"command": [command, *rest]} if server.one_list else {"command": command, "args": rest}
    return {**({"type": server.started_type} if server.typed else {}), **started, **server.more}


def block_for(host: str, *, url: str = "", arguments: Sequence[str] = (), token: bool = False) -> Block:
    """Return a host's block of settings, for a person to paste."""
    server = SERVERS[host]
    fields = fields_for(host, url=url, arguments=arguments, token=token)
    as_json = json.dumps({server.key: {NAME: fields}}, indent=2, ensure_ascii=False)
    return Block(place=server.place, text=_table(fields) if host == "codex" else as_json, note=server.note)


def is_ours(entry: object) -> TypeGuard[dict[str, Json]]:
    """Return whether a server named deia is ours: one with an address is, any other if it starts deia."""
    if not isinstance(entry, dict):
        return False
    if any(isinstance(entry.get(name), str) for name in ("url", "httpUrl")):
        return True
    command, args = entry.get("command"), entry.get("args")
    words = [*(command if isinstance(command, list) else [command]), *(args if isinstance(args, list) else [])]
    names = [word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe") for word in words if isinstance(word, str)]
    return "deia.serve.main" in names or "deia" in names


def server_in(text: str, host: str, *, path: str) -> dict[str, Json] | None:
    """Return the fields of deia's server in a file, or None."""
    is_toml = host == "codex"
    settings: Json = _toml(text, path) if is_toml else parse(text, where=path, extras=SERVERS[host].extras)
    key = TOML_ROOT if is_toml else SERVERS[host].key
    servers = settings.get(key, {}) if isinstance(settings, dict) else None
    if not isinstance(servers, dict):
        part = key if isinstance(settings, dict) else "the file"
        raise HostError(f"{part} is not an object", where=path, fix=BY_HAND.format(host=host))
    entry = servers.get(NAME)
    if entry is None or is_ours(entry):
        return entry
    fix = f"Rename that server, or see: deia serve config {host}"
    raise HostError(f"it has a server called {NAME} that is somebody else's", where=path, fix=fix)


def with_server(text: str, host: str, fields: Mapping[str, Json], *, path: str) -> str:
    """Return a file's text with the server; unchanged if it has it already.

    What a person added to the server (an environment, permissions for tools) stays. Raise HostError if the file cannot
    be changed.
    """
    present = server_in(text, host, path=path)
    kept = {name: value for name, value in (present or {}).items() if name not in TRANSPORT}
    wanted = {**fields, **kept}
    if present == wanted:
        return text
    bare = without_server(text, host, path=path)
    if host == "codex":
        newline = "\r\n" if "\r\n" in bare else "\n"
        before = f"{bare.rstrip()}{newline * 2}" if bare.strip() else ""
        after = before + _table(wanted).replace("\n", newline) + newline
        settings = _toml(bare, path)
        expected = {**settings, TOML_ROOT: {**settings.get(TOML_ROOT, {}), NAME: dict(wanted)}}
        return _only_if(after, expected, path)
    key = SERVERS[host].key
    return insert(with_containers(bare, [key], {}), [key], wanted, key=NAME)


def without_server(text: str, host: str, *, path: str) -> str:
    """Return a file's text without the server, and without an object that this leaves empty."""
    if server_in(text, host, path=path) is None:
        return text
    if host == "codex":
        return _without_table(text, path)
    return prune(text, [SERVERS[host].key, NAME], steps=[1], where=path, extras=COMMAS)


# --- TOML ---


def _toml(text: str, path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix(BOM))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise HostError(f"not TOML: {error}", where=path, fix=BY_HAND.format(host="codex")) from error


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


def _only_if(text: str, expected: Mapping[str, object], path: str) -> str:
    """Return a text if its settings are the expected ones."""
    settings = {name: value for name, value in _toml(text, path).items() if value or name != TOML_ROOT}
    if settings != expected:
        problem = "the file is written in a way that cannot be changed line by line"
        raise HostError(problem, where=path, fix=BY_HAND.format(host="codex"))
    return text


def _table(fields: Mapping[str, Json]) -> str:
    return "\n".join([f"[{TOML_ROOT}.{NAME}]", *(f"{name} = {_written(value)}" for name, value in fields.items())])


def _written(value: Json) -> str:
    """Return a value as TOML; texts and lists are written as in JSON, tables inline."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(name)} = {_written(item)}" for name, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    return json.dumps(value, default=str)
