"""What `deia install` enters besides the hook: the server that an agent asks, and hooks that ask a running one.

Several edits of one file become one change, which is shown, kept and written like every other. Where nobody else
changed a file since, taking all of it out gives the file back as it was.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deia.errors import HostError
from deia.folders import find_commons, is_packaged
from deia.records import Record
from deia.serve.hosts.claude_events import HOST as CLAUDE_CODE
from deia.serve.server.host_blocks import fields_for
from deia.serve.setup.hook_installation import BACKUP, Change, Spot, read_settings
from deia.serve.setup.host_settings.hook_file import ROOT, body_of, without_hooks
from deia.serve.setup.host_settings.hosts_table import BY_NAME, PROJECT, USER
from deia.serve.setup.host_settings.json_text import COMMAS, parse
from deia.serve.setup.host_settings.places import folder_of, is_here, project_folder, settings_paths
from deia.serve.setup.host_settings.server_file import PLACES, server_in, with_server, without_server
from deia.serve.setup.host_settings.warm import asked_at, asked_by_tool, with_warm, without_warm
from deia.settings import secret

WARM_URL = "http://127.0.0.1:8765"
HEARING = "--hooks"  # by which a server offers the tool that a host's hooks call
DESKTOP = "claude-desktop"  # asks a server and runs no hooks


class Target(Record):
    """A file in which something stands besides the hook, and how it is entered there and taken out."""

    host: str
    path: str
    enter: Callable[[str], str]
    take_out: Callable[[str], str]


def only_servers(hosts: Sequence[str]) -> list[str]:
    """Give those of the hosts that know servers and no hooks."""
    return [host for host in hosts if host in PLACES and host not in BY_NAME]


def server_hosts(*, project: str, environ: Mapping[str, str]) -> list[str]:
    """Give the hosts that are here and keep servers in a file that deia knows."""
    found = [host for host in PLACES if host in BY_NAME]
    found = [host for host in found if is_here(BY_NAME[host], project=project, environ=environ)]
    place = folder_of(PLACES[DESKTOP][USER], USER, project=project, environ=environ)
    return [*found, *([DESKTOP] if os.path.isdir(place) else [])]


def server_targets(
    hosts: Sequence[str], scope: str, *, project: str, environ: Mapping[str, str],
    fields: Callable[[str], Mapping[str, Any]] | None = None,
) -> list[Target]:  # fmt: skip
    """Give the files of servers of some hosts: in one scope, or without one in all of them.

    Where the host has no file of the scope `project`, its first counts for it.

    Raises:
        HostError: a host keeps its servers where deia does not write, or not in this scope.
    """
    targets = []
    for host in hosts:
        places = PLACES.get(host)
        if places is None:
            fix = f"Hosts whose files of servers it knows: {', '.join(PLACES)}."
            raise HostError(f"deia knows no file in which {host} keeps servers", fix=fix)
        wanted = [next(iter(places))] if scope == PROJECT and scope not in places else [scope] if scope else places
        for each in wanted:
            if each not in places:
                fix = f"Use {' or '.join(f'--{name}' for name in places)}."
                raise HostError(f"{host} keeps no servers of the scope {each} in a file that deia writes", fix=fix)
            folder = folder_of(places[each], each, project=project, environ=environ)
            path = os.path.normpath(os.path.join(folder, places[each].file))
            targets.append(_server_target(host, path, fields(host) if fields else {}))
    return targets


def _server_target(host: str, path: str, fields: Mapping[str, Any]) -> Target:
    def enter(text: str) -> str:
        """Enter the server; one that hears hooks goes on hearing them, since hooks elsewhere may call it."""
        args = (server_in(text, host, path=path) or {}).get("args")
        hears = isinstance(args, list) and HEARING in args and HEARING not in fields.get("args", ())
        wanted = {**fields, "args": [*fields.get("args", ()), HEARING]} if hears else fields
        return with_server(text, host, wanted, path=path)

    return Target(
        host=host, path=path, enter=enter, take_out=lambda text: without_server(text, host, path=path)
    )  # fmt: skip


def warm_targets(
    scope: str, *, project: str, environ: Mapping[str, str], url: str = "", token: bool = False
) -> list[Target]:
    """Give the files of hooks that ask a running server, which one host knows: at an address, or by its tool."""
    setup = BY_NAME[CLAUDE_CODE]
    wanted = asked_at(url, token=token) if url else asked_by_tool()
    paths = [
        path
        for each in ((scope,) if scope else setup.places)
        for path in settings_paths(setup, each, project=project, environ=environ)
    ]
    return [_warm_target(path, wanted) for path in dict.fromkeys(paths)]


def _warm_target(path: str, wanted: Mapping[str, Any]) -> Target:
    return Target(
        host=CLAUDE_CODE,
        path=path,
        enter=lambda text: with_warm(text, wanted, path=path),
        take_out=lambda text: without_warm(text, path=path),
    )


def refuse_hookless(hosts: Sequence[str], *, server: bool) -> None:
    """Refuse hosts that run no hooks, where no server is wanted.

    Raises:
        HostError: one of them runs none.
    """
    if not server and (found := only_servers(hosts)):
        raise HostError(f"{found[0]} runs no hooks; it asks a server", fix=f"Type: deia install {found[0]} --mcp")


def chosen_servers(
    hosts: Sequence[str], scope: str, *, every: bool, commons: str, hearing: bool = False
) -> list[Target]:
    """Give where the server is to be entered; `hearing` hooks too at the host whose hooks can call it.

    Raises:
        HostError: a host that was named keeps no servers where deia writes.
    """
    project, environ = project_folder(os.getcwd()), dict(os.environ)
    root = find_commons(_here(), environ=environ, explicit=commons)

    def fields(host: str) -> dict[str, Any]:
        """Give what a host's settings say; the one that works in no project's folder is told which commons."""
        named = commons or (root if host == DESKTOP and not is_packaged(root) else "")
        hears = (HEARING,) if hearing and host == CLAUDE_CODE else ()
        return fields_for(host, arguments=(*hears, *(("--commons", named) if named else ())))

    chosen = server_hosts(project=project, environ=environ) if every else list(dict.fromkeys(hosts))
    return server_targets(chosen, scope, project=project, environ=environ, fields=fields)


def chosen_by_tool(spots: Sequence[Spot], scope: str, *, commons: str) -> list[Target]:
    """Give where hooks are to be entered that call the tool of the session's own server, and that server.

    Raises:
        HostError: none of the hosts can call a server, or it keeps none in this scope.
    """
    if not any(spot.setup.host == CLAUDE_CODE for spot in spots):
        raise HostError("none of these hosts can call a tool", fix=f"Type: deia install {CLAUDE_CODE} --warm-mcp")
    project, environ = project_folder(os.getcwd()), dict(os.environ)
    servers = chosen_servers([CLAUDE_CODE], scope, every=False, commons=commons, hearing=True)
    return [*servers, *warm_targets(scope, project=project, environ=environ)]


def chosen_warm(spots: Sequence[Spot], scope: str, url: str, *, commons: str) -> list[Target]:
    """Give where hooks that ask a running server are to be entered.

    Raises:
        HostError: none of the hosts can call a server, or the address is none.
    """
    if not any(spot.setup.host == CLAUDE_CODE for spot in spots):
        raise HostError("none of these hosts can call a server", fix=f"Type: deia install {CLAUDE_CODE} --warm")
    if not url.startswith(("http://", "https://")):
        raise HostError(f"{url!r} is no address", fix=f"Write it as {WARM_URL}.")
    root = find_commons(_here(), environ=os.environ, explicit=commons)
    token = bool(secret("token", root, environ=os.environ)[0])
    project, environ = project_folder(os.getcwd()), dict(os.environ)
    return warm_targets(scope, project=project, environ=environ, url=url, token=token)


def besides_the_hook(hosts: Sequence[str], scope: str, *, every: bool) -> list[Target]:
    """Give where something of deia's may stand besides the hook."""
    project, environ = project_folder(os.getcwd()), dict(os.environ)
    chosen = [host for host in (PLACES if every else dict.fromkeys(hosts)) if host in PLACES]
    places = [(host, each) for host in chosen for each in PLACES[host] if scope in {"", each} or host == DESKTOP]
    servers = [
        target for host, each in places for target in server_targets([host], each, project=project, environ=environ)
    ]
    warm = warm_targets(scope, project=project, environ=environ) if every or CLAUDE_CODE in hosts else []
    return [*warm, *servers]


