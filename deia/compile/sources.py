"""What compiled files are made from: every source of a commons with its size, its time and the SHA-256 of its content.

A file whose size and time are those of last time is not read again, unless it changed so shortly before it was read
that it may have changed once more within a tick of the clock. Refuses to judge what a changed source means.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from deia import files
from deia.commons.layers.merge_layers import file_at, layer_prefixes, local_path
from deia.commons.layers.packs import LOCK as PACKS_LOCK
from deia.folders import INDEX_NAMES

SETTINGS_FILES = ("deia.toml", "pyproject.toml")
FOLDERS = (("bok", (".md",)), ("triggers", (".yaml", ".yml")))
RACY_NS = 2_000_000_000
HEAD = "deia-sources-2"
HASHED = 64  # characters of a SHA-256
CATALOG = "catalog"
OWN_TEXTS = "bok/"  # of a hundred thousand sources nearly all: asked first where every source is gone through


class Known(NamedTuple):
    """The sources of a compile, and which it was."""

    token: str
    sources: Mapping[str, str]


NOTHING = Known("", {})


def read_sources(root: str, known: Mapping[str, str], *, also: Sequence[str] = (), starter: bool) -> dict[str, str]:
    """Give "size time SHA-256" of every source by its path in the layered commons, in the order of the paths.

    `known` are those of last time, `also` are documents outside `bok/` that an index names.
    """
    look = _Look(known)
    prefixes = tuple(layer_prefixes(root, starter=starter))
    for prefix in prefixes:
        base = file_at(root, prefix).rstrip("/")
        for top, endings in FOLDERS:
            look.below(f"{base}/{top}", f"{prefix}{top}", endings)
    indexes = (f"{prefix}{name}" for prefix in prefixes for name in INDEX_NAMES)
    named = {*SETTINGS_FILES, PACKS_LOCK, *indexes, *known, *also}.difference(look.seen)
    for path in (path for path in named if _of_layers(path, prefixes)):
        look.at(path, file_at(root, path))
    return look.found()


def as_read(before: Mapping[str, str], later: Mapping[str, str], *, also: Sequence[str]) -> dict[str, str]:
    """Give the sources of what was read between two looks: those of the first, and what only the second could know.

    That is documents outside `bok/` which an index names. A file that somebody wrote meanwhile may not have been read:
    so it is not among them, or as it was before, and the next compile finds it changed.
    """
    named = {path for path in also if path not in before and not local_path(path).startswith("bok/")}
    return {path: before.get(path) or later[path] for path in sorted({*before, *named.intersection(later)})}


def source_paths(root: str, known: Iterable[str] = (), *, starter: bool = False) -> list[str]:
    """Give every file that compiled files are made from, as paths of the layered commons, sorted.

    `known` are those of last time: an index may list documents outside bok/, which are known from the compile that
    first met them.
    """
    return list(read_sources(root, {}, also=tuple(known), starter=starter))


class _Look:
    """A look at what there is, beside what was known: only what changed is read and written down anew."""

    __slots__ = ("_known", "_newest", "changed", "seen")

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = known
        self._newest = time.time_ns() - RACY_NS
        self.changed: dict[str, str] = {}
        self.seen: list[str] = []

    def below(self, place: str, path: str, endings: tuple[str, ...]) -> None:
        """Look at the files of a folder and of those in it that end so; links to folders are not entered."""
        try:
            with os.scandir(place) as entries:
                every = list(entries)
        except OSError:
            return
        for entry, state in _states(place, [each for each in every if each.name.endswith(endings)]):
            self._take(f"{path}/{entry.name}", state, entry)
        for entry in every:
            if entry.is_dir(follow_symlinks=False):
                self.below(entry.path, f"{path}/{entry.name}", endings)

    def at(self, path: str, place: str) -> None:
        """Look at one file."""
        try:
            state = os.stat(place)
        except (OSError, ValueError):
            return
        if stat.S_ISREG(state.st_mode):
            self._take(path, state, place)

    def _take(self, path: str, state: os.stat_result, place: str | os.DirEntry[str]) -> None:
        self.seen.append(path)
        changed = state.st_mtime_ns
        stamp = f"{state.st_size} {changed} "
        if changed >= self._newest or self._known.get(path, "")[:-HASHED] != stamp:
            self.changed[path] = stamp + hashlib.sha256(files.read(os.fspath(place)) or b"").hexdigest()

    def found(self) -> dict[str, str]:
        """Give every source that is there, in the order of the paths."""
        new = sum(path not in self._known for path in self.changed)
        every = {**self._known, **self.changed}
        if len(self.seen) - new < len(self._known):
            every = {path: every[path] for path in self.seen}
        return dict(sorted(every.items())) if new or len(every) < len(self._known) else every


def _states(place: str, found: Iterable[os.DirEntry[str]]) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    """Look at the files among what a folder holds; named relative to the open folder, it takes two thirds of the time.

    A link to nothing is no file.
    """
    folder = _opened(place)
    try:
        for entry in found:
            try:
                state = entry.stat() if folder is None else os.stat(entry.name, dir_fd=folder)
            except OSError:
                continue
            if not entry.is_dir():
                yield entry, state
    finally:
        if folder is not None:
            os.close(folder)


def _opened(place: str) -> int | None:
    try:
        return os.open(place, os.O_RDONLY) if os.stat in os.supports_dir_fd else None
    except OSError:
        return None


def _of_layers(path: str, prefixes: Collection[str]) -> bool:
    """Say whether a path belongs to a layer that is still there."""
    return path.removesuffix(local_path(path)) in prefixes


def is_text(path: str) -> bool:
    """Say whether a source is a document where documents are."""
    return path.startswith(OWN_TEXTS) or local_path(path).startswith("bok/")


def is_catalog_source(path: str) -> bool:
    """Say whether searches depend on a source."""
    return path not in SETTINGS_FILES and not local_path(path).startswith("triggers/")


def stamp_in(sources: Mapping[str, str], path: str) -> str:
    """Give "size time" of a source from before it was read, or nothing where it is none."""
    return sources[path][: -HASHED - 1] if path in sources else ""


def content_digests(sources: Mapping[str, str], about: Mapping[str, Any]) -> dict[str, str]:
    """Give by name what identifies the contents of all sources, or with `catalog` of those that searches depend on.

    Behind each name stands what else counts there.
    """
    lines = [f"{value[-HASHED:]} {path}" for path, value in sources.items() if path.startswith(OWN_TEXTS)]
    others, below = [], []
    for path in [path for path in sources if not path.startswith(OWN_TEXTS)]:
        line = f"{sources[path][-HASHED:]} {path}"
        if is_text(path):
            below.append(line)
        else:
            others.append((path, line))
    texts = _hashed([*lines, *below])
    return {
        name: digest_of([texts, *(line for path, line in others if name != CATALOG or is_catalog_source(path))], counts)
        for name, counts in about.items()
    }


def digest_of(*about: Any) -> str:
    """Give what identifies some values that JSON can hold."""
    return _hashed([json.dumps(about, sort_keys=True)])


def _hashed(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


# --- kept between compiles ---


def read_known(place: str) -> Known:
    """Give the sources of last time from a file; nothing where it is not as `write_known` writes it."""
    text = (files.read(place) or b"").decode("utf-8", "surrogateescape")
    head, *lines = text.split("\n")
    token, values, paths = head.removeprefix(HEAD).strip(), lines[:-1:2], lines[1::2]
    if not head.startswith(HEAD) or len(values) != len(paths) or lines[-1:] != [""]:
        return NOTHING
    return Known(token, dict(zip(paths, values, strict=True)))


def write_known(place: str, known: Known) -> None:
    """Write sources to a file, a line for what is known of each and a line for its path.

    A path that is no line is left out, and so read anew each time.

    Raises:
        OSError: the file cannot be written.
    """
    every = known.sources.items()
    if "\n" in "".join(known.sources):
        every = {path: value for path, value in every if "\n" not in path}.items()
    lines = [f"{value}\n{path}" for path, value in every]
    files.replace(place, "\n".join([f"{HEAD} {known.token}", *lines, ""]).encode("utf-8", "surrogateescape"))
