"""Hooks in a host's JSON settings: found, entered and taken out, text to text; the rest of a file keeps its bytes.

Hosts hold them in two shapes, events of groups of hooks and events of hooks, and name the command in a few forms; both
are data (see `table`). Refuses a file whose hooks have not the shape that its host documents.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deia.errors import HostError
from deia.records import Record
from deia.serve.setup.host_settings.command import dialect_of, line, on_windows, words_of
from deia.serve.setup.host_settings.hosts_table import GROUPED, Setup
from deia.serve.setup.host_settings.json_text import find, insert, line_of, parse, remove

HOOK_FILE = "deia/serve/hook.py"
LINES = ("command", "exec", "bash", "powershell", "windows", "linux", "osx")  # what an entry may name its command by
ROOT = "hooks"


class Installed(Record):
    """A hook of deia as a settings file has it."""

    path: str  # of the file
    event: str
    place: tuple[str | int, ...]  # of its entry, in the file
    matcher: str
    entry: Mapping[str, Any]

    @property
    def line(self) -> str:
        """What a shell reads, or the empty text where no shell does."""
        return "" if isinstance(self.entry.get("args"), list) else _named(self.entry)

    @property
    def words(self) -> list[str]:
        """The program and its arguments."""
        args = self.entry.get("args")
        return [_named(self.entry), *map(str, args)] if isinstance(args, list) else words_of(_named(self.entry))


def _named(entry: Mapping[str, Any]) -> str:
    own = {"win32": "windows", "darwin": "osx"}.get(sys.platform, "linux")
    names = (own, *LINES)
    return next((entry[name] for name in names if isinstance(entry.get(name), str) and entry[name]), "")


def is_ours(entry: Mapping[str, Any]) -> bool:
    """Say whether a hook is deia's: by the file that it runs, whatever the interpreter."""
    args = entry.get("args")
    told = [word for name in LINES for word in _told(entry.get(name))]
    told += [word for word in args if isinstance(word, str)] if isinstance(args, list) else []
    words = [word.replace("\\", "/") for word in told]
    return any(HOOK_FILE in word or "deia-hook" in word for word in words)


def _told(value: Any) -> list[str]:
    return [value, *words_of(value)] if isinstance(value, str) else []


def entry_of(
    setup: Setup, event: str, words: Sequence[str], *, form: str = "", windows: bool | None = None
) -> dict[str, Any]:
    """Give the entry that calls the hook for an event, on this machine's system unless one is named."""
    is_windows = on_windows() if windows is None else windows
    return {
        **({"type": "command"} if setup.typed else {}),
        **_command(setup, words, form or setup.form, windows=is_windows),
        **setup.wait,
        **setup.events[event].entry,
    }


def _command(setup: Setup, words: Sequence[str], form: str, *, windows: bool) -> dict[str, Any]:
    if form in {"words", "exec"}:
        return {"command" if form == "words" else "exec": words[0], "args": list(words[1:])}
    text = line(words, dialect_of(setup.windows if windows else setup.posix))
    if form == "systems":
        return {"windows": text} if windows else {"linux": text, "osx": text}
    return {"powershell" if form == "split" and windows else "command": text}


def installed(text: str, setup: Setup, *, path: str) -> list[Installed]:
    """Give the hooks of deia in a settings file.

    Raises:
        HostError: the file is not JSON, or its hooks have not the shape that the host documents.
    """
    return [hook for hook in _hooks(body_of(text), setup, path=path) if is_ours(hook.entry)]


def with_hooks(
    text: str, setup: Setup, words: Sequence[str], *, path: str, form: str = "", windows: bool | None = None
) -> str:
    """Give a settings file's text with the hook entered for every event, once; unchanged where it already is.

    Raises:
        HostError: the file is not JSON, or its hooks have not the shape that the host documents.
    """
    mark, body = _split(text)
    body = body if body.strip() else "{}\n"
    wanted = {event: entry_of(setup, event, words, form=form, windows=windows) for event in setup.events}
    present = installed(body, setup, path=path)
    kept = {hook.event for hook in present if _is_current(hook, present, setup, wanted)}
    body = _without(body, setup, path=path, but=kept)
    for key, value in setup.head.items():
        if find(body, [key]) < 0:
            body = insert(body, [], value, key=key)
    root = _root(parse(body, where=path, extras=setup.extras), path)
    if root and find(body, root) < 0:
        body = insert(body, [], {}, key=ROOT)
    for event, entry in wanted.items():
        if event in kept:
            continue
        if find(body, [*root, event]) < 0:
            body = insert(body, root, [], key=event)
        body = insert(body, [*root, event], _item(setup, event, entry))
    return mark + body


def _item(setup: Setup, event: str, entry: dict[str, Any]) -> dict[str, Any]:
    group = setup.events[event].group
    return {**group, "hooks": [entry]} if setup.shape == GROUPED else {**group, **entry}