def _here() -> str:
    return os.getcwd().replace("\\", "/")


def entered(changes: Sequence[Change], targets: Sequence[Target]) -> list[Change]:
    """Give the changes with what these targets hold besides.

    Raises:
        HostError: a file cannot be used.
    """
    plan = {change.path: change for change in changes}
    for target in targets:
        change = _change_of(plan, target.path)
        after = target.enter(change.after)
        backup = target.path + BACKUP
        unneeded = os.path.lexists(backup) or after == change.before or not _is_anybodys(change.before, target)
        plan[target.path] = change.but(after=after, keep=change.keep or ("" if unneeded else backup))
    return list(plan.values())


def _is_anybodys(text: str, target: Target) -> bool:
    """Say whether a file has something that is not deia's, which is worth keeping before it is changed."""
    rest = target.take_out(text) if text else ""
    setup = BY_NAME.get(target.host)
    if setup is not None and target.path.endswith(".json"):
        rest = without_hooks(rest, setup, path=target.path)
    return bool(text) and (rest == text or bool(_means(rest, target.host)))


def taken_out(changes: Sequence[Change], targets: Sequence[Target]) -> list[Change]:
    """Give the changes that take out what these targets hold, too; files that never held it are left out.

    A file that cannot be read is left alone: what reads no settings keeps no others from being changed.
    """
    plan = {change.path: change for change in changes}
    for target in targets:
        try:
            change = _change_of(plan, target.path)
            after = target.take_out(change.after) if change.after else change.after
        except HostError:
            continue
        if after != change.after:
            plan[target.path] = _restored(change.but(after=after), target.host)
    return list(plan.values())


def _change_of(plan: Mapping[str, Change], path: str) -> Change:
    known = plan.get(path)
    if known is not None:
        return known
    text = read_settings(path)
    return Change(path=path, before=text, after=text)


def _restored(change: Change, host: str) -> Change:
    """Give a file its own bytes again where it means what it meant before; an empty one is none."""
    backup = change.path + BACKUP
    kept = read_settings(backup)
    if kept and _means(kept, host) == _means(change.after, host):
        return change.but(after=kept, drop=backup)
    return change.but(after="") if not kept and not _means(change.after, host) else change


def _means(text: str, host: str) -> Any:
    """Give what a file's text says, without hooks of which there are none; what cannot be read says itself."""
    try:
        is_toml = host == "codex" and not body_of(text).lstrip().startswith("{")
        said = tomllib.loads(text) if is_toml else parse(body_of(text) or "{}", where="", extras=COMMAS)
    except (HostError, tomllib.TOMLDecodeError):
        return text
    return {name: value for name, value in said.items() if value or name != ROOT} if isinstance(said, dict) else said
