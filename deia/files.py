"""The few file operations that the hook needs, taken from the system module: importing `os` takes a fifth of its time.

Paths are strings with the system's own separators or forward slashes.
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

MOST_LINKS = 40  # of one path, as Linux allows
MOST_BYTES = 64_000_000  # of a file that is read whole; larger ones are not deia's, or are mapped instead of read
ANY_SIZE = 1 << 40  # for files that only deia writes
REGULAR, FOLDER, KIND, LINK = 0o100000, 0o040000, 0o170000, 0o120000  # of a file's mode (inode(7))
# Opening a pipe or a device must neither wait nor have an effect. Windows has no such flags, but needs O_BINARY.
_PLAIN = sum(getattr(system, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"))
READ = system.O_RDONLY | _PLAIN
_NO_LINK = getattr(system, "O_NOFOLLOW", 0)
_APPEND = system.O_WRONLY | system.O_APPEND | system.O_CREAT | _NO_LINK | _PLAIN
_CREATE = system.O_WRONLY | system.O_CREAT | system.O_EXCL | _NO_LINK | _PLAIN
VARIABLES = (
    "HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "TMPDIR", "TEMP",
)  # fmt: skip


def environment() -> dict[str, str]:
    """Return the environment variables that deia reads: its own, and those that locate a person's files."""
    decoded = {_text(name): value for name, value in system.environ.items()}
    return {name: _text(value) for name, value in decoded.items() if name.startswith("DEIA_") or name in VARIABLES}


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "surrogateescape")


def exists(path: str) -> bool:
    """Return whether there is anything at `path`; False for a path that cannot exist (NUL, too long)."""
    return stamp(path) is not None


def stamp(path: str) -> tuple[int, int] | None:
    """Return the size in bytes and the modification time in ns, or None if the path cannot be read."""
    try:
        state = system.stat(path)
    except (OSError, ValueError):
        return None
    return state.st_size, state.st_mtime_ns


def writable(path: str) -> bool:
    """Return whether `path` may be written to; on Windows this is true for every folder, whatever its permissions."""
    try:
        return bool(system.access(path, 2))
    except (OSError, ValueError):
        return False


def read(path: str, most: int = MOST_BYTES) -> bytes | None:
    """Return the content of a regular file, or None if it cannot be read, is no regular file or exceeds `most` bytes.

    This never waits: a pipe or a device, also at the end of a link, is not read.
    """
    try:
        return read_open(system.open(path, READ), most)
    except (OSError, ValueError):
        return None


def read_open(handle: int, most: int) -> bytes | None:
    """Return the content of a file that was opened with `READ`, or None as `read` does, and close it."""
    try:
        state = system.fstat(handle)
        if state.st_mode & KIND != REGULAR or state.st_size > most:
            return None
        return _read_on(handle, state.st_size, most)
    except (OSError, MemoryError):
        return None
    finally:
        system.close(handle)


def _read_on(handle: int, size: int, most: int) -> bytes | None:
    """Return what follows in an open file, or None if it is more than `most` bytes; `size` is how much to expect."""
    data = system.read(handle, size + 1)
    while len(data) > size and len(data) <= most:  # the file has grown, or is one whose size the system does not know
        more = system.read(handle, 1 << 20)
        if not more:
            break
        data += more
    return data if len(data) <= most else None


def read_end(path: str, most: int) -> bytes:
    """Return the last `most` bytes of a regular file, or less if it has less, or nothing if it cannot be read."""
    try:
        handle = system.open(path, READ)
    except (OSError, ValueError):
        return b""
    try:
        state = system.fstat(handle)
        if state.st_mode & KIND != REGULAR:
            return b""
        if state.st_size > most:
            system.lseek(handle, state.st_size - most, 0)
        return system.read(handle, min(most, state.st_size))
    except (OSError, MemoryError):
        return b""
    finally:
        system.close(handle)


