"""List the notes that globs name in a folder, without what is not a lesson: dependencies, templates, change logs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from deia.commons.notes.conventions import ENDINGS, FILE_NAMES, HIDDEN_FOLDERS, LEFT_OUT_FILES, LEFT_OUT_FOLDERS
from deia.commons.source_files import safe_files
from deia.globs import matches_glob

OWN = ("bok", "triggers", "packs", "telemetry")  # folders of a commons, which are read separately or hold no notes
GIT = ".git"
MARKS = "*?["


class Found(NamedTuple):
    """What a folder contains."""

    notes: list[str]  # paths from the root, sorted
    left_out: Counter[str]  # how often each ending or name occurs among what is not taken


def list_notes(root: str, globs: Sequence[str]) -> list[str]:
    """Return the paths of the notes that match one of the globs, sorted; links to folders are not followed."""
    paths: set[str] = set()
    for glob in globs:
        names_file = not any(mark in glob for mark in MARKS)
        candidates = _single(root, glob) if names_file else find_notes(root, _folder_of(glob)).notes
        paths.update(path for path in candidates if _matches(glob, path))
    return sorted(paths)


def escaped(path: str) -> str:
    """Return the glob that matches a path and nothing else."""
    return "".join(f"[{char}]" if char in MARKS else char for char in path)


def is_note(name: str) -> bool:
    """Return whether the name of a file is that of a note."""
    lower = name.lower()
    return lower in FILE_NAMES or (lower.endswith(ENDINGS) and not name.startswith(".") and lower not in LEFT_OUT_FILES)


def find_notes(root: str, folder: str) -> Found:
    """Return the notes in a folder of `root` and below, and what else is there."""
    contents = Found([], Counter())
    for path, is_folder in _below(root, folder):
        name = path.rpartition("/")[2]
        if not is_folder and is_note(name):
            contents.notes.append(path)
        elif is_folder or not name.startswith("."):
            ending = os.path.splitext(name)[1].lower()
            contents.left_out[f"{name}/" if is_folder else name if ending in (*ENDINGS, "") else ending] += 1
    contents.notes.sort()
    return contents


def _below(root: str, folder: str) -> Iterator[tuple[str, bool]]:
    """Yield the files below a folder, and the folders that hold no notes; what is hidden is not looked at."""
    top, base = safe_files.resolve(root, folder or "."), os.path.realpath(root)
    if not top or GIT in folder.lower().split("/"):
        return
    for place, folders, names in os.walk(top, followlinks=False):
        relative = os.path.relpath(place, base).replace(os.sep, "/")
        inner = "" if relative == "." else f"{relative}/"
        yield from ((f"{inner}{name}", True) for name in folders if name.lower() in LEFT_OUT_FOLDERS)
        folders[:] = sorted(name for name in folders if _may_hold_notes(inner, name))
        if not _is_hidden(inner) or inner.startswith(f"{folder}/") or _in_hidden(inner.rstrip("/")):
            yield from ((f"{inner}{name}", False) for name in names)


def _may_hold_notes(inner: str, name: str) -> bool:
    if name.startswith("."):
        return any(hidden.split("/")[0] == name.lower() for hidden in HIDDEN_FOLDERS)
    return name.lower() not in LEFT_OUT_FOLDERS and (bool(inner) or name not in OWN)


def _is_hidden(inner: str) -> bool:
    return any(part.startswith(".") for part in inner.split("/"))


def _in_hidden(folder: str) -> bool:
    """Return whether a folder is, or lies in, a hidden folder that holds notes, such as `.cursor/rules`."""
    return any(f"/{folder.lower()}/".rpartition(f"/{hidden}/")[1] for hidden in HIDDEN_FOLDERS)


def _folder_of(glob: str) -> str:
    """Return the folder in which a glob can match."""
    literal = glob
    for mark in MARKS:
        literal = literal.partition(mark)[0]
    return literal.rpartition("/")[0]


def _single(root: str, path: str) -> list[str]:
    is_file = bool(safe_files.resolve(root, path)) and os.path.isfile(os.path.join(root, path))
    return [path] if is_file and GIT not in path.lower().split("/") else []


def _matches(glob: str, path: str) -> bool:
    """Return whether a path from the root matches a glob; `/**/` is also a single slash."""
    return matches_glob(glob, path) or ("**/" in glob and matches_glob(glob.replace("**/", ""), path))
