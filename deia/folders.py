"""Where a commons, its compiled files and a person's own files are found. Every hook asks this, so it is small.

Refuses to read any of them.
"""

from __future__ import annotations

from deia import files
from deia.errors import CommonsError
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

INDEX_NAMES = ("commons_index.yaml", "commons_index.yml")
MARKERS = (*INDEX_NAMES, "deia.toml")
PACKAGE = files.parent(__file__.replace("\\", "/"))
MODELS = f"{PACKAGE}/models"  # what was learned before: vectors, weights, word counts
CHECKOUT = files.parent(PACKAGE)
# The starter commons: in an installed package, else the checkout that the package lies in. There its path is not that
# of the checkout itself, whose commons whoever works in it may write to; from elsewhere it is only read.
STARTER = f"{PACKAGE}/starter" if files.exists(f"{PACKAGE}/starter/{INDEX_NAMES[0]}") else f"{PACKAGE}/.."
MUTES, LEAVES = "mutes.jsonl", "allows.jsonl"  # files of the state folder: what a person took back, or lets pass
STARTER_PREFIX = "starter:"  # of the paths of what lies there, wherever they are shown


def find_commons(start: str, *, environ: Mapping[str, str], explicit: str = "") -> str:
    """Give the root of the commons to use: named, `DEIA_COMMONS`, nearest upwards, else the starter.

    Raises:
        CommonsError: the folder that was named holds no commons.
    """
    named = explicit or environ.get("DEIA_COMMONS", "")
    if named:
        if not is_commons(named):
            origin = "--commons" if explicit else "DEIA_COMMONS"
            raise CommonsError(
                f"{origin} names {named}, which holds none of {', '.join(MARKERS)}",
                fix=f"Name a folder that does, or type: deia init {named}",
            )
        return named.rstrip("/") or "/"
    return nearest_commons(start) or STARTER


def nearest_commons(start: str) -> str:
    """Give the nearest folder from `start` upwards that is a commons, or the empty text."""
    return next((folder for folder in files.upwards(start) if is_commons(folder)), "")


def is_commons(folder: str) -> bool:
    """Say whether a folder is the root of a commons."""
    return any(files.exists(f"{folder}/{name}") for name in MARKERS)


def is_packaged(root: str) -> bool:
    """Return whether a commons is the starter commons as it came with deia, where nothing may be written."""
    return root.replace("\\", "/") == STARTER


def is_starter(root: str) -> bool:
    """Return whether a commons is the starter commons, as it came or as somebody works on it in a checkout."""
    return is_packaged(root) or (STARTER.endswith("/..") and root.replace("\\", "/") == CHECKOUT)


def derived_folder(root: str, environ: Mapping[str, str]) -> str:
    """Give the folder for compiled files: `.deia` in the commons, or one in the person's cache.

    There they are of the packaged starter commons, and of a commons in which nothing can be written.
    """
    own = f"{root}/.deia"
    packaged = is_packaged(root)
    if not packaged and (files.writable(own) or (not files.exists(own) and files.writable(root))):
        return own
    cache = environ.get("DEIA_CACHE") or _under(environ, "XDG_CACHE_HOME", ".cache")
    if packaged:
        return f"{cache}/starter-{_fingerprint(root)}"
    return f"{cache}/at{files.full(root).replace(':', '')}/.deia" if files.exists(root) else own


def collections_of(text: str) -> tuple[str, ...]:
    """Give the collections that a setting names, each once."""
    return tuple(sorted({name.strip() for name in text.split(",") if name.strip()}))


def part_folder(derived: str, collections: Sequence[str]) -> str:
    """Give the folder for the compiled files of a part of a commons; without collections that of all of it."""
    return f"{derived}/only-{_fingerprint(chr(10).join(collections))}" if collections else derived


def _fingerprint(text: str) -> str:
    """Tell several installations apart; a plain polynomial hash, since `hash` is salted and hashlib costs 3 ms."""
    value = 0
    for byte in text.encode("utf-8", "surrogateescape"):
        value = (value * 131 + byte) % 0xFFFFFFFFFFC5
    return f"{value:012x}"


def events_folder(root: str, environ: Mapping[str, str]) -> str:
    """Give the folder of the event ledger: in the commons, or the person's own for the packaged starter commons."""
    return f"{state_folder(environ)}/starter/events" if is_packaged(root) else f"{root}/telemetry/events"


def python_path(state: str) -> str:
    """Give the file that names the interpreter with which this installation of deia compiles."""
    return f"{state}/python-{_fingerprint(PACKAGE)}"


def state_folder(environ: Mapping[str, str]) -> str:
    """Give the person's own folder for conversation memory, mutes and the off switch."""
    return environ.get("DEIA_STATE") or _under(environ, "XDG_STATE_HOME", ".local/state")


def _under(environ: Mapping[str, str], variable: str, folder: str) -> str:
    base = environ.get(variable) or environ.get("LOCALAPPDATA") or f"{files.home(environ)}/{folder}"
    return f"{base}/deia"