def names(folder: str, most: int = 0) -> list[str]:
    """Return the names in a folder, sorted; none if it cannot be listed. `most`, if any, are looked at."""
    try:
        if most:
            with system.scandir(folder) as entries:
                return sorted(entry.name for entry, _ in zip(entries, range(most), strict=False))
        return sorted(system.listdir(folder))
    except (OSError, ValueError):
        return []


def is_regular(path: str) -> bool:
    """Return whether there is a regular file at `path`, perhaps at the end of a link."""
    try:
        return system.stat(path).st_mode & KIND == REGULAR
    except (OSError, ValueError):
        return False


def is_link(path: str) -> bool:
    """Return whether there is a symbolic link at `path`."""
    try:
        return system.lstat(path).st_mode & KIND == LINK
    except (OSError, ValueError):
        return False


def is_private(path: str) -> bool:
    """Return whether there is a folder at `path`, and no link, that belongs to this user and is open to nobody else.

    On Windows the folders of temporary files are a user's own.
    """
    try:
        state = system.lstat(path)
    except (OSError, ValueError):
        return False
    own = sys.platform == "win32" or (state.st_uid == user() and not state.st_mode & 0o077)
    return own and state.st_mode & KIND == FOLDER


def is_own(path: str) -> bool:
    """Return whether something belongs to the person who runs this; True on Windows, which has no such owners."""
    try:
        return sys.platform == "win32" or bool(system.stat(path).st_uid == user())
    except (OSError, ValueError):
        return False


def append(path: str, data: bytes) -> bool:
    """Add `data` to a file in one write and return whether it worked; the file and its folders are created if missing.

    A link or anything else than a regular file is left alone. A single write to an O_APPEND descriptor keeps the lines
    of concurrent processes whole (DESIGN: 336 writers killed with -9 in the middle of a write lost no acknowledged
    line).
    """
    for attempt in (1, 2):
        try:
            handle = _open_to_append(path)
        except FileNotFoundError:
            if attempt == 2 or not make_folders(parent(path)):
                return False
            continue
        except (OSError, ValueError):
            return False
        try:
            return system.fstat(handle).st_mode & KIND == REGULAR and system.write(handle, data) == len(data)
        except OSError:
            return False
        finally:
            system.close(handle)
    return False


def create(path: str) -> bool:
    """Create an empty file, and its folders if missing; return whether this process created it, and no other."""
    if not make_folders(parent(path)):
        return False
    try:
        system.close(system.open(path, _CREATE, 0o600))
    except (OSError, ValueError):
        return False
    return True


def remove(path: str) -> None:
    """Remove a file or a link if it is there and that is allowed."""
    try:
        system.unlink(path)
    except (OSError, ValueError):
        return


def _open_to_append(path: str) -> int:
    if not _NO_LINK and is_link(path):
        raise OSError(path)
    return system.open(path, _APPEND, 0o666)


def make_folders(path: str) -> bool:
    """Create a folder and its parents, readable only by their owner; return whether the folder exists afterwards."""
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


def replace(path: str, data: bytes, mode: int = 0o666) -> None:
    """Write `data` to `path` atomically: readers see the old content or the new, never a mixture, even after a crash.

    It gets the `mode`, less what the person's umask forbids. Raise OSError if the folder cannot be written to, or at
    `path` there is a link or anything else than a regular file.
    """
    refuse_special(path)
    temporary, handle = _new_file(f"{path}.{system.getpid()}", mode)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            system.fsync(file.fileno())
        system.replace(temporary, path)
    except OSError:
        system.unlink(temporary)
        raise


def _new_file(beginning: str, mode: int) -> tuple[str, int]:
    """Create a file with an unused name and return its path and its descriptor; nothing is followed or overwritten."""
    for number in range(100):
        temporary = f"{beginning}{f'-{number}' if number else ''}.new"
        try:
            return temporary, system.open(temporary, _CREATE, mode)
        except FileExistsError:  # of another thread, of a killed process of this number, or put there by somebody
            continue
        except ValueError as error:  # a null character
            raise OSError(22, str(error), beginning) from error
    raise FileExistsError(17, "too many unfinished files", beginning)


