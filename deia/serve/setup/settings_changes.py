"""Changes to the settings files of hosts: planned as text, shown, and then written whole or not at all.

Before the first change a file is copied beside itself. When everything of deia's is removed and nobody else has changed
the file since, it gets its old bytes back; a file that deia made is deleted.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tomllib
from collections.abc import Callable, Iterable, Sequence

from deia.commons.source_files.safe_files import replace_file
from deia.errors import HostError
from deia.fast_json import Json
from deia.records import Record
from deia.serve.setup.host_settings.hook_file import ROOT
from deia.serve.setup.host_settings.hosts_table import BY_NAME
from deia.serve.setup.host_settings.json_text import BOM, COMMAS, parse

BACKUP = ".before-deia"
MOST_BYTES = 16_000_000  # of a settings file


class Change(Record):
    """A settings file as it is and as it will be; an empty text stands for no file."""

    path: str
    before: str
    after: str
    keep: str = ""  # where to keep the old text first
    drop: str = ""  # a backup that is no longer needed
    mode: int = 0  # the permissions of a file that is run


class Part(Record):
    """What is deia's in a settings file: how it is added to the text, if it is wanted, and how it is removed."""

    host: str
    path: str
    enter: Callable[[str], str] | None
    take_out: Callable[[str], str]
    mode: int = 0  # the permissions of a file that is run


class Plan(Record):
    """The changes of some files, and the errors of those that cannot be used, by path."""

    changes: list[Change]
    failed: dict[str, HostError]


def read_settings(path: str) -> str:
    """Return a settings file's text; the empty text if there is no file."""
    _refuse_special_file(path)
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except UnicodeDecodeError as error:
        raise HostError(f"not UTF-8 at byte {error.start}", where=path, fix="Save the file as UTF-8.") from error
    except OSError as error:
        is_loop = error.errno == errno.ELOOP
        fix = "It is a link that leads to itself: remove it." if is_loop else "Give yourself the right to read it."
        raise HostError(f"cannot be read: {error.strerror}", where=path, fix=fix) from error


def _refuse_special_file(path: str) -> None:
    """Refuse a folder, a pipe and a device, which cannot be read to an end, and a file that no host would read."""
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        return
    mode = state.st_mode
    if stat.S_ISDIR(mode):
        raise HostError("is a folder, but the host expects a file there", where=path, fix="Move that folder away.")
    if not stat.S_ISREG(mode):
        problem = "is a pipe or a device and not a settings file, so it is not read"
        raise HostError(problem, where=path, fix="Put an ordinary file there, or nothing.")
    if state.st_size > MOST_BYTES:
        raise HostError("is too large for a settings file, so it is not read", where=path, fix="Move that file away.")


# --- planning ---


def planned(parts: Iterable[Part], *, removing: bool = False, fence: str = "") -> Plan:
    """Return how files change when parts of them are added, or removed; several parts of a file are one change.

    A file in the folder `fence` is refused if a link leads it out of there.
    """
    by_path: dict[str, list[Part]] = {}
    for part in parts:
        by_path.setdefault(part.path, []).append(part)
    plan = Plan(changes=[], failed={})
    for path, own in by_path.items():
        try:
            _refuse_way_out(path, fence)
            plan.changes.append((_removal if removing else _addition)(path, own))
        except HostError as error:
            plan.failed[path] = error
    return plan


def _refuse_way_out(path: str, fence: str) -> None:
    if fence and path.startswith(os.path.join(fence, "")):
        real = os.path.realpath(path)
        if not real.startswith(os.path.join(os.path.realpath(fence), "")):
            problem = f"leads to {real}, out of a project that is not trusted"
            raise HostError(problem, where=path, fix="Put a file in place of the link, or type: deia trust")


def _addition(path: str, parts: Sequence[Part]) -> Change:
    before = after = read_settings(path)
    for part in parts:
        after = part.enter(after) if part.enter else after
    backup, rest = path + BACKUP, _without(before, parts)
    is_others = bool(before) and (rest == before or bool(meaning_of(rest, parts[0].host)))  # so it is worth a backup
    keep = backup if is_others and after != before and not os.path.lexists(backup) else ""
    return Change(path=path, before=before, after=after, keep=keep, mode=max(part.mode for part in parts))


def _removal(path: str, parts: Sequence[Part]) -> Change:
    """Return the change that removes parts: the old bytes come back if the rest means what it meant before."""
    before = read_settings(path)
    after = _without(before, parts)
    if after == before:
        return Change(path=path, before=before, after=before)
    backup, host = path + BACKUP, parts[0].host
    old = read_settings(backup)
    meaning = meaning_of(after, host)
    if old and meaning_of(old, host) == meaning:
        return Change(path=path, before=before, after=old, drop=backup)
    return Change(path=path, before=before, after=after if old or meaning else "")


def _without(text: str, parts: Sequence[Part]) -> str:
    for part in parts:
        text = part.take_out(text) if text else ""
    return text


def meaning_of(text: str, host: str) -> Json:
    """Return the settings in a text, without empty events and what every installation adds; the text if unreadable."""
    body = text.removeprefix(BOM)
    try:
        is_toml = host == "codex" and not body.lstrip().startswith("{")
        settings: Json = tomllib.loads(body) if is_toml else parse(body, where="", extras=COMMAS)
    except (HostError, tomllib.TOMLDecodeError, RecursionError):
        return text
    if not isinstance(settings, dict):
        return settings
    head = BY_NAME[host].head.items() if host in BY_NAME else ()
    kept_settings = {key: value for key, value in settings.items() if (key, value) not in head}
    hooks = kept_settings.pop(ROOT, {})
    kept = {event: groups for event, groups in hooks.items() if groups} if isinstance(hooks, dict) else hooks
    return {**kept_settings, **({ROOT: kept} if kept else {})}


# --- writing ---


def carry_out(change: Change) -> None:
    """Write a settings file as planned; a link is followed."""
    if change.before != change.after and os.path.isfile(change.path) and not os.access(change.path, os.W_OK):
        # It could be replaced, but whoever made it read-only (a manager of dotfiles, say) did so on purpose.
        raise HostError("is read-only, and stays as it is", where=change.path, fix="Make it writable, and try again.")
    try:
        _write(change)
    except OSError as error:
        problem = f"cannot be written: {error.strerror or error}"
        raise HostError(problem, where=change.path, fix=_write_fix(change.path)) from error


def _write_fix(path: str) -> str:
    if os.path.islink(path) and not os.path.isdir(os.path.dirname(os.path.realpath(path))):
        return f"It is a link to {os.path.realpath(path)}, whose folder does not exist: create it, or remove the link."
    above = os.path.dirname(path)
    while not os.path.lexists(above) and os.path.dirname(above) != above:
        above = os.path.dirname(above)
    if not os.path.isdir(above):
        kind = "a link that leads nowhere" if os.path.islink(above) else "a file"
        return f"{above} is {kind}, and a folder must be there: move it away."
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
    """Remove the folders of a project that a deleted file left empty."""
    inside = os.path.join(project, "")
    folder = os.path.dirname(path)
    with contextlib.suppress(OSError):  # the folder is not empty
        while folder.startswith(inside):
            os.rmdir(folder)
            folder = os.path.dirname(folder)
