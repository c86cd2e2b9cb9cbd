"""Chooses what `deia install` adds besides the hook: the server that agents ask, and hooks that ask such a server."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from deia.errors import HostError
from deia.fast_json import Json
from deia.folders import is_packaged
from deia.serve.setup.hook_installation import Spot, warm_part
from deia.serve.setup.host_settings.claude_code_settings import asked_at, asked_by_tool
from deia.serve.setup.host_settings.hosts_table import (
    BY_NAME,
    CLAUDE_CODE,
    DESKTOP,
    PROJECT,
    SERVERS,
    USER,
    Machine,
    folder_of,
    is_here,
)
from deia.serve.setup.host_settings.server_file import fields_for, server_in, with_server, without_server
from deia.serve.setup.settings_changes import Part
from deia.settings import secret

WARM_URL = "http://127.0.0.1:8765"
HOOKS_OPTION = "--hooks"  # makes a server offer the tool that a host's hooks call


def only_servers(hosts: Sequence[str]) -> list[str]:
    """Return those of the hosts that have servers but no hooks."""
    return [host for host in hosts if host in SERVERS and host not in BY_NAME]


def server_paths(host: str, machine: Machine) -> dict[str, str]:
    """Return the file in which a host keeps its servers, by scope; none if deia does not know it."""
    places = SERVERS[host].places if host in SERVERS else {}
    return {
        scope: os.path.normpath(os.path.join(folder_of(place, scope, machine), place.file))
        for scope, place in places.items()
    }


def _is_here(host: str, machine: Machine) -> bool:
    """Return whether a host that keeps servers in a file that deia knows is on this machine."""
    if host == DESKTOP:
        return os.path.isdir(folder_of(SERVERS[host].places[USER], USER, machine))
    return is_here(BY_NAME[host], machine)


def _server_path(host: str, scope: str, machine: Machine) -> str:
    """Return the file for a host's server in a scope; the first if the host has none of the scope `project`."""
    paths = server_paths(host, machine)
    if not paths:
        fix = f"It knows such files of {', '.join(SERVERS)}."
        raise HostError(f"deia knows no file in which {host} keeps servers", fix=fix)
    if scope not in paths and scope != PROJECT:
        fix = f"Use {' or '.join(f'--{name}' for name in paths)}."
        raise HostError(f"{host} keeps no servers of the scope {scope} in a file that deia writes", fix=fix)
    return paths.get(scope) or next(iter(paths.values()))


def _server_part(host: str, path: str, fields: Mapping[str, Json] | None = None) -> Part:
    def enter(text: str) -> str:
        """Add the server; if it answers hooks, it keeps that option, since hooks elsewhere may call it."""
        wanted = dict(fields or {})
        old, args = (server_in(text, host, path=path) or {}).get("args"), wanted.get("args")
        if isinstance(old, list) and isinstance(args, list) and HOOKS_OPTION in old and HOOKS_OPTION not in args:
            wanted["args"] = [*args, HOOKS_OPTION]
        return with_server(text, host, wanted, path=path)

    return Part(
        host=host, path=path, enter=enter if fields else None,
        take_out=lambda text: without_server(text, host, path=path),
    )  # fmt: skip


def refuse_hookless(hosts: Sequence[str]) -> None:
    """Raise HostError if one of the hosts runs no hooks."""
    for host in only_servers(hosts):
        raise HostError(f"{host} runs no hooks; it asks a server", fix=f"Type: deia install {host} --mcp")


def chosen_servers(
    hosts: Sequence[str], scope: str, machine: Machine, *, every: bool, commons: str, root: str, hearing: bool = False
) -> list[Part]:
    """Return the server entries to add; with `hearing`, Claude Code's server also answers hooks."""

    def fields(host: str) -> dict[str, Json]:
        """Return the fields of a host's entry; a host that works in no project gets the commons by name."""
        named = commons or (root if host == DESKTOP and not is_packaged(root) else "")
        hears = (HOOKS_OPTION,) if hearing and host == CLAUDE_CODE else ()
        return fields_for(host, arguments=(*hears, *(("--commons", named) if named else ())))

    chosen = [host for host in SERVERS if _is_here(host, machine)] if every else dict.fromkeys(hosts)
    return [_server_part(host, _server_path(host, scope, machine), fields(host)) for host in chosen]


def chosen_by_tool(spots: Sequence[Spot], scope: str, *, commons: str, root: str) -> list[Part]:
    """Return the hooks to add that call the tool of the session's own server, and the entry of that server."""
    paths = _settings_of_claude_code(spots, "a tool", "--warm-mcp")
    machine = spots[0].machine
    servers = chosen_servers([CLAUDE_CODE], scope, machine, every=False, commons=commons, root=root, hearing=True)
    return [*servers, *(warm_part(path, asked_by_tool()) for path in paths)]


def chosen_warm(spots: Sequence[Spot], url: str) -> list[Part]:
    """Return the hooks to add that ask a running server at an address."""
    paths = _settings_of_claude_code(spots, "a server", "--warm")
    if not url.startswith(("http://", "https://")):
        raise HostError(f"{url!r} is not an address", fix=f"Write it as {WARM_URL}.")
    token = bool(secret("token", environ=spots[0].machine.environ)[0])
    return [warm_part(path, asked_at(url, token=token)) for path in paths]


def _settings_of_claude_code(spots: Sequence[Spot], what: str, option: str) -> list[str]:
    """Return the settings files of the only host whose hooks can call a server."""
    paths = [path for spot in spots if spot.setup.host == CLAUDE_CODE for path in spot.paths]
    if not paths:
        raise HostError(f"none of these hosts can call {what}", fix=f"Type: deia install {CLAUDE_CODE} {option}")
    return paths


def known_servers(hosts: Sequence[str], scope: str, machine: Machine, *, every: bool) -> list[Part]:
    """Return the server entries that some hosts' files may have, in one scope or, if it is empty, in all scopes."""
    return [
        _server_part(host, path)
        for host in (SERVERS if every else dict.fromkeys(hosts))
        for own_scope, path in server_paths(host, machine).items()
        if scope in {"", own_scope} or host == DESKTOP
    ]