def refuse_special(path: str) -> None:
    """Raise an OSError if there is a link at `path`, or anything else than a regular file; nothing at all is fine."""
    try:
        kind = system.lstat(path).st_mode & KIND
    except FileNotFoundError:
        return
    except ValueError as error:  # a null character
        raise OSError(22, str(error), path) from error
    if kind != REGULAR:
        raise OSError(22, "it is a link" if kind == LINK else "it is no regular file", path)


def keep(path: str, data: bytes, mode: int = 0o666) -> bool:
    """Write `data` to `path` atomically, creating private folders if missing; return whether it worked."""
    try:
        if make_folders(parent(path)):
            replace(path, data, mode)
            return True
    except OSError:
        pass
    return False


def process() -> int:
    """Return the id of this process."""
    return system.getpid()


def is_running(number: int) -> bool:
    """Return whether there is a process with this id; True on Windows, where that cannot be told so cheaply."""
    if sys.platform == "win32":
        return True
    try:
        system.kill(number, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # somebody else's
        return True
    return True


def user() -> int:
    """Return the number of the user that this process acts for; always 0 on Windows."""
    return 0 if sys.platform == "win32" else system.geteuid()


def writer() -> str:
    """Return a name for the writer of a shared file: the machine; on Windows the process, as appends would mix."""
    if sys.platform == "win32":
        return str(system.getpid())
    return "".join(char for char in system.uname().nodename if char.isalnum() or char in "-_")[:40] or "local"


def parent(path: str) -> str:
    """Return the folder that contains `path`; empty for a root."""
    trimmed = path.rstrip("/\\") if sys.platform == "win32" else path.rstrip("/")
    cut = max(trimmed.rfind("/"), trimmed.rfind("\\") if sys.platform == "win32" else -1)
    if cut < 0 or not trimmed:
        return ""
    return trimmed[:cut] or "/"


def forward(path: str) -> str:
    """Return a path of this system with forward slashes; except on Windows, a backslash is a character of a name."""
    return path.replace("\\", "/") if sys.platform == "win32" else path


def is_absolute(path: str) -> bool:
    """Return whether a path of this system, with forward slashes, is absolute; only Windows has drives."""
    return path[:1] == "/" or (sys.platform == "win32" and path[1:2] == ":")


def full(path: str) -> str:
    """Return the absolute path without `.` and `..`."""
    path = forward(path)
    if not is_absolute(path):
        path = forward(f"{system.getcwd()}/{path}")
    return "/" + without_dots(path)


def without_dots(path: str) -> str:
    """Return a path without `.`, `..` and needless slashes, by its text alone."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def real(path: str) -> str:
    """Return a path in full, with every link resolved as far as folders exist, and with forward slashes.

    A circle of links is left as it is, so that such a path is nobody's.
    """
    waiting = forward(path if is_absolute(forward(path)) else f"{system.getcwd()}/{path}").split("/")
    done, links = "", 0
    while waiting:
        part = waiting.pop(0)
        if part == "..":  # of where the links before it led to
            done = done.rpartition("/")[0]
        if part in {"", ".", ".."}:
            continue
        try:
            target = forward(system.readlink(f"{done}/{part}"))
        except (OSError, ValueError):
            done = f"{done}/{part}"
            continue
        links += 1
        if links > MOST_LINKS:
            return full(path)
        done = "" if is_absolute(target) else done
        waiting = [*target.split("/"), *waiting]
    return done or "/"


def upwards(path: str) -> Iterator[str]:
    """Yield `path` and every folder above it, nearest first."""
    while path:
        yield path
        above = parent(path)
        if above == path:
            return
        path = above


def home(environ: Mapping[str, str]) -> str:
    """Return the person's home folder, or "" if no variable names it."""
    return environ.get("HOME") or environ.get("USERPROFILE") or ""
