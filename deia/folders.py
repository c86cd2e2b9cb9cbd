"""Where a commons, its compiled files and a person's own files are. Every run of the hook imports this module."""

from __future__ import annotations

import sys

from deia import files
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

INDEX_NAMES = ("commons_index.yaml", "commons_index.yml")
MARKERS = (*INDEX_NAMES, "deia.toml")
PACKAGE = files.parent(__file__.replace("\\", "/"))
MODELS = f"{PACKAGE}/models"  # trained data: vectors, weights, word counts
CHECKOUT = files.parent(PACKAGE)
# The starter commons: inside an installed package, otherwise the checkout that contains the package. In a checkout the
# path ends with "/..", so that it differs from the checkout's own path: people who work in the checkout may write to
# its commons, everybody else only reads it.
STARTER = f"{PACKAGE}/starter" if files.exists(f"{PACKAGE}/starter/{INDEX_NAMES[0]}") else f"{PACKAGE}/.."
MUTES, LEAVES = "mutes.jsonl", "allows.jsonl"  # files in the state folder: muted triggers, and calls let through
LONGEST_NAME = 200  # characters of a folder in the cache; file systems allow 255 bytes
STARTER_PREFIX = "starter:"  # shown before paths in the starter commons
LIBRARY_STATE = "revision"  # the file in a library's folder that tells its state
LIBRARY_SOURCES = "sources.json"  # beside it: how each source stands
LIBRARY_STAMPS = "stamps"  # beside them: a folder with a file of stamps for each source that is a folder
LIBRARY_PREFIX = "library:"  # shown before the paths of documents that were taken in (deia.ingest)
GRAPH = "graph"  # the folder beside the compiled files in which the graph is (deia.graph)
TRUSTED = "trusted"  # the file in the state folder that lists the roots a person trusts, one a line
BELOW = "/**"  # how a line ends that means a folder and everything in it
EVERYWHERE = "*"  # in the variable: every folder, whoever owns it
TRUST_SEPARATOR = ";" if sys.platform == "win32" else ":"  # between the paths in DEIA_TRUST
NOWHERE = "/no-folder-of-the-client-is-here"  # the working folder of whoever works on another machine
MOST_TRUSTED = 1_000_000  # bytes of the list


def find_commons(start: str, *, environ: Mapping[str, str], explicit: str = "") -> str:
    """Return the root of the commons: `explicit`, `DEIA_COMMONS` or `DEIA_DOCS`, the nearest one, or else the starter.

    A trusted commons further up comes before an untrusted one, which could hide it otherwise. Raise CommonsError if the
    named folder holds no commons.
    """
    return locate_commons(start, environ=environ, explicit=explicit)[0]


def locate_commons(start: str, *, environ: Mapping[str, str], explicit: str = "") -> tuple[str, bool]:
    """Return the root of the commons, as `find_commons` does, and whether the person trusts it."""
    notes = notes_folder(environ)
    named = explicit or environ.get("DEIA_COMMONS") or notes
    if named:
        if not is_commons(named) and (not notes or files.full(named) != notes):
            from deia.problems import CommonsError  # noqa: PLC0415 - few hooks are told where the commons is

            origin = "--commons" if explicit else "DEIA_COMMONS"
            raise CommonsError(
                f"{origin} names {named}, which contains none of {', '.join(MARKERS)}",
                fix=f"Name a folder that does, or type: deia init {named}",
            )
        root = named.rstrip("/") or "/"
        return root, is_trusted(root, environ)
    nearest = ""
    for folder in files.upwards(start):
        if is_commons(folder):
            if is_trusted(folder, environ):
                return folder, True
            nearest = nearest or folder
    return nearest or STARTER, not nearest


def notes_folder(environ: Mapping[str, str]) -> str:
    """Return the folder of notes that DEIA_DOCS names, in which deia writes nothing, or ""."""
    docs = environ.get("DEIA_DOCS")
    return files.full(docs) if docs else ""


def nearest_commons(start: str) -> str:
    """Return the nearest commons folder from `start` upwards, or ""."""
    return next((folder for folder in files.upwards(start) if is_commons(folder)), "")


def is_commons(folder: str) -> bool:
    """Return whether a folder is the root of a commons."""
    return any(files.exists(f"{folder}/{name}") for name in MARKERS)


