"""Read and write the files of a commons: the one door to every path that a project names.

Only regular files inside the commons are opened, up to a maximum size. Links are followed as long as they stay inside.
Writing is atomic. Pipes, devices, and links that lead out are reported, and neither read nor written.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Callable

from deia import files
from deia.commons.source_files.findings import quote
from deia.files import refuse_special
from deia.problems import CommonsError, Problem
from deia.records import Record

BINARY = "binary-file"  # the code of the problem of a file that is not text
BINARY_START = 8_000  # bytes in which a NUL marks a file that is not text, as in git
BINARY_SIGNS = (b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"\x1f\x8b")


def replace_file(path: str, text: str) -> None:
    """Replace the text of a file atomically, or of the file that a link leads to; a new file is made if there is none.

    This is for files that the person names. Files that a project names are written with `safe_files`. Raise OSError if
    the folder cannot be written.
    """
    write_atomically(os.path.realpath(path), text.encode("utf-8", "replace"))


def write_atomically(path: str, data: bytes) -> None:
    """Write a file atomically, keeping the permissions of the one that it replaces; no link is followed."""
    refuse_special(path)
    mode = stat.S_IMODE(os.lstat(path).st_mode) if os.path.lexists(path) else 0o644
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".deia-", suffix=".new")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


YAML_BYTES = 32 * 1024 * 1024  # an index of 20,000 entries takes about 15 MB
MOST_BYTES = YAML_BYTES  # of any file of a commons
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
        through = " through a link" if not leaves_commons(path) else ""
        return _unread(path, "path-leaves-commons", f"The path leaves the commons{through}.", "Move it inside.")
    data = files.read(place, limit)
    return _decoded(path, data) if data is not None else _why_unread(path, place, limit)


def _why_unread(path: str, place: str, limit: int) -> Text:
    """Return a text with the reason why a file could not be read."""
    try:
        state = os.stat(place)
    except (OSError, ValueError):
        return _unread(path, "missing-file", "There is no such file.", "Create it, or correct the path.")
    if stat.S_ISDIR(state.st_mode):
        return _unread(path, "missing-file", "There is a folder instead of a file.", "Correct the path.")
    if not stat.S_ISREG(state.st_mode):
        message = f"This is {_kind(state.st_mode)}, which is not read."
        return _unread(path, "special-file", message, "Put a regular file in its place.")
    if state.st_size > limit:
        message = f"The file is larger than {limit / 1_000_000:.0f} MB."
        return _unread(path, "file-too-large", message, "Split it into smaller files.")
    return _unread(path, "unreadable-file", "The file cannot be read.", "Check its permissions.")


def _kind(mode: int) -> str:
    """Return what there is instead of a regular file."""
    kinds = {stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def _unread(path: str, code: str, message: str, fix: str) -> Text:
    return Text(text="", problems=(Problem(path=path, line=0, found=message, fix=fix, code=code),), readable=False)


def _decoded(path: str, data: bytes) -> Text:
    if b"\0" in data[:BINARY_START] or data.startswith(BINARY_SIGNS):
        message, fix = "The file is binary and not text.", "To search in such files, take them in: deia ingest FILE"
        return _unread(path, "binary-file", message, fix)
    try:
        return Text(text=data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"The byte {data[error.start]:#04x} is not UTF-8."
        problem = Problem(path=path, line=line, found=message, fix="Save the file as UTF-8.", code="not-utf-8")
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
    message = f"The file name {quote(path.encode('ascii', 'backslashreplace').decode())} is not printable text."
    return Problem(path="bok", line=0, found=message, fix="Rename the file.", code="file-name")


# --- bytes, and writing ---


def checked_place(root: str, path: str) -> str:
    """Return the absolute path of a file of the commons that may be written: a regular file, or none yet."""
    place = resolve(root, path)
    shown = quote(path).strip("`")
    if not place and leaves_commons(path):
        raise CommonsError(f"The path {shown} leaves the commons.", fix="Choose a path inside it.")
    if not place:
        fix = f"Nothing was changed there. Remove the link, or put a file in its place: {shown}"
        raise CommonsError(f"The path {shown} leaves the commons through a link.", fix=fix)
    if ".git" in place[len(os.path.realpath(root)) :].lower().split(os.sep):
        raise CommonsError(f"{shown} belongs to git, and is not written.", fix="Choose another path.")
    try:
        mode = os.lstat(place).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return place
    except (OSError, ValueError) as error:
        raise CommonsError(f"{shown} cannot be reached: {error}.", fix="Check the folder's permissions.") from error
    if not stat.S_ISREG(mode):
        raise CommonsError(f"{shown} is {_kind(mode)}, not a regular file.", fix="Put a regular file in its place.")
    return place


def read_bytes(root: str, path: str, *, limit: int = MOST_BYTES) -> bytes | None:
    """Return the content of a file of the commons, or None if there is none."""
    place = checked_place(root, path)
    data = files.read(place, limit)
    if data is None and os.path.lexists(place):
        raise CommonsError(f"{quote(path).strip('`')} cannot be read.", _why_unread(path, place, limit).problems)
    return data


def write_bytes(root: str, path: str, data: bytes) -> None:
    """Write a file of the commons atomically, making its folders."""
    place = checked_place(root, path)
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        write_atomically(place, data)
    except OSError as error:
        raise _unwritable(path, error) from error


def write_text(root: str, path: str, text: str) -> None:
    """Write a file of the commons atomically as UTF-8, making its folders."""
    write_bytes(root, path, text.encode("utf-8", "replace"))


def create(root: str, path: str, data: bytes) -> None:
    """Write a new file of the commons, making its folders."""
    place = checked_place(root, path)
    if os.path.lexists(place) or os.path.lexists(os.path.join(root, path)):
        raise CommonsError(f"The file {path} exists already.", fix="Choose another name, or move it away.")
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "xb") as file:
            file.write(data)
    except OSError as error:
        raise _unwritable(path, error) from error


def remove(root: str, path: str) -> None:
    """Remove a file of the commons, if it is there."""
    place = checked_place(root, path)
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place)
    except OSError as error:
        raise _unwritable(path, error) from error


def move(root: str, source: str, target: str) -> None:
    """Move a file of the commons to another path in it, making its folders; nothing is overwritten."""
    origin, place = checked_place(root, source), checked_place(root, target)
    if os.path.lexists(place):
        raise CommonsError(f"The file {target} exists already.", fix="Move it away first.")
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        os.replace(origin, place)
    except OSError as error:
        message = f"{source} cannot be moved: {error.strerror}."
        raise CommonsError(message, fix="Check the permissions there.") from error


def _unwritable(path: str, error: OSError) -> CommonsError:
    fix = "Check the folder's permissions and the space left on the disk."
    return CommonsError(f"{quote(path).strip('`')} cannot be written: {error.strerror}.", fix=fix)
