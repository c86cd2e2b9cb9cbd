"""Finds reasons why a host would not run installed hooks: they are disabled by it or an administrator, or not trusted.

Only files of the host and of its administrators are read; settings that are kept elsewhere cannot be seen.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from deia.errors import HostError
from deia.fast_json import Json
from deia.serve.setup.host_settings.hook_file import Installed
from deia.serve.setup.host_settings.hosts_table import BY_NAME, LOCAL, PROJECT, USER
from deia.serve.setup.host_settings.json_text import COMMENTS, body_of, parse
from deia.serve.setup.host_settings.places import folder_of, settings_paths

Troubles: TypeAlias = Iterator[tuple[str, str]]  # what is wrong, and the cure
MANAGED = {  # where administrators put Claude Code's settings
    "darwin": "/Library/Application Support/ClaudeCode/managed-settings.json",
    "win32": "C:\\Program Files\\ClaudeCode\\managed-settings.json",
}
PLUGIN = "deia"  # the name of the plugin, before its marketplace
LINUX_MANAGED = "/etc/claude-code/managed-settings.json"
# How Codex writes the name of an event in the key of a hook that a person trusted.
CODEX_EVENTS = {
    "SessionStart": "session_start", "UserPromptSubmit": "user_prompt_submit", "PreToolUse": "pre_tool_use",
    "PostToolUse": "post_tool_use", "Stop": "stop",
}  # fmt: skip


def troubles(host: str, hooks: Sequence[Installed], *, project: str, environ: Mapping[str, str]) -> Troubles:
    """Yield the reasons why a host would not run its hooks, each with the cure."""
    if host in CHECKS:
        yield from CHECKS[host](hooks, project, environ)


def own_plugins(*, project: str, environ: Mapping[str, str]) -> list[str]:
    """Return the plugins of deia that Claude Code's settings enable; they bring hooks of their own."""
    names: list[str] = []
    for path in _claude_settings(project, environ):
        plugins = _table(_read_json(path), "enabledPlugins")
        names += [name for name, enabled in plugins.items() if enabled is True and name.partition("@")[0] == PLUGIN]
    return list(dict.fromkeys(names))


def _claude_settings(project: str, environ: Mapping[str, str]) -> list[str]:
    setup = BY_NAME["claude-code"]
    paths = [settings_paths(setup, scope, project=project, environ=environ)[0] for scope in (PROJECT, LOCAL, USER)]
    return list(dict.fromkeys(paths))


def _claude(_: Sequence[Installed], project: str, environ: Mapping[str, str]) -> Troubles:
    managed = MANAGED.get(sys.platform, LINUX_MANAGED)
    for path in (*_claude_settings(project, environ), managed):
        settings = _read_json(path)
        if settings.get("disableAllHooks") is True:
            yield f"{path} disables all hooks", f"Remove disableAllHooks from {path}"
    if _read_json(managed).get("allowManagedHooksOnly") is True:
        yield f"{managed} allows managed hooks only", "Ask your administrator to allow deia's hooks."


def _copilot(hooks: Sequence[Installed], project: str, environ: Mapping[str, str]) -> Troubles:
    folder = os.path.dirname(folder_of(BY_NAME["copilot"].places[USER], USER, project=project, environ=environ))
    own = [os.path.join(folder, "settings.json"), os.path.join(folder, "config.json")]
    repository = [
        os.path.join(project, ".github", "copilot", name) for name in ("settings.json", "settings.local.json")
    ]
    for path in dict.fromkeys([*(hook.path for hook in hooks), *own, *repository]):
        if _read_json(path).get("disableAllHooks") is True:
            yield f"{path} disables all hooks", f"Remove disableAllHooks from {path}"


