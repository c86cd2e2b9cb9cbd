"""Entering the hook into hosts' settings, and taking it out: every file written whole or not at all.

Before the first change a file is kept beside itself; a file that had no settings before has none afterwards.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Mapping, Sequence

from deia.commons.source_files.atomic_write import replace_file
from deia.errors import HostError
from deia.records import Record
from deia.serve import hook
from deia.serve.setup.host_settings import status_line
from deia.serve.setup.host_settings.command import on_windows
from deia.serve.setup.host_settings.hook_file import (
    Installed,
    body_of,
    installed,
    same_settings,
    with_hooks,
    without_hooks,
)
from deia.serve.setup.host_settings.hosts_table import BY_NAME, PLUGIN, SCRIPT, Setup
from deia.serve.setup.host_settings.places import is_here, settings_paths
from deia.serve.setup.host_settings.warm import without_warm
from deia.serve.setup.host_settings.whole_file import RUNNABLE, check_free, file_text, is_own_file, words_in

BACKUP = ".before-deia"


class Spot(Record):
    """Where a host is connected: one of its scopes, for somebody working in a project."""

    setup: Setup
    scope: str
    project: str
    environ: Mapping[str, str]
    beside: tuple[str, ...] = ()  # the hosts that are connected together with it
    status: bool = False  # whether its status line is wanted too

    @property
    def paths(self) -> list[str]:
        """The files that hold its hooks, whether or not they exist."""
        return settings_paths(self.setup, self.scope, project=self.project, environ=self.environ)

    @property
    def is_whole(self) -> bool:
        """Whether the files are deia's own altogether."""
        return self.setup.shape in {SCRIPT, PLUGIN}


class Change(Record):
    """A settings file as it is and as it will be; an empty text is no file."""

    path: str
    before: str
    after: str
    keep: str = ""  # where to keep the old text first
    drop: str = ""  # a backup that has served
    mode: int = 0  # the rights of a file that is run


def hook_command(interpreter: str, host: str, *, commons: str) -> list[str]:
    """Give what a host is to run; `commons` only where a person named one."""
    place = os.path.abspath(hook.__file__)
    return [interpreter, "-I", "-S", place, host, *(("--commons", commons) if commons else ())]


def read_settings(path: str) -> str:
    """Give a settings file's text, empty where there is none.

    Raises:
        HostError: it cannot be read, or is not UTF-8.
    """
    _refuse_odd(path)
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except UnicodeDecodeError as error:
        raise HostError(f"not UTF-8 at byte {error.start}", where=path, fix="Save the file as UTF-8.") from error
    except OSError as error:
        in_rings = error.errno == errno.ELOOP
        fix = "It is a link that leads to itself: remove it." if in_rings else "Give yourself the right to read it."
        raise HostError(f"cannot be read: {error.strerror}", where=path, fix=fix) from error


def _refuse_odd(path: str) -> None:
    """Refuse what is no file to be read to its end: a folder, and a pipe or a device, which may have none.

    Raises:
        HostError: there is such a thing at the path.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return
    if stat.S_ISDIR(mode):
        raise HostError("is a folder, and the host wants a file there", where=path, fix="Move that folder away.")
    if not stat.S_ISREG(mode):
        told = "is a pipe or a device and no settings file, so it is not read"
        raise HostError(told, where=path, fix="Put an ordinary file there, or nothing.")


def installed_in(spot: Spot) -> list[Installed]:
    """Give the hooks of deia that a host has in a scope.

    Raises:
        HostError: a file cannot be used.
    """
    found: list[Installed] = []
    for path in spot.paths:
        text = read_settings(path)
        found += _own_file(spot.setup, path, text) if spot.is_whole else installed(text, spot.setup, path=path)
    return found


def _own_file(setup: Setup, path: str, text: str) -> list[Installed]:
    if not (text and is_own_file(text)):
        return []
    words = words_in(setup, text)
    name = os.path.basename(path).removesuffix(".ps1")
    events = setup.events if setup.shape == PLUGIN else (name,)
    entry = {"command": words[0] if words else "", "args": words[1:]}
    return [Installed(path=path, event=event, place=(), matcher="", entry=entry) for event in events]


def plan_install(spot: Spot, command: Sequence[str]) -> list[Change]:
    """Say how a host's files change when the hook is entered.

    Raises:
        HostError: a file cannot be used, or a path cannot be written in it.
    """
    try:
        "".join(command).encode()
    except UnicodeEncodeError as error:
        told = "a path is not valid Unicode, which the host's settings cannot hold"
        raise HostError(told, where=spot.paths[0]) from error
    return [_entered(spot, path, command) for path in spot.paths]


def _entered(spot: Spot, path: str, command: Sequence[str]) -> Change:
    before = read_settings(path)
    if spot.is_whole:
        check_free(path, before)
        mode = RUNNABLE if spot.setup.shape == SCRIPT else 0
        return Change(path=path, before=before, after=file_text(spot.setup, path, command), mode=mode)
    backup = path + BACKUP
    after = with_hooks(before, spot.setup, command, path=path, form=form_for(spot))
    return Change(
        path=path,
        before=before,
        after=_with_status(spot, path, after, command),
        keep="" if os.path.lexists(backup) or not _is_anybodys(before, spot.setup, path) else backup,
    )


def _is_anybodys(text: str, setup: Setup, path: str) -> bool:
    """Say whether a file has something that is not deia's, which is worth keeping before it is changed."""
    rest = without_hooks(text, setup, path=path)
    if setup.host == status_line.HOST:
        rest = status_line.without_status_line(without_warm(rest, path=path), path=path) if body_of(rest) else rest
    return bool(text) and (rest == text or not same_settings(rest, "{}", setup))


