"""Claude Code's settings files: where they are, and how the hook is entered into them and taken out again.

Source: the host's own reference for v2.1.240 (read 2026-08-22): exec form, so that no shell reads a path; hooks of
all files run side by side. Everything here is text to text; the rest of a file keeps its bytes.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from deia.errors import HostError
from deia.records import Record
from deia.serve.json_edit import find, insert, line_of, parse, remove

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HOST = "claude-code"
HOOK_FILE = "deia/serve/hook.py"
TIMEOUT = 5  # seconds; the hook gives up by itself after one
# Not Read: it is frequent, and this host itself refuses to write over a file that it has not read.
CALLS = (
    "Bash|PowerShell|Write|Edit|MultiEdit|NotebookEdit|ExitPlanMode|TodoWrite|TaskCreate|Task|Agent|AskUserQuestion"
    "|mcp__.*"
)
RESULTS = "Bash|PowerShell|ExitPlanMode|AskUserQuestion|mcp__.*"
EVENTS: Mapping[
    str, tuple[dict[str, Any], dict[str, Any]]
] = {  # event → what a group says besides its hooks, what a hook says besides its command
    "UserPromptSubmit": ({}, {}),
    "PreToolUse": ({"matcher": CALLS}, {}),
    "PostToolUse": ({"matcher": RESULTS}, {}),
    "PostToolUseFailure": ({"matcher": RESULTS}, {}),
    "SessionStart": ({}, {}),
    "Stop": ({}, {"async": True}),
}
SCOPES = ("project", "local", "user")


class Installed(Record):
    """A hook of deia as a settings file has it."""

    path: str  # of the file
    event: str
    group: int
    number: int  # within its group
    matcher: str
    entry: Mapping[str, Any]

    @property
    def command(self) -> list[str]:
        """What the host runs."""
        return [str(self.entry.get("command", "")), *map(str, self.entry.get("args") or ())]


def settings_path(scope: str, *, project: str, environ: Mapping[str, str]) -> str:
    """Give the settings file of a scope."""
    if scope == "user":
        folder = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
        return os.path.join(folder, "settings.json")
    name = "settings.json" if scope == "project" else "settings.local.json"
    return os.path.join(project, ".claude", name)


def project_folder(start: str) -> str:
    """Give the folder that the host takes for the project: the nearest with .git or .claude, else `start` itself."""
    folder = start
    home = os.path.realpath(os.path.expanduser("~"))
    while True:
        marked = os.path.exists(os.path.join(folder, ".git")) or os.path.isdir(os.path.join(folder, ".claude"))
        if marked and os.path.realpath(folder) != home:
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return start
        folder = above


def read_settings(path: str) -> str:
    """Give a settings file's text, empty where there is none.

    Raises:
        HostError: it cannot be read, or is not UTF-8.
    """
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise HostError(f"not UTF-8 at byte {error.start}", where=path, fix="Save the file as UTF-8.") from error
    except OSError as error:
        raise HostError(
            f"cannot be read: {error.strerror}", where=path, fix="Give yourself the right to read it."
        ) from error


def installed(text: str, *, path: str) -> list[Installed]:
    """Give the hooks of deia in a settings file.

    Raises:
        HostError: the file is not JSON, or its hooks have not the shape that the host documents.
    """
    return [hook for hook in _hooks(_body(text), path=path) if is_ours(hook.entry)]


def switched_off(text: str, *, path: str) -> bool:
    """Say whether a settings file disables all hooks."""
    settings = parse(_body(text), where=path) if _body(text) else {}
    return isinstance(settings, dict) and settings.get("disableAllHooks") is True


def is_ours(entry: Mapping[str, Any]) -> bool:
    """Say whether a hook is deia's: by the file that it runs, whatever the interpreter."""
    given = entry.get("args")
    told = [entry.get("command"), *(given if isinstance(given, list) else ())]
    words = [word.replace("\\", "/") for word in told if isinstance(word, str)]
    return any(HOOK_FILE in word or "deia-hook" in word for word in words)