def _gemini(_: Sequence[Installed], project: str, environ: Mapping[str, str]) -> Troubles:
    for scope in (PROJECT, USER):
        for path in settings_paths(BY_NAME["gemini"], scope, project=project, environ=environ):
            settings = _read_json(path)
            for name in ("hooksConfig", "hooks"):  # the second in versions before the first was introduced
                switches = settings.get(name)
                if isinstance(switches, dict) and switches.get("enabled") is False:
                    yield f"{path} disables all hooks", f"Remove {name}.enabled from {path}"


def _droid(_: Sequence[Installed], project: str, environ: Mapping[str, str]) -> Troubles:
    place = BY_NAME["droid"].places
    for scope in (PROJECT, USER):
        path = os.path.join(folder_of(place[scope], scope, project=project, environ=environ), "settings.json")
        if _read_json(path).get("hooksDisabled") is True:
            yield f"{path} disables all hooks", f"Remove hooksDisabled from {path}"


def _codex(hooks: Sequence[Installed], project: str, environ: Mapping[str, str]) -> Troubles:
    own = folder_of(BY_NAME["codex"].places[USER], USER, project=project, environ=environ)
    path = os.path.join(own, "config.toml")
    config = _read_toml(path)
    features = _table(config, "features")
    if "codex_hooks" in features and "hooks" not in features:
        yield f"{path} sets the feature codex_hooks, which is called hooks now", f"Write hooks = true in {path}"
    if features.get("hooks") is False:
        yield f"{path} switches hooks off", f"Write hooks = true under [features] in {path}"
    if not hooks:
        return
    trust = "Start codex in this folder, type /hooks and trust deia's hooks."
    in_project = not os.path.realpath(hooks[0].path).startswith(os.path.join(os.path.realpath(own), ""))
    if in_project and not _is_trusted(config, project):
        yield (
            f"Codex does not trust {project}, so it reads none of its hooks",
            "Start codex there and trust the folder.",
        )
    states = _table(_table(config, "hooks"), "state")
    unknown = [hook.event for hook in hooks if not _state(states, hook).get("trusted_hash")]
    off = [hook.event for hook in hooks if _state(states, hook).get("enabled") is False]
    if unknown:
        yield (
            f"{hooks[0].path}: nobody has trusted the hooks of {', '.join(unknown)}, so Codex does not run them",
            trust,
        )
    if off:
        yield f"{path} switches off the hooks of {', '.join(off)}", "Start codex, type /hooks and switch them on."


def _state(states: Mapping[str, Json], hook: Installed) -> Mapping[str, Json]:
    """Return what Codex remembers of a hook, identified by its file, its event and its position there."""
    group, number = hook.place[2], hook.place[4]
    for path in dict.fromkeys((hook.path, os.path.realpath(hook.path))):
        state = _table(states, f"{path}:{CODEX_EVENTS.get(hook.event, hook.event)}:{group}:{number}")
        if state:
            return state
    return {}


def _is_trusted(config: Mapping[str, Json], project: str) -> bool:
    projects = _table(config, "projects")
    folders = dict.fromkeys((project, os.path.realpath(project)))
    return any(_table(projects, folder).get("trust_level") == "trusted" for folder in folders)


def _table(config: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    table = config.get(name)
    return table if isinstance(table, dict) else {}


def _read_json(path: str) -> dict[str, Json]:
    """Return a settings file's content, empty if it cannot be read; other checks report that."""
    try:
        with open(path, "rb") as file:
            text = body_of(file.read().decode("utf-8", "replace"))
        settings = parse(text, where=path, extras=COMMENTS) if text else {}
    except (OSError, HostError):
        return {}
    return settings if isinstance(settings, dict) else {}


def _read_toml(path: str) -> dict[str, Json]:
    try:
        with open(path, "rb") as file:
            return tomllib.loads(file.read().decode("utf-8", "replace"))
    except (OSError, tomllib.TOMLDecodeError, RecursionError):
        return {}


CHECKS: Mapping[str, Callable[[Sequence[Installed], str, Mapping[str, str]], Troubles]] = {
    "claude-code": _claude,
    "codex": _codex,
    "copilot": _copilot,
    "gemini": _gemini,
    "droid": _droid,
}
