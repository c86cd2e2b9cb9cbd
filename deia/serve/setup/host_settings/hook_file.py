"""Finds, adds and removes deia's hooks in the text of a host's JSON settings; the rest of the file keeps its bytes.

Hosts hold hooks in two shapes, events of groups of hooks and events of hooks, and write the command in a few forms (see
`hosts_table`). A file whose hooks do not have the shape that its host documents is an error.

Some hooks are files of their own: an executable for one event, or a plugin inside the host. deia recognises its files
by the script that they run. Somebody else's file in such a place is never overwritten.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar

from deia.errors import HostError
from deia.fast_json import Json
from deia.records import Record
from deia.serve import hosts
from deia.serve.setup.host_settings.command import POSIX, POWERSHELL, dialect_of, line, on_windows, words_of
from deia.serve.setup.host_settings.hosts_table import GROUPED, PLUGIN, Setup
from deia.serve.setup.host_settings.json_text import MEND, Path, find, insert, line_of, parse, prune, with_containers
from deia.serve.setup.host_settings.launcher import NAME, in_shell, is_launched, words_in_shell

Kind = TypeVar("Kind")
HOOK_FILE = "deia/serve/hook.py"
# Fields of an entry that may hold its command.
COMMAND_FIELDS = ("command", "exec", "bash", "powershell", "windows", "linux", "osx")
ROOT = "hooks"
POSIX_SHELLS = ("sh", "bash")  # in which a hook needs no shell of its own; a login shell may be any other
RUNNABLE = 0o755
ABOUT = "deia: the right lesson before the mistake. Made by `deia install`; `deia uninstall` takes it out."
FALLBACK = 'return ["deia-hook"]'  # the line of the plugins that names the hook's command
ARGUMENTS = "[...rest, HOST]"


class Installed(Record):
    """A hook of deia in a settings file."""

    path: str  # of the file
    event: str
    place: Path  # of its entry in the file
    matcher: str
    entry: Mapping[str, Json]

    @property
    def line(self) -> str:
        """The command line for a shell, or the empty text if no shell is used."""
        return "" if isinstance(self.entry.get("args"), list) else _command_of(self.entry)

    @property
    def words(self) -> list[str]:
        """The program and its arguments."""
        args = self.entry.get("args")
        command = _command_of(self.entry)
        if isinstance(args, list):
            return [command, *map(str, args)]
        return words_in_shell(command) or words_of(command)


def _command_of(entry: Mapping[str, Json]) -> str:
    own = {"win32": "windows", "darwin": "osx"}.get(sys.platform, "linux")
    names = (own, *COMMAND_FIELDS)
    return next((value for name in names if isinstance(value := entry.get(name), str) and value), "")


def is_ours(entry: Mapping[str, Json]) -> bool:
    """Return whether a hook is deia's, judged by the file that it runs and not by the interpreter."""
    lines = [value for name in COMMAND_FIELDS if isinstance(value := entry.get(name), str)]
    words = [*lines, *(word for line in lines for word in words_of(line))]
    args = entry.get("args")
    words += [word for word in args if isinstance(word, str)] if isinstance(args, list) else []
    return any(HOOK_FILE in word.replace("\\", "/") or "deia-hook" in word for word in words)


def entry_of(
    setup: Setup, event: str, words: Sequence[str], *, form: str = "", windows: bool | None = None
) -> dict[str, Json]:
    """Return the entry that calls the hook for an event, for this machine's system unless `windows` is given."""
    is_windows = on_windows() if windows is None else windows
    # Some hosts run another's hooks and know no argument lists; so where all of them have the same shell, that gets one
    # line. On Windows, whose shells are slow and of several kinds, `deia doctor` reports it.
    usual = "line" if setup.form == "words" and not is_windows else setup.form
    return {
        **({"type": "command"} if setup.typed else {}),
        **_command(setup, words, form or usual, windows=is_windows),
        **setup.wait,
        **setup.events[event].entry,
    }


def _command(setup: Setup, words: Sequence[str], form: str, *, windows: bool) -> dict[str, Json]:
    if form in {"words", "exec"}:
        return {"command" if form == "words" else "exec": words[0], "args": list(words[1:])}
    shell = setup.windows if windows else setup.posix
    text = in_shell(words) if is_launched(words) and shell in POSIX_SHELLS else line(words, dialect_of(shell))
    if form == "systems":
        return {"windows": text} if windows else {"linux": text, "osx": text}
    return {"powershell" if form == "split" and windows else "command": text}


def installed(text: str, setup: Setup, *, path: str) -> list[Installed]:
    """Return the hooks of deia in a settings file."""
    return [hook for hook in _hooks(text, setup, path=path) if is_ours(hook.entry)]


def with_hooks(
    text: str, setup: Setup, words: Sequence[str], *, path: str, form: str = "", windows: bool | None = None
) -> str:
    """Return a settings text with one hook of deia for every event; hooks that are up to date stay unchanged."""
    text = with_containers(text, [])
    wanted = {event: entry_of(setup, event, words, form=form, windows=windows) for event in setup.events}
    present = installed(text, setup, path=path)
    numbers = Counter(hook.event for hook in present)
    kept = {
        hook.event
        for hook in present
        if numbers[hook.event] == 1 and wanted.get(hook.event) == hook.entry
        if setup.events[hook.event].matcher == hook.matcher
    }
    text = without_hooks(text, setup, path=path, but=kept)
    for key, value in setup.head.items():
        if find(text, [key]) < 0:
            text = insert(text, [], value, key=key)
    root = _root(parse(text, where=path, extras=setup.extras), path)
    for event, entry in wanted.items():
        if event not in kept:
            item = {**setup.events[event].group, **({"hooks": [entry]} if setup.shape == GROUPED else entry)}
            text = insert(with_containers(text, [*root, event], []), [*root, event], item)
    return text


