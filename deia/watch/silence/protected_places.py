"""Where deia's guard is kept: the hosts' settings that call its hook, its own files, and files that set variables.

The table of settings files repeats, as endings of paths, what `deia.serve.setup.host_settings.hosts_table` says, which
the hook may not import; a test compares the two. Letter case is ignored, since most desktop file systems ignore it.
"""

from __future__ import annotations

from deia import files, folders
from deia.globs import matches_glob
from deia.records import TYPE_CHECKING
from deia.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TABLES = Tables(__file__)
HOST_FILES = TABLES.listed("host files")
# The installed program: nobody but its installer writes there.
INSTALLED = ("site-packages/deia", "dist-packages/deia", "uv/tools/deia", "pipx/venvs/deia")
STARTERS = ("bin/deia", "bin/deia-hook", "scripts/deia.exe", "scripts/deia-hook.exe")
PROFILES = TABLES.listed("profiles")
SCRIPTS = (".sh", ".bash", ".zsh", ".fish", ".ps1", ".cmd", ".bat")
SETTINGS_FILES = ("deia.toml", "pyproject.toml")
VARIABLES = TABLES.pairs("variables")
UNKNOWN = "\0"  # begins a path whose folder is known only when the command runs
TEMPORARY = ("$(mktemp", "`mktemp", "$tmpdir", "${tmpdir", "$tmp", "${tmp", "$env:temp", "%temp%")
MOST_BYTES = 1_000_000  # of a settings file; a larger one is no settings file
MOST_NAMES = 400  # of a folder
GLOB = frozenset("*?[")
UNCERTAIN = frozenset("*?[~$%`")  # characters by which a word may name more than its own letters
# Every name that stands in a protected path, so that most words of a command are passed over at once.
NAMES = frozenset(
    name.lower() for path in (*HOST_FILES, *INSTALLED, *STARTERS, *SETTINGS_FILES, ".deia") for name in path.split("/")
)


class Places:
    """The places of one person, seen from one working folder."""

    __slots__ = ("environ", "folder", "home", "names", "own", "state")

    def __init__(self, folder: str, environ: Mapping[str, str], *, state: str = "") -> None:
        self.environ = environ
        self.folder = folder.replace("\\", "/").replace(UNKNOWN, "").rstrip("/")
        self.home = files.home(environ).replace("\\", "/").rstrip("/")
        self.state = normal(state or folders.state_folder(environ))
        usual = normal(f"{environ.get('XDG_STATE_HOME') or self.home + '/.local/state'}/deia")
        base = environ.get("XDG_CACHE_HOME") or environ.get("LOCALAPPDATA") or f"{self.home}/.cache"
        cache = normal(environ.get("DEIA_CACHE") or f"{base}/deia")
        self.own = tuple(path.lower() for path in dict.fromkeys((self.state, usual, cache)))
        self.names = NAMES.union(*(path.split("/") for path in self.own)) - {""}

    def located(self, path: str, folder: str = "") -> str:
        """Return the full path that a word of a command names; it begins with `UNKNOWN` if only the shell knows it.

        `folder` is where a `cd` of the same line went.
        """
        path = self._expanded(path.strip("\"'").replace(UNKNOWN, "").replace("\\ ", " ").replace("\\", "/"))
        if path[:1] == "/" or path[1:2] == ":" or path[:1] == UNKNOWN:
            return normal(path)
        base = self.located(folder) if folder else self.folder
        return normal(f"{base or UNKNOWN}/{path}")

    def may_hold(self, path: str) -> bool:
        """Return whether a word can name a protected place at all, by the names in it."""
        names = path.lower().replace("\\", "/").strip("\"'").split("/")
        return not self.names.isdisjoint(names) or ".." in names or not UNCERTAIN.isdisjoint(path) or "." in names

    def _expanded(self, path: str) -> str:
        """Return a path with `~` or the variable at its beginning replaced."""
        low = path.lower()
        if low.startswith("file://"):
            return path[7:]
        if path == "~" or path[:2] == "~/":
            return self.home + path[1:]
        if low.startswith(TEMPORARY):
            return "/tmp/" + path.partition("/")[2]  # noqa: S108 - a name to compare, and no file is made
        if path[:1] not in {"$", "%", "`", "~"}:
            return path
        name, end = _variable(low)
        value = VARIABLES.get(name) or self.environ.get(name.upper(), "")
        if name in {"home", "userprofile", "env:home", "env:userprofile"}:
            value = self.home
        if value[:1] == "~":
            value = self.home + value[1:]
        return (value.replace("\\", "/") or UNKNOWN) + path[end:] if name else UNKNOWN + "/" + _after_unknown(path)

    def is_own(self, path: str, *, deep: bool) -> bool:
        """Return whether a full path is in deia's own folders; `deep` counts the folders around them, too."""
        low = path.lower()
        if "/.deia/" in f"{low}/" or _is_installed(low):
            return True
        if any(f"{low}/".startswith(f"{root}/") or _glob_leads_to(low, root) for root in self.own):
            return True
        if low[:1] == UNKNOWN and any(part in low for part in ("state/deia", "cache/deia", "local/deia")):
            return True
        home = self.home.lower()
        around = f"{self.state.lower()}/".startswith(f"{low}/") and not f"{home}/".startswith(f"{low}/")
        return deep and around and low.count("/") > 1

    def host_files(self, path: str, *, deep: bool) -> Iterator[str]:
        """Yield the settings files of hosts that a full path names; with `deep`, also those in it if it is a folder.

        The path may hold wildcards. A file in an unknown folder may be the person's or the project's.
        """
        if path[:1] == UNKNOWN:
            for root in dict.fromkeys((self.home, self.folder)):
                yield from self.host_files(normal(f"{root}/{_tail(path)}"), deep=deep) if root else ()
            return
        parts = path.split("/")
        for ending in HOST_FILES:
            wanted = ending.split("/")
            for count in range(1 if deep else len(wanted), len(wanted) + 1):
                if len(parts) > count and _match(parts[-count:], wanted[:count]):
                    base = "/".join(parts[:-count])
                    yield from _existing(base, path if GLOB.isdisjoint(path) else "", wanted, count)