def without_hooks(text: str, setup: Setup, *, path: str) -> str:
    """Give a settings file's text without the hook, and without the lists and objects that this leaves empty.

    Raises:
        HostError: the file is not JSON, or its hooks have not the shape that the host documents.
    """
    mark, body = _split(text)
    return mark + _without(body, setup, path=path) if body.strip() else text


def same_settings(one: str, other: str, setup: Setup) -> bool:
    """Say whether two settings texts mean the same, leaving out empty events and what an installation adds anyway."""
    return bool(_meaning(one, setup) == _meaning(other, setup))


def _meaning(text: str, setup: Setup) -> Any:
    settings = parse(body_of(text) or "{}", where="", extras=setup.extras)
    settings = {key: value for key, value in settings.items() if (key, value) not in setup.head.items()}
    hooks = settings.pop(ROOT, {})
    kept = {event: groups for event, groups in hooks.items() if groups} if isinstance(hooks, dict) else hooks
    return {**settings, **({ROOT: kept} if kept else {})}


def _split(text: str) -> tuple[str, str]:
    return ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)


def body_of(text: str) -> str:
    """Give a settings text without a byte order mark; of blanks alone, nothing."""
    return _split(text)[1].strip() and _split(text)[1]


def _root(settings: Any, path: str) -> list[str | int]:
    """Say where the events stand: below `hooks`, or at the top of a file of hooks alone, which one host knows."""
    alone = path.replace("\\", "/").endswith(".factory/hooks.json") and isinstance(settings, dict)
    return [] if alone and settings and ROOT not in settings else [ROOT]


def _is_current(
    hook: Installed, present: Sequence[Installed], setup: Setup, wanted: Mapping[str, dict[str, Any]]
) -> bool:
    if hook.event not in wanted or sum(other.event == hook.event for other in present) > 1:
        return False
    return hook.matcher == setup.events[hook.event].matcher and hook.entry == wanted[hook.event]


def _without(body: str, setup: Setup, *, path: str, but: set[str] | None = None) -> str:
    while True:
        ours = [hook for hook in installed(body, setup, path=path) if hook.event not in (but or ())]
        if not ours:
            return body
        body = _remove_one(body, ours[-1], setup)


def _remove_one(body: str, hook: Installed, setup: Setup) -> str:
    """Take out a hook, and upwards whatever held nothing else."""
    place = list(hook.place)
    settings = parse(body, where=hook.path, extras=setup.extras)
    steps = [2, 1, 1] if setup.shape == GROUPED else [1, 1]  # from an entry to its group, its event, the hooks
    for step in steps:
        if len(_at(settings, place[:-1])) > 1 or len(place) <= step:
            break
        place = place[:-step]
    return remove(body, place)


def _at(value: Any, place: Sequence[str | int]) -> Any:
    for key in place:
        value = value[key]
    return value


def _hooks(body: str, setup: Setup, *, path: str) -> Iterator[Installed]:
    """Yield every hook of a settings file.

    Raises:
        HostError: something has not the shape that the host documents.
    """
    settings = parse(body, where=path, extras=setup.extras) if body else {}
    _expect(settings, dict, "the settings", body, [], path)
    root = _root(settings, path)
    hooks = settings.get(ROOT, {}) if root else settings
    _expect(hooks, dict, ROOT, body, root, path)
    for event, items in hooks.items():
        if event not in setup.events and not isinstance(items, list):
            continue  # a switch beside the events, as one host has them
        _expect(items, list, _name(root, event), body, [*root, event], path)
        for place, entry, matcher in _entries(body, setup, [*root, event], items, path):
            if isinstance(entry, dict):
                yield Installed(path=path, event=event, place=place, matcher=str(matcher), entry=entry)


def _entries(
    body: str, setup: Setup, place: list[str | int], items: list[Any], path: str
) -> Iterator[tuple[tuple[str | int, ...], Any, str]]:
    for at, item in enumerate(items):
        if setup.shape != GROUPED:
            yield (*place, at), item, item.get("matcher", "") if isinstance(item, dict) else ""
            continue
        if setup.events.get(str(place[-1])) is None and not isinstance(item, dict):
            continue
        name = _name(place, at)
        _expect(item, dict, name, body, [*place, at], path)
        entries = item.get("hooks", [])
        _expect(entries, list, f"{name}.hooks", body, [*place, at, "hooks"], path)
        for number, entry in enumerate(entries):
            yield (*place, at, "hooks", number), entry, item.get("matcher", "")


def _name(place: Sequence[str | int], key: str | int) -> str:
    named = ".".join(map(str, place))
    return f"{named}[{key}]" if isinstance(key, int) else f"{named}.{key}".lstrip(".")


def _expect(value: Any, kind: type, name: str, body: str, place: Sequence[str | int], path: str) -> None:
    if not isinstance(value, kind):
        at = line_of(body, max(find(body, place), 0))
        wanted = "an object" if kind is dict else "a list"
        raise HostError(
            f"{name} is not {wanted}", where=f"{path}:{at}", fix="Mend the file by hand; deia does not touch it."
        )
