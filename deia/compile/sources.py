"""The sources that compiled files are made from, each with its size, modification time and SHA-256.

A file with an unchanged size and time is not read again, unless it changed so shortly before it was last read that
another change could have fallen within the same tick of the clock.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from deia import files
from deia.commons.layers.merge_layers import file_at, layer_prefixes, local_path
from deia.commons.layers.packs import LOCK as PACKS_LOCK
from deia.commons.notes.conventions import ENDINGS
from deia.commons.notes.list_notes import list_notes
from deia.commons.source_files import safe_files
from deia.fast_json import Json
from deia.folders import INDEX_NAMES, PACKAGE

SETTINGS_FILES = ("deia.toml", "pyproject.toml")
FOLDERS = (("bok", (".md",)), ("triggers", (".yaml", ".yml")))
RACY_NS = 2_000_000_000
HEAD = "deia-sources-2"
HASH_LENGTH = 64  # characters of a SHA-256
CATALOG = "catalog"
OWN_TEXTS = "bok/"  # holds nearly all of a hundred thousand sources, so loops over the sources test this prefix first


class Known(NamedTuple):
    """The sources of one compile, and the token that identifies that compile."""

    token: str
    sources: Mapping[str, str]


NOTHING = Known("", {})


def read_sources(
    root: str,
    known: Mapping[str, str],
    *,
    extra_documents: Sequence[str] = (),
    globs: Sequence[str] = (),
    starter: bool,
    trusted: bool,
) -> dict[str, str]:
    """Return "size time SHA-256" of every source by its path in the layered commons, sorted by path.

    `known` holds the sources of the last compile; `extra_documents` are documents outside `bok/` that an index lists,
    and `globs` are those of the settings.
    The settings and packs of a commons that is not `trusted` do not count.
    """
    scan = _Scan(known)
    prefixes = tuple(layer_prefixes(root, starter=starter, trusted=trusted))
    for prefix in prefixes:
        base = file_at(root, prefix).rstrip("/")
        for top, endings in FOLDERS:
            if safe_files.resolve(base, top):  # it may be a link to all there is on the machine
                scan.add_folder(f"{base}/{top}", f"{prefix}{top}", endings)
    indexes = (f"{prefix}{name}" for prefix in prefixes for name in INDEX_NAMES)
    project = (*SETTINGS_FILES, PACKS_LOCK) if trusted else ()
    listed = {*project, *indexes, *known, *extra_documents, *list_notes(root, globs)}.difference(scan.seen)
    for path in (path for path in listed if _in_layers(path, prefixes)):
        scan.add_file(path, file_at(root, path))
    return scan.sources()


def as_read(before: Mapping[str, str], later: Mapping[str, str], *, extra_documents: Sequence[str]) -> dict[str, str]:
    """Return the sources of a commons that was read between two scans.

    These are the sources of the scan `before`, plus documents outside `bok/` that an index lists, which only the scan
    `later` could know. A file that was written in between may not have been read. It is missing here or keeps its
    earlier stamp, so that the next compile sees a change.
    """
    listed = {path for path in extra_documents if path not in before and not local_path(path).startswith("bok/")}
    return {path: before.get(path) or later[path] for path in sorted({*before, *listed.intersection(later)})}


class _Scan:
    """A scan of the sources that are there now. Only files that changed since the last scan are read."""

    __slots__ = ("_changed", "_known", "_newest", "seen")

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = known
        self._newest = time.time_ns() - RACY_NS
        self._changed: dict[str, str] = {}
        self.seen: list[str] = []

    def add_folder(self, folder: str, path: str, endings: tuple[str, ...]) -> None:
        """Add the files with one of these `endings` below a folder; links to folders are not followed."""
        try:
            with os.scandir(folder) as listing:
                entries = list(listing)
        except OSError:
            return
        for entry, state in _states(folder, [entry for entry in entries if entry.name.endswith(endings)]):
            self._add(f"{path}/{entry.name}", state, entry)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                self.add_folder(entry.path, f"{path}/{entry.name}", endings)

    def add_file(self, path: str, place: str) -> None:
        """Add one file if it exists."""
        try:
            state = os.stat(place)
        except (OSError, ValueError):
            return
        if stat.S_ISREG(state.st_mode):
            self._add(path, state, place)

    def _add(self, path: str, state: os.stat_result, place: str | os.DirEntry[str]) -> None:
        self.seen.append(path)
        modified = state.st_mtime_ns
        stamp = f"{state.st_size} {modified} "
        if modified >= self._newest or self._known.get(path, "")[:-HASH_LENGTH] != stamp:
            self._changed[path] = stamp + hashlib.sha256(self._content(path, os.fspath(place), state)).hexdigest()

    def _content(self, path: str, place: str, state: os.stat_result) -> bytes:
        """Return what a source's digest is taken of: nothing, if the source is no file that is ever read."""
        if not stat.S_ISREG(state.st_mode) or (os.path.islink(place) and self._leads_out(path, place)):
            return b""
        return files.read(place, safe_files.MOST_BYTES) or b""

    def _leads_out(self, path: str, place: str) -> bool:
        """Return whether a link leads out of the layer that it belongs to."""
        local = local_path(path)
        return not safe_files.resolve(place.removesuffix(local), local)

    def sources(self) -> dict[str, str]:
        """Return every source that is there, sorted by path."""
        new = sum(path not in self._known for path in self._changed)
        sources = {**self._known, **self._changed}
        if len(self.seen) - new < len(self._known):
            sources = {path: sources[path] for path in self.seen}
        return dict(sorted(sources.items())) if new or len(sources) < len(self._known) else sources


