"""deia's server in hosts' settings of servers: found, entered and taken out, text to text; the rest keeps its bytes.

JSON files are changed in one place of their text, Codex's TOML by whole lines of one table. Refuses a server of that
name that is somebody else's, and a file that it could not change without changing more.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from deia.errors import HostError
from deia.serve.server.host_blocks import HOSTS, NAME
from deia.serve.setup.host_settings.hook_file import body_of
from deia.serve.setup.host_settings.hosts_table import PROJECT, USER, Place
from deia.serve.setup.host_settings.json_text import COMMAS, COMMENTS, find, insert, parse, remove

TOML_ROOT = "mcp_servers"
HAND = "Mend the file by hand, or print the block and enter it by hand: deia mcp config {host}"
EXTRAS = {"gemini": COMMENTS, "vscode": COMMAS}  # what a host takes in its file beside JSON
TRANSPORT = ("type", "command", "args", "url", "httpUrl", "headers", "bearer_token_env_var")  # what we say anew


def _of_programs(name: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Give where a desktop program of this system keeps its own files, below the person's home."""
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


def is_ours(entry: Any) -> bool:
    """Say whether a server of our name is deia's: by what it starts; one that has an address is."""
    if not isinstance(entry, dict):
        return False
    if any(isinstance(entry.get(name), str) for name in ("url", "httpUrl")):
        return True
    args = entry.get("args")
    words = [entry.get("command"), *(args if isinstance(args, list) else [])]
    told = [word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe") for word in words if isinstance(word, str)]
    return "deia.serve.main" in told or "deia" in told


def server_in(text: str, host: str, *, path: str) -> dict[str, Any] | None:
    """Give deia's server as a file has it, or None.

    Raises:
        HostError: the file cannot be read, or a server of that name is somebody else's.
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
        what = key if isinstance(settings, dict) else "the file"
        raise HostError(f"{what} is not an object", where=path, fix=HAND.format(host=host))
    entry = servers.get(NAME)
    if entry is not None and not is_ours(entry):
        fix = f"Give that one another name, or see: deia mcp config {host}"
        raise HostError(f"a server called {NAME} stands there that is somebody else's", where=path, fix=fix)
    return entry


def with_server(text: str, host: str, fields: Mapping[str, Any], *, path: str) -> str:
    """Give a file's text with the server entered, once; unchanged where it stands there already.

    What a person added to it (an environment, leave to call tools) stays.

    Raises:
        HostError: the file cannot be changed.
    """
    present = server_in(text, host, path=path)
    kept = {name: value for name, value in (present or {}).items() if name not in TRANSPORT}
    wanted = {**fields, **kept}
    if present == wanted:
        return text
    bare = without_server(text, host, path=path)
    return _with_table(bare, wanted, path) if host == "codex" else _with_member(bare, HOSTS[host].key, wanted)


def without_server(text: str, host: str, *, path: str) -> str:
    """Give a file's text without the server, and without an object that this leaves empty.

    Raises:
        HostError: the file cannot be changed.
    """
    if server_in(text, host, path=path) is None:
        return text
    return _without_table(text, path) if host == "codex" else _without_member(text, HOSTS[host].key)


# --- JSON ---


def _with_member(text: str, key: str, fields: Mapping[str, Any]) -> str:
    mark = text[:1] if text[:1] == "\ufeff" else ""
    body = body_of(text) or "{}\n"
    if find(body, [key]) < 0:
        body = insert(body, [], {}, key=key)
    return mark + insert(body, [key], dict(fields), key=NAME)


def _without_member(text: str, key: str) -> str:
    mark = text[:1] if text[:1] == "\ufeff" else ""
    body = remove(body_of(text), [key, NAME])
    alone = parse(body, where="", extras=COMMAS)[key] == {}
    return mark + (remove(body, [key]) if alone else body)


# --- TOML ---


def _toml(text: str, path: str, host: str = "codex") -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise HostError(f"not TOML: {error}", where=path, fix=HAND.format(host=host)) from error


def _with_table(text: str, fields: Mapping[str, Any], path: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{TOML_ROOT}.{NAME}]"]
    lines += [f"{name} = {_written(value)}" for name, value in fields.items()]
    before = f"{text.rstrip()}{newline * 2}" if text.strip() else ""
    after = before + newline.join(lines) + newline
    told = _toml(text, path)
    expected = {**told, TOML_ROOT: {**told.get(TOML_ROOT, {}), NAME: dict(fields)}}
    return _only_if(after, expected, path)


def _without_table(text: str, path: str) -> str:
    """Take out the lines of the table and of those below it; what stands above its header stays."""
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
    """Give a text that says what it should.

    Raises:
        HostError: it would say something else, as the file is written in a way that lines cannot change.
    """
    said = _toml(text, path)
    said = {name: value for name, value in said.items() if value or name != TOML_ROOT}
    if said != expected:
        told = "the file is written in a way that cannot be changed line by line"
        raise HostError(told, where=path, fix=HAND.format(host="codex"))
    return text


def _written(value: Any) -> str:
    """Write a TOML value; JSON's texts and lists are TOML's too, tables are written in line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(name)} = {_written(each)}" for name, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    return json.dumps(value) if isinstance(value, (str, bool, int, float)) else json.dumps(str(value))


def scopes_of(host: str) -> Sequence[str]:
    """Give the scopes in which a host keeps servers; none where deia knows of none."""
    return tuple(PLACES.get(host, ()))