def with_hooks(text: str, command: Sequence[str], *, path: str) -> str:
    """Give a settings file's text with the hook entered for every event, once; unchanged where it already is.

    Raises:
        HostError: the file is not JSON, or its hooks have not the shape that the host documents.
    """
    mark, body = _split(text)
    body = body if body.strip() else "{}\n"
    present = installed(body, path=path)
    kept = {hook.event for hook in present if _is_current(hook, present, command)}
    body = _without(body, path=path, but=kept)
    if find(body, ["hooks"]) < 0:
        body = insert(body, [], {}, key="hooks")
    for event, (group, _) in EVENTS.items():
        if event in kept:
            continue
        if find(body, ["hooks", event]) < 0:
            body = insert(body, ["hooks"], [], key=event)
        body = insert(body, ["hooks", event], {**group, "hooks": [_entry(event, command)]})
    return mark + body


def without_hooks(text: str, *, path: str) -> str:
    """Give a settings file's text without the hook, and without the lists and objects that this leaves empty.

    Raises:
        HostError: the file is not JSON, or its hooks have not the shape that the host documents.
    """
    mark, body = _split(text)
    return mark + _without(body, path=path) if body.strip() else text


def same_settings(one: str, other: str) -> bool:
    """Say whether two settings texts mean the same, leaving out events and hooks that are empty."""
    return bool(_meaning(one) == _meaning(other))


def _meaning(text: str) -> Any:
    settings = json.loads(_body(text) or "{}")
    hooks = settings.pop("hooks", {})
    kept = {event: groups for event, groups in hooks.items() if groups} if isinstance(hooks, dict) else hooks
    return {**settings, **({"hooks": kept} if kept else {})}


def _split(text: str) -> tuple[str, str]:
    return ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)


def _body(text: str) -> str:
    return _split(text)[1].strip() and _split(text)[1]


def _entry(event: str, command: Sequence[str]) -> dict[str, Any]:
    return {"type": "command", "command": command[0], "args": list(command[1:]), "timeout": TIMEOUT, **EVENTS[event][1]}


def _is_current(hook: Installed, present: Sequence[Installed], command: Sequence[str]) -> bool:
    if hook.event not in EVENTS or sum(other.event == hook.event for other in present) > 1:
        return False
    matcher: str = EVENTS[hook.event][0].get("matcher", "")
    return hook.matcher == matcher and hook.entry == _entry(hook.event, command)


def _without(body: str, *, path: str, but: set[str] | None = None) -> str:
    while True:
        ours = [hook for hook in installed(body, path=path) if hook.event not in (but or ())]
        if not ours:
            return body
        body = _remove_one(body, ours[-1])


def _remove_one(body: str, hook: Installed) -> str:
    """Take out a hook, and upwards whatever held nothing else."""
    place: list[str | int] = ["hooks", hook.event, hook.group, "hooks", hook.number]
    settings = json.loads(body)
    groups = settings["hooks"][hook.event]
    for alone, shorter in (
        (len(groups[hook.group]["hooks"]) == 1, place[:3]),
        (len(groups) == 1, place[:2]),
        (len(settings["hooks"]) == 1, place[:1]),
    ):
        if not alone:
            break
        place = shorter
    return remove(body, place)


def _hooks(body: str, *, path: str) -> Iterator[Installed]:
    """Yield every command hook of a settings file.

    Raises:
        HostError: something has not the shape that the host documents.
    """
    settings = parse(body, where=path) if body else {}
    _expect(settings, dict, "the settings", body, [], path)
    hooks = settings.get("hooks", {})
    _expect(hooks, dict, "hooks", body, ["hooks"], path)
    for event, groups in hooks.items():
        _expect(groups, list, f"hooks.{event}", body, ["hooks", event], path)
        for at, group in enumerate(groups):
            _expect(group, dict, f"hooks.{event}[{at}]", body, ["hooks", event, at], path)
            entries = group.get("hooks", [])
            _expect(entries, list, f"hooks.{event}[{at}].hooks", body, ["hooks", event, at, "hooks"], path)
            matcher = group.get("matcher", "")
            for number, entry in enumerate(entries):
                if isinstance(entry, dict):
                    yield Installed(path=path, event=event, group=at, number=number, matcher=str(matcher), entry=entry)


def _expect(value: Any, kind: type, name: str, body: str, place: Sequence[str | int], path: str) -> None:
    if not isinstance(value, kind):
        line = line_of(body, max(find(body, place), 0))
        wanted = "an object" if kind is dict else "a list"
        raise HostError(
            f"{name} is not {wanted}", where=f"{path}:{line}", fix="Mend the file by hand; deia does not touch it."
        )
