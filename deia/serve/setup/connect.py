"""Chooses what `deia install` adds besides the hook: the server that agents ask, and hooks that ask such a server."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from deia.errors import HostError
from deia.fast_json import Json
from deia.folders import find_commons, is_packaged
from deia.serve.setup.hook_installation import Spot
from deia.serve.setup.host_settings.hosts_table import BY_NAME, CLAUDE_CODE, DESKTOP, PROJECT, SERVERS, USER
from deia.serve.setup.host_settings.places import folder_of, is_here, project_folder, settings_paths
from deia.serve.setup.host_settings.server_file import fields_for, server_in, with_server, without_server
from deia.serve.setup.host_settings.warm import asked_at, asked_by_tool, with_warm, without_warm
from deia.serve.setup.settings_changes import Target
from deia.settings import secret

WARM_URL = "http://127.0.0.1:8765"
HOOKS_OPTION = "--hooks"  # makes a server offer the tool that a host's hooks call


def only_servers(hosts: Sequence[str]) -> list[str]:
    """Return those of the hosts that have servers but no hooks."""
    return [host for host in hosts if host in SERVERS and host not in BY_NAME]


def server_hosts(*, project: str, environ: Mapping[str, str]) -> list[str]:
    """Return the hosts on this machine that keep servers in a file that deia knows."""
    hosts = [host for host in SERVERS if host in BY_NAME]
    hosts = [host for host in hosts if is_here(BY_NAME[host], project=project, environ=environ)]
    folder = folder_of(SERVERS[DESKTOP].places[USER], USER, project=project, environ=environ)
    return [*hosts, *([DESKTOP] if os.path.isdir(folder) else [])]


def server_targets(
    hosts: Sequence[str], scope: str, *, project: str, environ: Mapping[str, str],
    fields: Callable[[str], Mapping[str, Json]] | None = None,
) -> list[Target]:  # fmt: skip
    """Return the server entries of some hosts, in one scope or, if it is empty, in all scopes.

    If a host has no file for the scope `project`, its first scope is used instead.

    Raises:
        HostError: a host keeps its servers in a file that deia does not know, or not in this scope.
    """
    targets = []
    for host in hosts:
        server = SERVERS.get(host)
        if server is None:
            fix = f"It knows such files of {', '.join(SERVERS)}."
            raise HostError(f"deia knows no file in which {host} keeps servers", fix=fix)
        places = server.places
        wanted = [next(iter(places))] if scope == PROJECT and scope not in places else [scope] if scope else places
        for own_scope in wanted:
            if own_scope not in places:
                fix = f"Use {' or '.join(f'--{name}' for name in places)}."
                raise HostError(f"{host} keeps no servers of the scope {own_scope} in a file that deia writes", fix=fix)
            folder = folder_of(places[own_scope], own_scope, project=project, environ=environ)
            path = os.path.normpath(os.path.join(folder, places[own_scope].file))
            targets.append(_server_target(host, path, fields(host) if fields else {}))
    return targets


def _server_target(host: str, path: str, fields: Mapping[str, Json]) -> Target:
    def enter(text: str) -> str:
        """Add the server; if it answers hooks, it keeps that option, since hooks elsewhere may call it."""
        old = (server_in(text, host, path=path) or {}).get("args")
        args = fields.get("args")
        args = list(args) if isinstance(args, (list, tuple)) else []
        answers_hooks = isinstance(old, list) and HOOKS_OPTION in old and HOOKS_OPTION not in args
        wanted = {**fields, "args": [*args, HOOKS_OPTION]} if answers_hooks else fields
        return with_server(text, host, wanted, path=path)

    return Target(
        host=host, path=path, enter=enter, take_out=lambda text: without_server(text, host, path=path)
    )  # fmt: skip


def warm_targets(
    scope: str, *, project: str, environ: Mapping[str, str], url: str = "", token: bool = False
) -> list[Target]:
    """Return the hooks that ask a running server, at an address or through its tool; only Claude Code has them."""
    setup = BY_NAME[CLAUDE_CODE]
    wanted = asked_at(url, token=token) if url else asked_by_tool()
    paths = [
        path
        for own_scope in ((scope,) if scope else setup.places)
        for path in settings_paths(setup, own_scope, project=project, environ=environ)
    ]
    return [_warm_target(path, wanted) for path in dict.fromkeys(paths)]


def _warm_target(path: str, wanted: Mapping[str, Json]) -> Target:
    return Target(
        host=CLAUDE_CODE,
        path=path,
        enter=lambda text: with_warm(text, wanted, path=path),
        take_out=lambda text: without_warm(text, path=path),
    )


def refuse_hookless(hosts: Sequence[str], *, server: bool) -> None:
    """Refuse hosts that run no hooks, unless a server is wanted.

    Raises:
        HostError: one of the hosts runs no hooks.
    """
    if not server and (hookless := only_servers(hosts)):
        host = hookless[0]
        raise HostError(f"{host} runs no hooks; it asks a server", fix=f"Type: deia install {host} --mcp")


def chosen_servers(
    hosts: Sequence[str], scope: str, *, every: bool, commons: str, hearing: bool = False
) -> list[Target]:
    """Return the server entries to add; with `hearing`, Claude Code's server also answers hooks.

    Raises:
        HostError: a named host keeps its servers in a file that deia does not know.
    """
    project, environ = project_folder(os.getcwd()), dict(os.environ)
    root = find_commons(_here(), environ=environ, explicit=commons)

    def fields(host: str) -> dict[str, Json]:
        """Return the fields of a host's entry; a host that works in no project gets the commons by name."""
        named = commons or (root if host == DESKTOP and not is_packaged(root) else "")
        hears = (HOOKS_OPTION,) if hearing and host == CLAUDE_CODE else ()
        return fields_for(host, arguments=(*hears, *(("--commons", named) if named else ())))

    chosen = server_hosts(project=project, environ=environ) if every else list(dict.fromkeys(hosts))
    return server_targets(chosen, scope, project=project, environ=environ, fields=fields)


