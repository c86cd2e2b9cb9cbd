"""Entering the hook into a host's settings file, and taking it out: the file written whole or not at all.

Before the first change the file is kept beside itself; a file that had no settings before has none afterwards.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from deia.commons.store import replace_file
from deia.errors import HostError
from deia.records import Record
from deia.serve import hook
from deia.serve.hosts.claude_settings import HOST, read_settings, same_settings, with_hooks, without_hooks

if TYPE_CHECKING:
    from collections.abc import Sequence

BACKUP = ".before-deia"


class Change(Record):
    """A settings file as it is and as it will be; an empty text is no file."""

    path: str
    before: str
    after: str
    keep: str = ""  # where to keep the old text first
    drop: str = ""  # a backup that has served


def hook_command(interpreter: str, *, commons: str) -> list[str]:
    """Give what the host is to run; `commons` only where a person named one."""
    place = os.path.abspath(hook.__file__)
    return [interpreter, "-I", "-S", place, HOST, *(("--commons", commons) if commons else ())]


def plan_install(path: str, command: Sequence[str]) -> Change:
    """Say how the file changes when the hook is entered.

    Raises:
        HostError: the file cannot be used, or a path cannot be written in it.
    """
    before = read_settings(path)
    try:
        "".join(command).encode()
    except UnicodeEncodeError as error:
        raise HostError("a path is not valid Unicode, which the host's settings cannot hold", where=path) from error
    backup = path + BACKUP
    return Change(
        path=path,
        before=before,
        after=with_hooks(before, command, path=path),
        keep="" if os.path.lexists(backup) or not before else backup,
    )


def plan_removal(path: str) -> Change:
    """Say how the file changes when the hook is taken out; where nobody else changed it, it is as it was before.

    Raises:
        HostError: the file cannot be used.
    """
    before = read_settings(path)
    after = without_hooks(before, path=path)
    if after == before:
        return Change(path=path, before=before, after=before)
    kept = read_settings(path + BACKUP)
    if kept and _is_sound(kept, path) and same_settings(kept, after):
        return Change(path=path, before=before, after=kept, drop=path + BACKUP)
    if not kept and same_settings(after, "{}"):
        after = ""
    return Change(path=path, before=before, after=after)


def _is_sound(kept: str, path: str) -> bool:
    """Say whether a backup is settings without the hook, which it is unless somebody else made it."""
    try:
        return without_hooks(kept, path=path) == kept
    except HostError:
        return False


def carry_out(change: Change) -> None:
    """Write a settings file as planned, following a link to where it lies.

    Raises:
        HostError: the file cannot be written.
    """
    try:
        _write(change)
    except OSError as error:
        told = f"cannot be written: {error.strerror or error}"
        raise HostError(told, where=change.path, fix="Give yourself the right to write there.") from error


def _write(change: Change) -> None:
    if change.before == change.after:
        return
    if change.keep:
        with open(change.keep, "xb") as file:
            file.write(change.before.encode())
        os.chmod(change.keep, os.stat(change.path).st_mode & 0o777)
    if change.after:
        os.makedirs(os.path.dirname(change.path), exist_ok=True)
        replace_file(change.path, change.after)
    else:
        os.unlink(os.path.realpath(change.path))
    if change.drop:
        os.unlink(change.drop)