def _variable(low: str) -> tuple[str, int]:
    """Return the name of the variable that a path begins with, and where the rest of the path begins."""
    if low[:1] == "%":
        end = low.find("%", 1)
        return (low[1:end], end + 1) if end > 0 else ("", 0)
    if low[:2] == "${":
        end = low.find("}")
        return (low[2:end].partition(":")[0], end + 1) if end > 0 else ("", 0)
    end = 1
    while end < len(low) and (low[end].isalnum() or low[end] in "_:"):
        end += 1
    return (low[1:end], end) if low[:1] == "$" else ("", 0)


def _after_unknown(path: str) -> str:
    """Return what follows the substitution that a path begins with."""
    end = path.find(")") if path[:2] == "$(" else path.find("`", 1) if path[:1] == "`" else path.find("/")
    return path[end + 1 :].lstrip("/") if end >= 0 else path


def _tail(path: str) -> str:
    """Return the part of an unknown path from the first name of a host's folder on, or else its last name."""
    parts = path.split("/")
    first = {ending.partition("/")[0].lower() for ending in HOST_FILES}
    at = next((number for number, part in enumerate(parts) if part.lower() in first), len(parts) - 1)
    return "/".join(parts[at:])


def _match(names: list[str], wanted: list[str]) -> bool:
    """Return whether the names of a path match those of the table; both may hold wildcards."""
    return all(_is_name(name.lower(), pattern.lower()) for name, pattern in zip(names, wanted, strict=True))


def _is_name(name: str, pattern: str) -> bool:
    if name == pattern:
        return True
    if not GLOB.isdisjoint(name):
        # A shell's `*` leaves names out that begin with a dot.
        hidden = pattern[:1] == "." and name[:1] != "."
        return not hidden and (not GLOB.isdisjoint(pattern) or matches_glob(name, pattern))
    return not GLOB.isdisjoint(pattern) and matches_glob(pattern, name)


def _existing(base: str, path: str, wanted: list[str], count: int) -> Iterator[str]:
    """Yield the files below `base` that the names of the table stand for; `path` is the first `count` of them."""
    start = path or "/".join((base, *wanted[:count]))
    if count < len(wanted):
        start = "/".join((start, *wanted[count:]))
    folder, _, name = start.rpartition("/")
    if "*" not in name:
        yield start
        return
    names = files.names(folder)[:MOST_NAMES]
    yield from (f"{folder}/{file_name}" for file_name in names if matches_glob(name.lower(), file_name.lower()))


def _is_installed(low: str) -> bool:
    if any(f"/{part}/" in f"{low}/" for part in INSTALLED) or low.endswith(STARTERS):
        return True
    return any(f"/{part}-" in low and ".dist-info" in low for part in INSTALLED[:2])


def _glob_leads_to(low: str, root: str) -> bool:
    """Return whether a path with wildcards may name a folder or something in it."""
    if GLOB.isdisjoint(low):
        return False
    names, wanted = low.split("/"), root.split("/")
    return len(names) >= len(wanted) and _match(names[: len(wanted)], wanted)


def normal(path: str) -> str:
    """Return a full path without `.`, `..` and doubled slashes."""
    path = path.replace("\\", "/")
    return ("" if path[:1] == UNKNOWN or path[1:2] == ":" else "/") + files.without_dots(path)


def is_profile(path: str) -> bool:
    """Return whether a path is a file that sets variables for shells or hosts."""
    low = path.lower()
    return any(matches_glob(name, low.rpartition("/")[2]) or matches_glob(f"*/{name}", low) for name in PROFILES)


def text_at(path: str) -> str | None:
    """Return the text of a regular file; "" if there is none, None if nobody can tell."""
    if path[:1] == UNKNOWN:
        return None
    if not files.is_regular(path):
        return ""
    content = files.read(path, MOST_BYTES)
    return None if content is None else content.decode("utf-8", "replace").removeprefix("\ufeff")
