"""Finds the hook in hosts' settings, lists where it is, and says how it is added to each file and removed from it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from deia import files
from deia.errors import HostError
from deia.fast_json import Json
from deia.folders import state_folder
from deia.records import Record
from deia.serve import hook, statusline
from deia.serve.setup.host_settings.claude_code_settings import (
    is_own_status_line,
    status_command,
    status_line_in,
    with_status_line,
    with_warm,
    without_status_line,
    without_warm,
)
from deia.serve.setup.host_settings.hook_file import (
    RUNNABLE,
    Installed,
    check_free,
    file_text,
    installed,
    is_own_file,
    with_hooks,
    without_hooks,
    words_in,
)
from deia.serve.setup.host_settings.hosts_table import (
    BY_NAME,
    CLAUDE_CODE,
    PLUGIN,
    SCRIPT,
    Machine,
    Setup,
    is_here,
    settings_paths,
    signs_of,
)
from deia.serve.setup.host_settings.launcher import (
    find_interpreters,
    launcher_path,
    launcher_text,
    target_of,
    write_launcher,
)
from deia.serve.setup.settings_changes import Part, read_settings


class Spot(Record):
    """One scope of a host's settings, for a person who works in a project."""

    setup: Setup
    scope: str
    machine: Machine
    status: bool = False  # whether the status line is wanted too

    @property
    def paths(self) -> list[str]:
        """The files that hold its hooks, whether or not they exist."""
        return settings_paths(self.setup, self.scope, self.machine)

    @property
    def is_whole(self) -> bool:
        """Whether the files are deia's alone."""
        return self.setup.shape in {SCRIPT, PLUGIN}


def enter_launcher(environ: Mapping[str, str]) -> str:
    """Write the launcher for this installation; return its path."""
    hook_file, status = os.path.abspath(hook.__file__), os.path.abspath(statusline.__file__)
    return write_launcher(find_interpreters(), hook_file, status, environ=environ)


def is_launcher_old(environ: Mapping[str, str]) -> bool:
    """Return whether another version of deia in this place wrote the launcher."""
    path = launcher_path(environ)
    target, status = target_of(path), os.path.abspath(statusline.__file__)
    if target is None or target.hook != os.path.abspath(hook.__file__):
        return False
    text = launcher_text(target.pythons, target.hook, status, state=state_folder(environ))
    return files.read(path) != text.encode("utf-8", "surrogateescape")


def installed_in(spot: Spot) -> dict[str, tuple[Installed, ...]]:
    """Return the hooks of deia that a host has in a scope, by file or by folder of executables."""
    hooks: dict[str, tuple[Installed, ...]] = {}
    for path in spot.paths:
        text = read_settings(path)
        own = _own_file(spot.setup, path, text) if spot.is_whole else installed(text, spot.setup, path=path)
        place = os.path.dirname(path) if spot.setup.shape == SCRIPT else path
        if own:
            hooks[place] = (*hooks.get(place, ()), *own)
    return hooks


def _own_file(setup: Setup, path: str, text: str) -> list[Installed]:
    if not (text and is_own_file(text)):
        return []
    words = words_in(setup, text)
    event = os.path.basename(path).removesuffix(".ps1")
    entry = {"command": words[0] if words else "", "args": words[1:]}
    events = setup.events if setup.shape == PLUGIN else (event,)
    return [Installed(path=path, event=event, place=(), matcher="", entry=entry) for event in events]


def hook_parts(spot: Spot, command: Sequence[str] = ()) -> list[Part]:
    """Return what is deia's in a host's files of hooks; without a command, only to remove it."""
    try:
        "".join(command).encode()
    except UnicodeEncodeError as error:
        problem = "a path is not valid Unicode, which the host's settings cannot hold"
        raise HostError(problem, where=spot.paths[0]) from error
    own = _whole_file if spot.is_whole else _hooks
    parts = [own(spot, path, command) for path in spot.paths]
    if spot.setup.host == CLAUDE_CODE:
        parts += [_status_line(spot, path, command) for path in spot.paths]
        parts += [warm_part(path) for path in spot.paths]
    return parts