def without_hooks(text: str, setup: Setup, *, path: str, but: Container[str] = ()) -> str:
    """Return a settings text without the hook, and without the lists and objects that this leaves empty.

    The hooks for the events in `but` stay. Raise HostError if the file is not JSON, or its hooks do not have the shape
    that the host documents.
    """
    steps = [2, 1, 1] if setup.shape == GROUPED else [1, 1]  # from an entry to its group, its event, the hooks
    while ours := [hook for hook in installed(text, setup, path=path) if hook.event not in but]:
        text = prune(text, ours[-1].place, steps=steps, where=path, extras=setup.extras)
    return text


def _root(settings: Json, path: str) -> list[str]:
    """Return the path of the events: `hooks`, or the top of a file that has only hooks, as one host allows."""
    is_hooks_file = path.replace("\\", "/").endswith(".factory/hooks.json")
    return [] if is_hooks_file and isinstance(settings, dict) and settings and ROOT not in settings else [ROOT]


def _hooks(text: str, setup: Setup, *, path: str) -> Iterator[Installed]:
    settings = parse(text, where=path, extras=setup.extras)
    expect = partial(_expect, text, path)
    expect(settings, dict, ())
    root = _root(settings, path)
    hooks = expect(settings.get(ROOT, {}) if root else settings, dict, root)
    for event, items in hooks.items():
        if event not in setup.events and not isinstance(items, list):
            continue  # a switch beside the events, which one host has
        for at, item in enumerate(expect(items, list, (*root, event))):
            place: Path = (*root, event, at)
            entries = [(place, item)]
            if setup.shape == GROUPED:
                if event not in setup.events and not isinstance(item, dict):
                    continue
                inner = expect(expect(item, dict, place).get("hooks", []), list, (*place, "hooks"))
                entries = [((*place, "hooks", number), entry) for number, entry in enumerate(inner)]
            for own_place, entry in entries:
                if isinstance(entry, dict):
                    matcher = str(item.get("matcher", ""))
                    yield Installed(path=path, event=event, place=own_place, matcher=matcher, entry=entry)


def _expect(text: str, path: str, value: object, kind: type[Kind], place: Sequence[str | int]) -> Kind:
    if isinstance(value, kind):
        return value
    name = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place).lstrip(".")
    at = line_of(text, max(find(text, place), 0))
    wanted = "an object" if kind is dict else "a list"
    raise HostError(f"{name or 'the settings'} is not {wanted}", where=f"{path}:{at}", fix=MEND)


def file_text(setup: Setup, path: str, words: Sequence[str]) -> str:
    """Return the text of a file that calls the hook."""
    if setup.shape == PLUGIN:
        return _plugin(setup, words)
    if path.endswith(".ps1"):
        return f"# {ABOUT}\n{line(words, POWERSHELL)}\n"
    return f"#!/bin/sh\n# {ABOUT}\n{in_shell(words) if is_launched(words) else f'exec {line(words, POSIX)}'}\n"


def _plugin(setup: Setup, words: Sequence[str]) -> str:
    """Return the host's plugin with this command; arguments behind the host's name stay behind it."""
    source = os.path.join(os.path.dirname(os.path.abspath(hosts.__file__)), "plugins", f"{setup.host}.ts")
    with open(source, encoding="utf-8") as file:
        text = file.read()
    at = list(words).index(setup.host)
    command = json.dumps(list(words[:at]), ensure_ascii=False)
    more = "".join(f", {json.dumps(word, ensure_ascii=False)}" for word in words[at + 1 :])
    return text.replace(FALLBACK, f"return {command}", 1).replace(ARGUMENTS, f"[...rest, HOST{more}]", 1)


def is_own_file(text: str) -> bool:
    """Return whether a file is deia's."""
    plain = text.replace("\\\\", "/").replace("\\", "/")
    return HOOK_FILE in plain or f"/{NAME}" in plain


def check_free(path: str, text: str) -> None:
    """Raise HostError if somebody else wrote the file that would be replaced."""
    if text.strip() and not is_own_file(text):
        problem = "is a hook of somebody else's, and the host reads only one file for this event"
        raise HostError(problem, where=path, fix="Let that file run the hook too, or move it away.")


def words_in(setup: Setup, text: str) -> list[str]:
    """Return the words of the command in a file of deia, as the host runs it; none if they cannot be found."""
    if setup.shape != PLUGIN:
        last_line = next((line for line in reversed(text.splitlines()) if line.strip()), "")
        return words_in_shell(last_line) or words_of(last_line.removeprefix("exec "))
    _, _, returned = text.partition("return [")
    _, _, rest = text.partition("[...rest, HOST")
    try:
        lists = [json.JSONDecoder().raw_decode(f"[{part.lstrip(', ')}")[0] for part in (returned, rest or "]")]
    except ValueError:
        return []
    return [*map(str, lists[0]), setup.host, *map(str, lists[1])]
