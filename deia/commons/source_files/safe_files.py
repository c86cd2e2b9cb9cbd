"""Reading the files of a commons: only regular files inside it, only up to a size, always as text.

Refuses every path that leaves.
"""

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
    """The text of a file, or why it could not be read."""

    text: str
    problems: tuple[Problem, ...] = ()
    readable: bool = True


def normalise(path: str) -> str:
    """Give a path as the index writes it: forward slashes, no leading `./`."""
    parts = [part for part in path.strip().replace("\\", "/").split("/") if part not in ("", ".")]
    return "/".join(parts)


def leaves_commons(path: str) -> bool:
    """Say whether a written path points outside the commons: absolute, on a drive, through `..`, no path."""
    forward = path.strip().replace("\\", "/")
    drive = len(forward) > 1 and forward[1] == ":"
    return forward.startswith(ROOTED) or drive or ".." in forward.split("/") or "\0" in path


def resolve(root: str, path: str) -> str:
    """Give the absolute place of a path in the commons, or "" where it leaves, also through a link."""
    if leaves_commons(path) or not path.strip():
        return ""
    try:
        top = os.path.realpath(root)
        place = os.path.realpath(os.path.join(top, normalise(path)))
    except (OSError, ValueError):
        return ""
    return place if place == top or place.startswith(top.rstrip(os.sep) + os.sep) else ""


def resolver(root: str) -> Callable[[str], str]:
    """Give what does as `inside` for many paths of one commons, resolving each folder once: six times as fast."""
    folders: dict[str, str] = {}

    def place(path: str) -> str:
        """Give the absolute place of a path in the commons, or "" where it leaves."""
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
    """Read a file of the commons as UTF-8; what prevents that is a problem. Bytes that are no text become U+FFFD.

    `place` is what `inside` gives for the path, where that is known.
    """
    place = resolve(root, path) if place is None else place
    if not place:
        return _unread(path, "path-leaves-commons", "The path leaves the commons.", "Keep every file inside it.")
    try:
        state = os.stat(place)
    except (OSError, ValueError):
        state = None
    if state is None or not stat.S_ISREG(state.st_mode):
        return _unread(path, "missing-file", "There is no such file.", "Create it, or correct the path.")
    if state.st_size > limit:
        found = f"The file is larger than {limit / 1_000_000:.0f} MB."
        return _unread(path, "file-too-large", found, "Split it.")
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
        found = f"Found the byte {data[error.start]: #04x}, which is not UTF-8."
        problem = Problem(path=path, line=line, found=found, fix="Save the file as UTF-8.", code="not-utf-8")
        return Text(text=data.decode("utf-8-sig", "replace"), problems=(problem,))


def list_files(root: str, folder: str, ending: str) -> list[str]:
    """Give the regular files below a folder with an ending, as paths from the root, sorted; links are not entered."""
    top = resolve(root, folder)
    found = []
    for place, folders, names in os.walk(top, followlinks=False) if top else ():
        folders.sort()
        relative = os.path.relpath(place, os.path.realpath(root)).replace(os.sep, "/")
        found += [f"{relative}/{name}" for name in names if name.lower().endswith(ending) and not name.startswith(".")]
    return sorted(found)


def file_name_problem(path: str) -> Problem | None:
    """Report a file name that is not text (undecodable bytes, line breaks), which no index can name."""
    if path.isprintable():
        return None
    found = f"The file name {quote(path.encode('ascii', 'backslashreplace').decode())} is not printable text."
    return Problem(path="bok", line=0, found=found, fix="Rename the file.", code="file-name")
