"""Finds reasons why a host would not run installed hooks: they are disabled by it or an administrator, or not trusted.

Only files of the host and of its administrators are read; settings that are kept elsewhere cannot be seen.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from deia import files
from deia.errors import HostError
from deia.fast_json import Json
from deia.serve.setup.host_settings.hook_file import Installed
from deia.serve.setup.host_settings.hosts_table import BY_NAME, USER, Machine, folder_of, settings_paths
from deia.serve.setup.host_settings.json_text import COMMENTS, parse

Troubles: TypeAlias = Iterator[tuple[str, str]]  # what is wrong, and the cure
MANAGED = {  # where administrators put Claude Code's settings
    "darwin": "/Library/Application Support/ClaudeCode/managed-settings.json",
    "win32": "C:\\Program Files\\ClaudeCode\\managed-settings.json",
}
PLUGIN = "deia"  # the name of the plugin, before its marketplace
# Switches in a host's settings, with the value that disables all hooks; a dot leads into a table.
SWITCHES = {
    "claude-code": (("disableAllHooks", True),),
    "gemini": (("hooksConfig.enabled", False), ("hooks.enabled", False)),  # the second in older versions
    "qwen": (("disableAllHooks", True),),
}
LINUX_MANAGED = "/etc/claude-code/managed-settings.json"


def troubles(host: str, hooks: Sequence[Installed], machine: Machine) -> Troubles:
    """Yield the reasons why a host would not run its hooks, each with the cure."""
    for name, value in SWITCHES.get(host, ()):
        yield from _switched_off(_settings_of(host, machine), name, value=value)
    if host in CHECKS:
        yield from CHECKS[host](hooks, machine)


def own_plugins(machine: Machine) -> list[str]:
    """Return the plugins of deia that Claude Code's settings enable; they bring hooks of their own."""
    names: list[str] = []
    for path in _settings_of("claude-code", machine):
        plugins = _table(_read_json(path), "enabledPlugins")
        names += [name for name, enabled in plugins.items() if enabled is True and name.partition("@")[0] == PLUGIN]
    return list(dict.fromkeys(names))


def _settings_of(host: str, machine: Machine) -> list[str]:
    setup = BY_NAME[host]
    return [path for scope in setup.places for path in settings_paths(setup, scope, machine)]


def _folders_of(host: str, machine: Machine) -> Mapping[str, str]:
    return {scope: folder_of(place, scope, machine) for scope, place in BY_NAME[host].places.items()}


def _switched_off(paths: Iterable[str], name: str, *, value: bool = True) -> Troubles:
    """Yield the files in which a switch has the value that disables all hooks; a dot leads into a table."""
    for path in dict.fromkeys(paths):
        table, _, inner = name.partition(".")
        settings = _read_json(path)
        if (_table(settings, table).get(inner) if inner else settings.get(table)) is value:
            yield f"{path} disables all hooks", f"Remove {name} from {path}"


def _claude(_hooks: Sequence[Installed], _machine: Machine) -> Troubles:
    managed = MANAGED.get(sys.platform, LINUX_MANAGED)
    yield from _switched_off([managed], "disableAllHooks")
    if _read_json(managed).get("allowManagedHooksOnly") is True:
        yield f"{managed} allows managed hooks only", "Ask your administrator to allow deia's hooks."


def _copilot(hooks: Sequence[Installed], machine: Machine) -> Troubles:
    folder = os.path.dirname(_folders_of("copilot", machine)[USER])
    own = [os.path.join(folder, name) for name in ("settings.json", "config.json")]
    repository = os.path.join(machine.project, ".github", "copilot")
    shared = [os.path.join(repository, name) for name in ("settings.json", "settings.local.json")]
    yield from _switched_off([*(hook.path for hook in hooks), *own, *shared], "disableAllHooks")
    # The folders that a person trusts for one session only are not written down.
    lists = [_read_json(path).get(key) for path in own for key in ("trustedFolders", "trusted_folders")]
    trusted = [str(folder) for folders in lists if isinstance(folders, list) for folder in folders]
    in_project = any(_is_below(hook.path, machine.project) for hook in hooks)
    if in_project and not any(_is_below(machine.project, folder) for folder in trusted):
        problem = f"Copilot does not trust {machine.project}, so it runs none of its hooks"
        cure = "Start copilot there and trust the folder for later sessions, too, or type: deia install copilot --user"
        yield problem, cure


def _is_below(path: str, folder: str) -> bool:
    return bool(folder) and f"{os.path.realpath(path)}{os.sep}".startswith(os.path.join(os.path.realpath(folder), ""))


def _droid(_: Sequence[Installed], machine: Machine) -> Troubles:
    folders = _folders_of("droid", machine).values()
    yield from _switched_off([os.path.join(folder, "settings.json") for folder in folders], "hooksDisabled")


def _codex(hooks: Sequence[Installed], machine: Machine) -> Troubles:
    own = _folders_of("codex", machine)[USER]
    path = os.path.join(own, "config.toml")
    config: Mapping[str, Json] = {}
    with contextlib.suppress(tomllib.TOMLDecodeError, RecursionError):
        config = tomllib.loads((files.read(path) or b"").decode("utf-8", "replace"))
    features = _table(config, "features")
    if "codex_hooks" in features and "hooks" not in features:
        yield f"{path} sets the feature codex_hooks, which is called hooks now", f"Write hooks = true in {path}"
    if features.get("hooks") is False:
        yield f"{path} switches hooks off", f"Write hooks = true under [features] in {path}"
    if not hooks:
        return
    file, project = hooks[0].path, machine.project
    folders = [_table(_table(config, "projects"), folder) for folder in (project, os.path.realpath(project))]
    is_trusted = any(folder.get("trust_level") == "trusted" for folder in folders)
    if not (is_trusted or _is_below(file, own)):
        problem = f"Codex does not trust {project}, so it reads none of its hooks"
        yield problem, "Start codex there and trust the folder."
    states = _table(_table(config, "hooks"), "state")
    unknown = ", ".join(hook.event for hook in hooks if not _state(states, hook).get("trusted_hash"))
    off = ", ".join(hook.event for hook in hooks if _state(states, hook).get("enabled") is False)
    if unknown:
        problem = f"{file}: nobody has trusted the hooks of {unknown}, so Codex does not run them"
        yield problem, "Start codex in this folder, type /hooks and trust deia's hooks."
    if off:
        yield f"{path} switches off the hooks of {off}", "Start codex, type /hooks and switch them on."


def _state(states: Mapping[str, Json], hook: Installed) -> Mapping[str, Json]:
    """Return what Codex remembers of a hook, identified by its file, its event and its position there."""
    group, number = hook.place[2], hook.place[4]
    event = re.sub("(?<!^)(?=[A-Z])", "_", hook.event).lower()  # Codex's own way to write it here: session_start
    for path in dict.fromkeys((hook.path, os.path.realpath(hook.path))):
        state = _table(states, f"{path}:{event}:{group}:{number}")
        if state:
            return state
    return {}


def _table(config: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    table = config.get(name)
    return table if isinstance(table, dict) else {}


def _read_json(path: str) -> dict[str, Json]:
    """Return a settings file's content, empty if it cannot be read; other checks report that."""
    try:
        settings = parse((files.read(path) or b"").decode("utf-8", "replace"), where=path, extras=COMMENTS)
    except HostError:
        return {}
    return settings if isinstance(settings, dict) else {}


CHECKS: Mapping[str, Callable[[Sequence[Installed], Machine], Troubles]] = {
    "claude-code": _claude,
    "codex": _codex,
    "copilot": _copilot,
    "droid": _droid,
}
