"""The few file operations that the hook needs, straight from the system module: importing `os` would cost it a fifth.

Paths are plain text with the system's own separators or forward slashes. Nothing here knows a commons' rules; it only
reads, stats, appends and replaces.
"""

from __future__ import annotations

import sys

from deia.records import TYPE_CHECKING

if sys.platform == "win32":
    import nt

    system = nt
else:
    import posix

    system = posix

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VARIABLES = ("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_STATE_HOME", "XDG_CACHE_HOME")


def environment() -> dict[str, str]:
    """Give the environment variables that deia reads: its own, and those that say where a person's files are."""
    decoded = {_text(name): value for name, value in system.environ.items()}
    return {name: _text(value) for name, value in decoded.items() if name.startswith("DEIA_") or name in VARIABLES}


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "surrogateescape")


def exists(path: str) -> bool:
    """Say whether something is at `path`; a path that cannot exist (NUL, too long) does not."""
    return stamp(path) is not None


def stamp(path: str) -> tuple[int, int] | None:
    """Give size in bytes and modification time in ns, or None where there is nothing to see."""
    try:
        state = system.stat(path)
    except (OSError, ValueError):
        return None
    return state.st_size, state.st_mtime_ns


def writable(path: str) -> bool:
    """Say whether something at `path` may be written; of a folder Windows says so whatever its rights are."""
    try:
        return bool(system.access(path, 2))
    except (OSError, ValueError):
        return False


def read(path: str) -> bytes | None:
    """Give the content of a file, or None where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError):
        return None


def append(path: str, data: bytes) -> bool:
    """Add `data` to a file in one write, making the file and its folders where needed; say whether it worked.

    One write on an O_APPEND descriptor is what keeps lines of several processes whole (DESIGN: 336 writers killed with
    -9 in mid-write lost no acknowledged line).
    """
    for attempt in (1, 2):
        try:
            with open(path, "ab", buffering=0) as file:
                return file.write(data) == len(data)
        except FileNotFoundError:
            if attempt == 2 or not make_folders(parent(path)):
                return False
        except (OSError, ValueError):
            return False
    return False


def make_folders(path: str) -> bool:
    """Make a folder and those above it, private to the person; say whether it is there now."""
    if exists(path) or not path:
        return True
    if not make_folders(parent(path)):
        return False
    try:
        system.mkdir(path, 0o700)
    except FileExistsError:
        return True
    except (OSError, ValueError):
        return False
    return True


def replace(path: str, data: bytes) -> None:
    """Put `data` at `path` so that a reader sees the old content or the new, never half, even after a crash.

    Raises:
        OSError: the folder cannot be written.
    """
    temporary = f"{path}.{system.getpid()}.new"
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        system.fsync(file.fileno())
    system.replace(temporary, path)


def keep(path: str, data: bytes) -> bool:
    """Put `data` at `path`, in folders private to the person; say whether that could be done."""
    try:
        if make_folders(parent(path)):
            replace(path, data)
            return True
    except OSError:
        pass
    return False


def process() -> int:
    """Give the number of this process."""
    return system.getpid()


def writer() -> str:
    """Name who appends to a shared file: the machine, or the process where appends of several would mix (Windows)."""
    if sys.platform == "win32":
        return str(system.getpid())
    return "".join(char for char in system.uname().nodename if char.isalnum() or char in "-_")[:40] or "local"


def parent(path: str) -> str:
    """Give the folder that holds `path`; that of a root is empty."""
    trimmed = path.rstrip("/\\") if sys.platform == "win32" else path.rstrip("/")
    cut = max(trimmed.rfind("/"), trimmed.rfind("\\") if sys.platform == "win32" else -1)
    if cut < 0 or not trimmed:
        return ""
    return trimmed[:cut] or "/"


def full(path: str) -> str:
    """Give a path in full and without dots."""
    path = path.replace("\\", "/")
    if not (path[:1] == "/" or path[1:2] == ":"):
        path = f"{system.getcwd()}/{path}".replace("\\", "/")
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return "/" + "/".join(parts)


def upwards(path: str) -> Iterator[str]:
    """Give `path` and every folder above it, nearest first."""
    while path:
        yield path
        above = parent(path)
        if above == path:
            return
        path = above


def home(environ: Mapping[str, str]) -> str:
    """Give a person's home folder, or the empty text where nothing says which it is."""
    return environ.get("HOME") or environ.get("USERPROFILE") or ""