def _states(folder: str, entries: Iterable[os.DirEntry[str]]) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    """Yield the files among a folder's entries with their `stat`; broken links are left out."""
    # Names relative to the open folder take two thirds of the time that full paths take.
    descriptor = _open_folder(folder)
    try:
        for entry in entries:
            try:
                state = entry.stat() if descriptor is None else os.stat(entry.name, dir_fd=descriptor)
            except OSError:
                continue
            if not entry.is_dir():
                yield entry, state
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _open_folder(folder: str) -> int | None:
    try:
        return os.open(folder, os.O_RDONLY) if os.stat in os.supports_dir_fd else None
    except OSError:
        return None


def _in_layers(path: str, prefixes: Collection[str]) -> bool:
    """Return whether a path belongs to a layer that still exists."""
    return path.removesuffix(local_path(path)) in prefixes


def code_stamps(folder: str) -> list[tuple[str, int, int]]:
    """Return the files in a folder of deia's own code, with their sizes and times: what they make may change with them.

    A version is not enough, since a checkout changes without one.
    """
    with os.scandir(f"{PACKAGE}/{folder}") as entries:
        stats = [(entry.name, entry.stat()) for entry in entries if entry.is_file()]
    return sorted((name, state.st_size, state.st_mtime_ns) for name, state in stats)


def code_contents(folder: str) -> list[tuple[str, str]]:
    """Return the files in a folder of deia's own code, with digests of what is in them, which every installation has.

    Unlike `code_stamps` this reads them, so it is only for what a wheel brings along.
    """
    names = sorted(name for name in files.names(f"{PACKAGE}/{folder}") if not name.startswith("_"))
    contents = ((name, files.read(f"{PACKAGE}/{folder}/{name}", files.ANY_SIZE)) for name in names)
    return [(name, hashlib.sha256(data).hexdigest()) for name, data in contents if data is not None]


def is_text(path: str) -> bool:
    """Return whether a source is a document: in a `bok/` folder, or a note elsewhere."""
    return path.startswith(OWN_TEXTS) or local_path(path).startswith("bok/") or path.endswith(ENDINGS)


def is_catalog_source(path: str) -> bool:
    """Return whether the search catalog depends on a source."""
    return path not in SETTINGS_FILES and not local_path(path).startswith("triggers/")


def stamp_in(sources: Mapping[str, str], path: str) -> str:
    """Return "size time" of a source as of before it was read, or "" if it is no source."""
    return sources[path][: -HASH_LENGTH - 1] if path in sources else ""


def content_digests(sources: Mapping[str, str], dependencies: Mapping[str, Json]) -> dict[str, str]:
    """Return a digest for each named compiled file, over the contents of its sources and its other dependencies.

    `dependencies` maps the name of each compiled file to whatever else it depends on. The file `catalog` depends only
    on the sources that searches use, every other file on all of them.
    """
    own_lines = [f"{value[-HASH_LENGTH:]} {path}" for path, value in sources.items() if path.startswith(OWN_TEXTS)]
    others, lower_lines = [], []
    for path in [path for path in sources if not path.startswith(OWN_TEXTS)]:
        line = f"{sources[path][-HASH_LENGTH:]} {path}"
        if is_text(path):
            lower_lines.append(line)
        else:
            others.append((path, line))
    texts = _hash_lines([*own_lines, *lower_lines])
    return {
        name: digest_of([texts, *(line for path, line in others if name != CATALOG or is_catalog_source(path))], values)
        for name, values in dependencies.items()
    }


def digest_of(*values: Json) -> str:
    """Return the SHA-256 of some JSON values."""
    return _hash_lines([json.dumps(values, sort_keys=True)])


def _hash_lines(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


# --- kept between compiles ---


def read_known(place: str) -> Known:
    """Return the sources of the last compile from a file, or `NOTHING` if the file is missing or damaged."""
    text = (files.read(place) or b"").decode("utf-8", "surrogateescape")
    head, *lines = text.split("\n")
    token, values, paths = head.removeprefix(HEAD).strip(), lines[:-1:2], lines[1::2]
    if not head.startswith(HEAD) or len(values) != len(paths) or lines[-1:] != [""]:
        return NOTHING
    return Known(token, dict(zip(paths, values, strict=True)))


def write_known(place: str, known: Known) -> None:
    """Write sources to a file: for each, a line with its size, time and hash, then a line with its path.

    A path with a line break is left out, so its file is read again in every compile. Raise OSError if the file cannot
    be written.
    """
    items = known.sources.items()
    if "\n" in "".join(known.sources):
        items = {path: value for path, value in items if "\n" not in path}.items()
    lines = [f"{value}\n{path}" for path, value in items]
    files.replace(place, "\n".join([f"{HEAD} {known.token}", *lines, ""]).encode("utf-8", "surrogateescape"))