def chosen_by_tool(spots: Sequence[Spot], scope: str, *, commons: str) -> list[Target]:
    """Return the hooks to add that call the tool of the session's own server, and the entry of that server.

    Raises:
        HostError: none of the hosts can call a server, or it keeps none in this scope.
    """
    if not any(spot.setup.host == CLAUDE_CODE for spot in spots):
        raise HostError("none of these hosts can call a tool", fix=f"Type: deia install {CLAUDE_CODE} --warm-mcp")
    project, environ = project_folder(os.getcwd()), dict(os.environ)
    servers = chosen_servers([CLAUDE_CODE], scope, every=False, commons=commons, hearing=True)
    return [*servers, *warm_targets(scope, project=project, environ=environ)]


def chosen_warm(spots: Sequence[Spot], scope: str, url: str, *, commons: str) -> list[Target]:
    """Return the hooks to add that ask a running server at an address.

    Raises:
        HostError: none of the hosts can call a server, or the address is malformed.
    """
    if not any(spot.setup.host == CLAUDE_CODE for spot in spots):
        raise HostError("none of these hosts can call a server", fix=f"Type: deia install {CLAUDE_CODE} --warm")
    if not url.startswith(("http://", "https://")):
        raise HostError(f"{url!r} is not an address", fix=f"Write it as {WARM_URL}.")
    root = find_commons(_here(), environ=os.environ, explicit=commons)
    token = bool(secret("token", root, environ=os.environ)[0])
    project, environ = project_folder(os.getcwd()), dict(os.environ)
    return warm_targets(scope, project=project, environ=environ, url=url, token=token)


def besides_the_hook(hosts: Sequence[str], scope: str, *, every: bool) -> list[Target]:
    """Return every part of deia's that some hosts' files may have besides the hook."""
    project, environ = project_folder(os.getcwd()), dict(os.environ)
    chosen = [host for host in (SERVERS if every else dict.fromkeys(hosts)) if host in SERVERS]
    places = [(host, own) for host in chosen for own in SERVERS[host].places if scope in {"", own} or host == DESKTOP]
    servers = [
        target for host, own in places for target in server_targets([host], own, project=project, environ=environ)
    ]
    warm = warm_targets(scope, project=project, environ=environ) if every or CLAUDE_CODE in hosts else []
    return [*warm, *servers]


def _here() -> str:
    return os.getcwd().replace("\\", "/")
