"""Read the files of a commons: only regular files inside it, up to a maximum size, always as text."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from deia.commons.source_files.findings import quote
from deia.errors import Problem
from deia.records import Record

YAML_BYTES = 32 * 1024 * 1024  # an index of 20,000 entries takes about 15 MB
ROOTED = ("/", "\\", "~")


class Text(Record):
    """The text of a file, or the reason why it could not be read."""

    text: str
    problems: tuple[Problem, ...] = ()
    readable: bool = True


def normalise(path: str) -> str:
    """Return a path as the index writes it: with forward slashes and no leading `./`."""
    parts = [part for part in path.strip().replace("\\", "/").split("/") if part not in ("", ".")]
    return "/".join(parts)


def leaves_commons(path: str) -> bool:
    """Return whether a written path points outside the commons: absolute, on a drive, with `..` or a null character."""
    forward = path.strip().replace("\\", "/")
    drive = len(forward) > 1 and forward[1] == ":"
    return forward.startswith(ROOTED) or drive or ".." in forward.split("/") or "\0" in path


def resolve(root: str, path: str) -> str:
    """Return the absolute path of a file of the commons, or "" if it lies outside, directly or through a link."""
    if leaves_commons(path) or not path.strip():
        return ""
    try:
        top = os.path.realpath(root)
        place = os.path.realpath(os.path.join(top, normalise(path)))
    except (OSError, ValueError):
        return ""
    return place if place == top or place.startswith(top.rstrip(os.sep) + os.sep) else ""


def resolver(root: str) -> Callable[[str], str]:
    """Return a function that works like `resolve` but resolves each folder only once; it is six times as fast."""
    folders: dict[str, str] = {}

    def place(path: str) -> str:
        """Return the absolute path of a file of the commons, or "" if it lies outside."""
        folder, _, name = normalise(path).rpartition("/")
        if not folder or leaves_commons(path):
            return resolve(root, path)
        top = folders.get(folder)
        if top is None:
            top = folders[folder] = resolve(root, folder)
        full = f"{top}{os.sep}{name}"
        return resolve(root, path) if not top or os.path.islink(full) else full

    return place


def read_text(root: str, path: str, *, limit: int, place: str | None = None) -> Text:
    """Read a file of the commons as UTF-8. Problems are returned; bytes that are not UTF-8 become U+FFFD.

    `place` is the result of `resolve` for the path, if the caller knows it already.
    """
    place = resolve(root, path) if place is None else place
    if not place:
        return _unread(path, "path-leaves-commons", "The path leaves the commons.", "Move it inside.")
    try:
        state = os.stat(place)
    except (OSError, ValueError):
        state = None
    if state is None or not stat.S_ISREG(state.st_mode):
        return _unread(path, "missing-file", "There is no such file.", "Create it, or correct the path.")
    if state.st_size > limit:
        found = f"The file is larger than {limit / 1_000_000:.0f} MB."
        return _unread(path, "file-too-large", found, "Split it into smaller files.")
    try:
        with open(place, "rb", buffering=0) as file:
            data = file.read(limit + 1)
    except OSError as error:
        return _unread(path, "unreadable-file", f"The file cannot be read: {error.strerror}.", "Check its permissions.")
    return _decoded(path, data)


def _unread(path: str, code: str, found: str, fix: str) -> Text:
    return Text(text="", problems=(Problem(path=path, line=0, found=found, fix=fix, code=code),), readable=False)


def _decoded(path: str, data: bytes) -> Text:
    try:
        return Text(text=data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"The byte {data[error.start]: #04x} is not UTF-8."
        problem = Problem(path=path, line=line, found=found, fix="Save the file as UTF-8.", code="not-utf-8")
        return Text(text=data.decode("utf-8-sig", "replace"), problems=(problem,))


def list_files(root: str, folder: str, ending: str) -> list[str]:
    """Return the regular files below a folder with an ending, as sorted paths from the root; links are not followed."""
    top = resolve(root, folder)
    paths = []
    for place, folders, names in os.walk(top, followlinks=False) if top else ():
        folders.sort()
        relative = os.path.relpath(place, os.path.realpath(root)).replace(os.sep, "/")
        paths += [f"{relative}/{name}" for name in names if name.lower().endswith(ending) and not name.startswith(".")]
    return sorted(paths)


def file_name_problem(path: str) -> Problem | None:
    """Return a problem if a file name contains undecodable bytes or line breaks, so that no index can contain it."""
    if path.isprintable():
        return None
    found = f"The file name {quote(path.encode('ascii', 'backslashreplace').decode())} is not printable text."
    return Problem(path="bok", line=0, found=found, fix="Rename the file.", code="file-name")