def is_packaged(root: str) -> bool:
    """Return whether a commons is the packaged starter commons, where nothing may be written."""
    return files.forward(root) == STARTER


def is_starter(root: str) -> bool:
    """Return whether a commons is the starter commons, packaged or in a checkout that somebody works in."""
    return is_packaged(root) or (STARTER.endswith("/..") and files.forward(root) == CHECKOUT)


def is_trusted(root: str, environ: Mapping[str, str]) -> bool:
    """Return whether the person trusts a commons: it is deia's own, on their list, or named by DEIA_TRUST.

    As with git's `safe.directory`, a line that names the folder itself counts whoever owns it. A line for everything
    below a folder counts only for what the person owns, since others may put folders there.
    """
    if is_starter(root):
        return True
    lines = trusted_lines(environ)
    if not lines:
        return False
    place = files.real(root)
    if place in lines or EVERYWHERE in lines:
        return True
    return any(line.endswith(BELOW) and f"{place}/".startswith(line[:-2]) for line in lines) and files.is_own(place)


def trusted_lines(environ: Mapping[str, str]) -> list[str]:
    """Return the lines of the person's list, and the full paths in the variable for machines that have no list."""
    content = files.read(f"{state_folder(environ)}/{TRUSTED}", MOST_TRUSTED)
    lines = content.decode("utf-8", "surrogateescape").split("\n") if content else []
    named = environ.get("DEIA_TRUST", "")
    return [*lines, *map(_trusted_line, named.split(TRUST_SEPARATOR))] if named else lines


def _trusted_line(path: str) -> str:
    """Return a path of the variable as the list would have it; a relative one trusts nothing."""
    folder = path.removesuffix(BELOW)
    if files.is_absolute(files.forward(path)):
        return files.real(folder) + path[len(folder) :]
    return path if path == EVERYWHERE else ""


def derived_folder(root: str, environ: Mapping[str, str], *, trusted: bool | None = None) -> str:
    """Return the folder for the compiled files of a commons, in the person's cache, by the commons' real path.

    Nothing that is compiled lies in a repository, where somebody else could have put it. What an untrusted commons is
    compiled to lies elsewhere than what the same commons is compiled to when it is trusted. `trusted` is whether it is,
    for callers that know.
    """
    if is_packaged(root):
        return f"{cache_folder(environ)}/starter-{_installation()}"
    of_trusted, of_others = commons_caches(environ)
    is_known = is_trusted(root, environ) if trusted is None else trusted
    return f"{of_trusted if is_known else of_others}/{_file_name(files.real(root))}"