def _whole_file(spot: Spot, path: str, command: Sequence[str]) -> Part:
    def enter(text: str) -> str:
        check_free(path, text)
        return file_text(spot.setup, path, command)

    return Part(
        host=spot.setup.host, path=path, enter=enter if command else None,
        take_out=lambda text: "" if is_own_file(text) else text, mode=RUNNABLE if spot.setup.shape == SCRIPT else 0,
    )  # fmt: skip


def _hooks(spot: Spot, path: str, command: Sequence[str]) -> Part:
    return Part(
        host=spot.setup.host, path=path,
        enter=(lambda text: with_hooks(text, spot.setup, command, path=path)) if command else None,
        take_out=lambda text: without_hooks(text, spot.setup, path=path),
    )  # fmt: skip


def _status_line(spot: Spot, path: str, command: Sequence[str]) -> Part:
    def enter(text: str) -> str:
        is_wanted = spot.status or is_own_status_line(status_line_in(text, path=path))
        return with_status_line(text, status_command(command), path=path) if is_wanted else text

    take_out = partial(without_status_line, path=path)
    return Part(host=spot.setup.host, path=path, enter=enter if command else None, take_out=take_out)


def warm_part(path: str, wanted: Mapping[str, Json] | None = None) -> Part:
    """Return the hooks of a file that ask a running server."""
    return Part(
        host=CLAUDE_CODE, path=path,
        enter=None if wanted is None else lambda text: with_warm(text, wanted, path=path),
        take_out=partial(without_warm, path=path),
    )  # fmt: skip


def is_used(host: str, spot: Spot) -> bool:
    """Return whether a host is on this machine or connected here; a folder in the project may be from somebody else."""
    setup = BY_NAME[host]
    if is_here(setup, spot.machine.but(project="")):
        return True
    try:
        return any(installed_in(spot.but(setup=setup, scope=scope)) for scope in setup.places)
    except HostError:
        return False


class Listed(Record):
    """One host that deia knows: the signs that it is here, where it is connected, and any problems."""

    host: str
    title: str
    signs: tuple[str, ...]
    installed: tuple[tuple[str, str], ...]  # scope and file, or folder of executables
    problems: tuple[str, ...]

    def values(self) -> dict[str, Json]:
        """Return the fields as JSON, described by docs/schema/hosts.schema.json."""
        places = [{"scope": scope, "path": path} for scope, path in self.installed]
        return {
            "host": self.host, "title": self.title, "found": bool(self.signs), "signs": list(self.signs),
            "installed": places, "problems": list(self.problems),
        }  # fmt: skip

    def lines(self, width: int) -> Iterator[str]:
        """Yield lines for a person, with the host's name padded to a width."""
        signs = f"found ({', '.join(self.signs)})" if self.signs else "not found"
        yield f"{self.host:<{width}}  {self.title}: {signs}"
        yield from (f"{'':<{width}}    installed ({scope}): {path}" for scope, path in self.installed)
        yield from (f"{'':<{width}}    {problem}" for problem in self.problems)


def listed(setup: Setup, machine: Machine) -> Listed:
    """Return how a host is connected on this machine."""
    installed: list[tuple[str, str]] = []
    problems: list[str] = []
    for scope in setup.places:
        try:
            paths = installed_in(Spot(setup=setup, scope=scope, machine=machine))
        except HostError as error:
            problems.append(str(error))
        else:
            installed += [(scope, path) for path in paths]
    return Listed(
        host=setup.host, title=setup.title, signs=tuple(signs_of(setup, machine)),
        installed=tuple(installed), problems=tuple(dict.fromkeys(problems)),
    )  # fmt: skip
