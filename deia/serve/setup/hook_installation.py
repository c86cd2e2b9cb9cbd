"""Plans how the hook is added to a host's settings files and removed from them, and finds hooks that are installed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial

from deia.errors import HostError
from deia.records import Record
from deia.serve import hook
from deia.serve.setup.host_settings import status_line
from deia.serve.setup.host_settings.command import on_windows
from deia.serve.setup.host_settings.hook_file import Installed, installed, with_hooks, without_hooks
from deia.serve.setup.host_settings.hosts_table import BY_NAME, PLUGIN, SCRIPT, Setup
from deia.serve.setup.host_settings.places import is_here, settings_paths
from deia.serve.setup.host_settings.whole_file import RUNNABLE, check_free, file_text, is_own_file, words_in
from deia.serve.setup.settings_changes import Change, Target, change_of, entered, read_settings, removal


class Spot(Record):
    """One scope of a host's settings, for a person who works in a project."""

    setup: Setup
    scope: str
    project: str
    environ: Mapping[str, str]
    beside: tuple[str, ...] = ()  # the hosts that are connected at the same time
    status: bool = False  # whether the status line is wanted too

    @property
    def paths(self) -> list[str]:
        """The files that hold its hooks, whether or not they exist."""
        return settings_paths(self.setup, self.scope, project=self.project, environ=self.environ)

    @property
    def is_whole(self) -> bool:
        """Whether the files are deia's alone."""
        return self.setup.shape in {SCRIPT, PLUGIN}


def hook_command(interpreter: str, host: str, *, commons: str) -> list[str]:
    """Return what a host is to run; `commons` is only for a commons that a person named."""
    script = os.path.abspath(hook.__file__)
    return [interpreter, "-I", "-S", script, host, *(("--commons", commons) if commons else ())]


def installed_in(spot: Spot) -> dict[str, tuple[Installed, ...]]:
    """Return the hooks of deia that a host has in a scope, by file or by folder of executables.

    Raises:
        HostError: a file cannot be used.
    """
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


def plan_install(spot: Spot, command: Sequence[str]) -> list[Change]:
    """Return how a host's files change when the hook is added.

    Raises:
        HostError: a file cannot be used, or a path cannot be written in it.
    """
    try:
        "".join(command).encode()
    except UnicodeEncodeError as error:
        problem = "a path is not valid Unicode, which the host's settings cannot hold"
        raise HostError(problem, where=spot.paths[0]) from error
    if not spot.is_whole:
        return entered([], [_target(spot, path, command) for path in spot.paths])
    return [_whole_file(spot, path, command) for path in spot.paths]


def _whole_file(spot: Spot, path: str, command: Sequence[str]) -> Change:
    change = change_of({}, path)
    check_free(path, change.before)
    mode = RUNNABLE if spot.setup.shape == SCRIPT else 0
    return change.but(after=file_text(spot.setup, path, command), mode=mode)


def _target(spot: Spot, path: str, command: Sequence[str] = ()) -> Target:
    """Return how the hook, and the status line if the host has one, is added to a file and removed."""
    has_status = spot.setup.host == status_line.HOST

    def enter(text: str) -> str:
        """Add the hook; add the status line if it is wanted, renew it if it is deia's already."""
        text = with_hooks(text, spot.setup, command, path=path, form=form_for(spot))
        if has_status and (spot.status or status_line.is_ours(status_line.status_line_in(text, path=path))):
            text = status_line.with_status_line(text, status_line.status_command(command), path=path)
        return text

    def take_out(text: str) -> str:
        """Remove the hook and the status line."""
        text = without_hooks(text, spot.setup, path=path)
        return status_line.without_status_line(text, path=path) if has_status else text

    return Target(host=spot.setup.host, path=path, enter=enter, take_out=take_out)


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
    if is_here(setup, project="", environ=spot.environ):
        return True
    try:
        return any(installed_in(spot.but(setup=setup, scope=scope)) for scope in setup.places)
    except HostError:
        return False


def plan_removal(spot: Spot) -> list[Change]:
    """Return how a host's files change when the hook is removed; a file that nobody else changed gets its old bytes.

    Raises:
        HostError: a file cannot be used.
    """
    changes = map(partial(change_of, {}), spot.paths)
    if spot.is_whole:
        return [change.but(after="") if is_own_file(change.before) else change for change in changes]
    return [removal(change, _target(spot, change.path)) for change in changes]