def commons_caches(environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the folders for what this installation compiles: of trusted commons, and of others."""
    cache, installation = cache_folder(environ), _installation()
    return f"{cache}/commons-{installation}", f"{cache}/untrusted-{installation}"


def cache_folder(environ: Mapping[str, str]) -> str:
    """Return the person's own folder for what can be made again."""
    return environ.get("DEIA_CACHE") or _under(environ, "XDG_CACHE_HOME", ".cache")


def spare_folders(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return where a conversation's memory goes if the state folder cannot be written: the cache, then temporary ones.

    Anybody can make a folder among the temporary ones; whoever uses one checks that it is private.
    """
    temporary = (environ.get("XDG_RUNTIME_DIR"), environ.get("TMPDIR") or environ.get("TEMP") or "/tmp")  # noqa: S108
    return (cache_folder(environ), *(f"{folder}/deia-{files.user()}" for folder in temporary if folder))


def _installation() -> str:
    """Return a name for this installation, whichever link it is reached by."""
    return _fingerprint(files.real(PACKAGE))


def _file_name(path: str) -> str:
    """Return a path as folders one below the other, none of which two paths can share as their last; all are ASCII."""
    escaped = path.replace("%", "%25").replace("/", "%2F").replace(":", "%3A")
    if not escaped.isascii():  # in bytes, a name could be too long, and not all bytes are UTF-8
        escaped = "".join(
            [chr(byte) if byte < 128 else f"%{byte:02X}" for byte in escaped.encode("utf-8", "surrogatepass")]
        )
    pieces = [escaped[at : at + LONGEST_NAME] for at in range(0, len(escaped), LONGEST_NAME)]
    return "/".join([*(f"{piece}+" for piece in pieces[:-1]), f"{pieces[-1]}="])


def root_of(name: str) -> str:
    """Return the root of the commons whose folder in the cache has this name, or "" if it is not one's whole name."""
    first, *others = name.removesuffix("=").split("%")
    try:
        data = first.encode() + b"".join([bytes.fromhex(part[:2]) + part[2:].encode() for part in others])
        path = data.decode("utf-8", "surrogatepass")
    except ValueError:
        return ""
    return path if path and name.endswith("=") and _file_name(path) == name else ""


def collections_of(text: str) -> tuple[str, ...]:
    """Return the collections that a setting names, sorted and without duplicates."""
    return tuple(sorted({name.strip() for name in text.split(",") if name.strip()}))


def collection_of(document: str) -> str:
    """Return the collection of a document of the library, or ""."""
    return document.removeprefix(LIBRARY_PREFIX).partition("/")[0] if document.startswith(LIBRARY_PREFIX) else ""


def library_collections(names: Sequence[str]) -> tuple[str, ...]:
    """Return which of the collections that are given away are of the library, without its prefix."""
    return tuple([name[len(LIBRARY_PREFIX) :].rstrip("/") for name in names if name.startswith(LIBRARY_PREFIX)])


def part_folder(derived: str, collections: Sequence[str]) -> str:
    """Return the folder for the compiled files of some collections of a commons, or of all of it."""
    return f"{derived}/only-{_fingerprint(chr(10).join(collections))}" if collections else derived


def _fingerprint(text: str) -> str:
    """Return a short polynomial hash: `hash` is salted, and importing hashlib costs 3 ms."""
    value = 0
    for byte in text.encode("utf-8", "surrogateescape"):
        value = (value * 131 + byte) % 0xFFFFFFFFFFC5
    return f"{value:012x}"


def events_folder(root: str, environ: Mapping[str, str], *, trusted: bool | None = None) -> str:
    """Return the event ledger's folder: in the commons, or the person's own for the packaged starter commons.

    An untrusted commons has its ledger among the person's own files. So has one whose folder for it is a link, which
    may lead to somebody else's. `trusted` is as for `derived_folder`.
    """
    if is_packaged(root):
        return f"{state_folder(environ)}/starter/events"
    if not (is_trusted(root, environ) if trusted is None else trusted):
        return f"{state_folder(environ)}/untrusted/{_fingerprint(files.real(root))}/events"
    own = f"{root}/telemetry/events"
    is_notes = notes_folder(environ) == files.full(root)
    if is_notes or files.is_link(f"{root}/telemetry") or files.is_link(own):
        return f"{state_folder(environ)}/ledgers/{_fingerprint(files.full(root))}/events"
    return own


def library_folder(root: str, environ: Mapping[str, str]) -> str:
    """Return the folder of the library that a person keeps beside a commons, among their own files."""
    return f"{state_folder(environ)}/library/{_own_name(root)}"


def people_folder(root: str, environ: Mapping[str, str]) -> str:
    """Return the folder that says who may ask the server of a commons, and what they asked it."""
    return f"{state_folder(environ)}/people/{_own_name(root)}"


def _own_name(root: str) -> str:
    return "starter" if is_packaged(root) else f"of/{_file_name(files.real(root))}"


def library_catalog_name(state: str) -> str:
    """Return the name of the catalog of a state of the library: the beginning of its token, and its revision."""
    token, _, revision = state.partition(":")
    return f"catalog-{token[:8]}{revision.zfill(8)}"


def python_path(state: str) -> str:
    """Return the file that names the interpreter with which this installation compiles."""
    return f"{state}/python-{_installation()}"


def state_folder(environ: Mapping[str, str]) -> str:
    """Return the person's own folder for conversation memory, mutes and the off switch."""
    return environ.get("DEIA_STATE") or _under(environ, "XDG_STATE_HOME", ".local/state")


def _under(environ: Mapping[str, str], variable: str, folder: str) -> str:
    base = environ.get(variable) or environ.get("LOCALAPPDATA") or f"{files.home(environ)}/{folder}"
    return f"{base}/deia"