def _with_status(spot: Spot, path: str, text: str, command: Sequence[str]) -> str:
    """Enter the status line where it is wanted, or renew it where it is deia's already."""
    if spot.setup.host != status_line.HOST:
        return text
    if not (spot.status or status_line.is_ours(status_line.status_line_in(text, path=path))):
        return text
    return status_line.with_status_line(text, status_line.status_command(command), path=path)


def form_for(spot: Spot) -> str:
    """Give how a command is written: as one line where another host that knows no argument list runs the hooks too.

    That other would start the bare interpreter with the event as its program. On Windows, whose shells are slow and
    of several kinds, `deia doctor` tells of it instead.
    """
    if spot.setup.form != "words" or on_windows():
        return spot.setup.form
    others = [name for name, scopes in spot.setup.readers.items() if spot.scope in scopes]
    return "line" if any(name in spot.beside or is_used(name, spot) for name in others) else spot.setup.form


def is_used(host: str, spot: Spot) -> bool:
    """Say whether a host is on this machine, or connected here; a project's folder may be somebody else's doing."""
    setup = BY_NAME[host]
    if is_here(setup, project="", environ=spot.environ):
        return True
    try:
        return any(installed_in(spot.but(setup=setup, scope=scope)) for scope in setup.places)
    except HostError:
        return False


def plan_removal(spot: Spot) -> list[Change]:
    """Say how a host's files change when the hook is taken out; where nobody else changed one, it is as it was before.

    Raises:
        HostError: a file cannot be used.
    """
    return [_taken_out(spot, path) for path in spot.paths]


def _taken_out(spot: Spot, path: str) -> Change:
    before = read_settings(path)
    if spot.is_whole:
        return Change(path=path, before=before, after="" if is_own_file(before) else before)
    setup = spot.setup
    after = without_hooks(before, setup, path=path)
    if setup.host == status_line.HOST:
        after = status_line.without_status_line(after, path=path)
    if after == before:
        return Change(path=path, before=before, after=before)
    kept = read_settings(path + BACKUP)
    if kept and _is_sound(kept, setup, path) and same_settings(kept, after, setup):
        return Change(path=path, before=before, after=kept, drop=path + BACKUP)
    if not kept and same_settings(after, "{}", setup):
        after = ""
    return Change(path=path, before=before, after=after)


def _is_sound(kept: str, setup: Setup, path: str) -> bool:
    """Say whether a backup is settings without the hook, which it is unless somebody else made it."""
    try:
        return without_hooks(kept, setup, path=path) == kept
    except HostError:
        return False


def carry_out(change: Change) -> None:
    """Write a settings file as planned, following a link to where it lies.

    Raises:
        HostError: the file cannot be written, or somebody took the right to write it away.
    """
    if change.before != change.after and os.path.isfile(change.path) and not os.access(change.path, os.W_OK):
        # Another could be put in its place, but whoever made it read-only (a manager of dotfiles, say) meant it.
        raise HostError("is read-only, and stays as it is", where=change.path, fix="Make it writable, and try again.")
    try:
        _write(change)
    except OSError as error:
        told = f"cannot be written: {error.strerror or error}"
        raise HostError(told, where=change.path, fix=_way_out(change.path)) from error


def _way_out(path: str) -> str:
    """Say what keeps a file from being written, and what to do: what stands where a folder must be, or a right."""
    if os.path.islink(path) and not os.path.isdir(os.path.dirname(os.path.realpath(path))):
        return f"It is a link to {os.path.realpath(path)}, whose folder is not there: make that, or remove the link."
    above = os.path.dirname(path)
    while not os.path.lexists(above) and os.path.dirname(above) != above:
        above = os.path.dirname(above)
    if not os.path.isdir(above):
        what = "a link that leads nowhere" if os.path.islink(above) else "a file"
        return f"{above} is {what}, and a folder must be there: move it away."
    return f"Give yourself the right to write in {above}."


def _write(change: Change) -> None:
    if change.mode and os.path.isfile(change.path) and not os.access(change.path, os.X_OK):
        os.chmod(change.path, change.mode)
    if change.before == change.after:
        return
    if change.keep:
        with open(change.keep, "xb") as file:
            file.write(change.before.encode())
        os.chmod(change.keep, os.stat(change.path).st_mode & 0o777)
    if change.after:
        os.makedirs(os.path.dirname(change.path), exist_ok=True)
        replace_file(change.path, change.after)
        if change.mode:
            os.chmod(change.path, change.mode)
    else:
        os.unlink(os.path.realpath(change.path))
    if change.drop:
        os.unlink(change.drop)


def tidy(path: str, *, project: str) -> None:
    """Remove the folders in a project that a file which is gone left empty."""
    inside = os.path.join(project, "")
    folder = os.path.dirname(path)
    with contextlib.suppress(OSError):  # one that holds something
        while folder.startswith(inside):
            os.rmdir(folder)
            folder = os.path.dirname(folder)
