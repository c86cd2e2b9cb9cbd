"""Finds the hook in hosts' settings, and says how it is added to each file and removed from it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from deia.errors import HostError
from deia.fast_json import Json
from deia.records import Record
from deia.serve import hook
from deia.serve.setup.host_settings import status_line, warm
from deia.serve.setup.host_settings.command import on_windows
from deia.serve.setup.host_settings.hook_file import Installed, installed, with_hooks, without_hooks
from deia.serve.setup.host_settings.hosts_table import BY_NAME, CLAUDE_CODE, PLUGIN, SCRIPT, Setup
from deia.serve.setup.host_settings.places import Machine, is_here, settings_paths
from deia.serve.setup.host_settings.whole_file import RUNNABLE, check_free, file_text, is_own_file, words_in
from deia.serve.setup.settings_changes import Part, read_settings


class Spot(Record):
    """One scope of a host's settings, for a person who works in a project."""

    setup: Setup
    scope: str
    machine: Machine
    beside: tuple[str, ...] = ()  # the hosts that are connected at the same time
    status: bool = False  # whether the status line is wanted too

    @property
    def paths(self) -> list[str]:
        """The files that hold its hooks, whether or not they exist."""
        return settings_paths(self.setup, self.scope, self.machine)

    @property
    def is_whole(self) -> bool:
        """Whether the files are deia's alone."""
        return self.setup.shape in {SCRIPT, PLUGIN}


def hook_command(interpreter: str, host: str, *, commons: str) -> list[str]:
    """Return what a host is to run; `commons` is only for a commons that a person named."""
    script = os.path.abspath(hook.__file__)
    return [interpreter, "-I", "-S", script, host, *(("--commons", commons) if commons else ())]


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
        """Return the file, unless somebody else wrote it."""
        check_free(path, text)
        return file_text(spot.setup, path, command)

    return Part(
        host=spot.setup.host, path=path, enter=enter if command else None,
        take_out=lambda text: "" if is_own_file(text) else text, mode=RUNNABLE if spot.setup.shape == SCRIPT else 0,
    )  # fmt: skip


def _hooks(spot: Spot, path: str, command: Sequence[str]) -> Part:
    def enter(text: str) -> str:
        """Add the hook."""
        return with_hooks(text, spot.setup, command, path=path, form=form_for(spot))

    return Part(
        host=spot.setup.host, path=path, enter=enter if command else None,
        take_out=lambda text: without_hooks(text, spot.setup, path=path),
    )  # fmt: skip


def _status_line(spot: Spot, path: str, command: Sequence[str]) -> Part:
    def enter(text: str) -> str:
        """Add the status line if it is wanted, renew it if it is deia's already."""
        if not (spot.status or status_line.is_ours(status_line.status_line_in(text, path=path))):
            return text
        return status_line.with_status_line(text, status_line.status_command(command), path=path)

    return Part(
        host=spot.setup.host, path=path, enter=enter if command else None,
        take_out=lambda text: status_line.without_status_line(text, path=path),
    )  # fmt: skip


def warm_part(path: str, wanted: Mapping[str, Json] | None = None) -> Part:
    """Return the hooks of a file that ask a running server."""
    return Part(
        host=CLAUDE_CODE, path=path,
        enter=None if wanted is None else lambda text: warm.with_warm(text, wanted, path=path),
        take_out=lambda text: warm.without_warm(text, path=path),
    )  # fmt: skip


def form_for(spot: Spot) -> str:
    """Return how a command is written: as one line if a host that knows no argument lists runs these hooks too.

    That host would otherwise start the bare interpreter, with the event as its program. On Windows, whose shells are
    slow and of several kinds, `deia doctor` reports it instead.
    """
    if spot.setup.form != "words" or on_windows():
        return spot.setup.form
    readers = [name for name, scopes in spot.setup.readers.items() if spot.scope in scopes]
    return "line" if any(name in spot.beside or is_used(name, spot) for name in readers) else spot.setup.form


def is_used(host: str, spot: Spot) -> bool:
    """Return whether a host is on this machine or connected here; a folder in the project may be from somebody else."""
    setup = BY_NAME[host]
    if is_here(setup, spot.machine.but(project="")):
        return True
    try:
        return any(installed_in(spot.but(setup=setup, scope=scope)) for scope in setup.places)
    except HostError:
        return False
