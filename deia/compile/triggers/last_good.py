"""The last good version of each trigger file, kept beside the compiled files: a typing error must not disable a guard.

A version is good if it has no error at all. All versions are in one file that is replaced as a whole, so that no
symbolic link in a repository can redirect a write. Files of packs and of the starter commons are not kept, because
nobody edits them in place.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

from deia import files
from deia.commons.source_files import safe_files
from deia.commons.triggers.read_triggers import LAST_GOOD
from deia.compile.sources import HASH_LENGTH
from deia.problems import Problem

NAME = "good.json"
TOP = "triggers/"


def read_lasting(folder: str) -> dict[str, str]:
    """Return the last good text of each trigger file by its path; empty if none was kept."""
    content = files.read(f"{folder}/{NAME}")
    try:
        value = json.loads(content) if content else {}
    except (ValueError, RecursionError):
        return {}
    items = value.items() if isinstance(value, dict) else ()
    return {path: text for path, text in items if isinstance(text, str) and path.startswith(TOP)}


def keep_lasting(
    root: str, folder: str, sources: Mapping[str, str], problems: Iterable[Problem], before: Mapping[str, str]
) -> None:
    """Save the text of each trigger file without an error, and what was saved before of the others."""
    broken = {problem.path for problem in problems if problem.severity == "error"}
    kept: dict[str, str] = {}
    for path in sources:
        if path.startswith(TOP):
            text = before.get(path) if path in broken else _text(root, path, sources[path][-HASH_LENGTH:])
            kept.update({path: text} if text is not None else {})
    if kept != before:
        files.replace(f"{folder}/{NAME}", json.dumps(kept).encode("ascii"))


def standing(problems: Iterable[Problem]) -> list[str]:
    """Return the trigger files whose last good version is used."""
    return sorted({problem.path for problem in problems if problem.code == LAST_GOOD})


def _text(root: str, path: str, digest: str) -> str | None:
    """Return a file's text, or None if it changed since it was read."""
    place = safe_files.resolve(root, path)
    data = (files.read(place, safe_files.MOST_BYTES) if place else None) or b""
    if hashlib.sha256(data).hexdigest() != digest:
        return None
    return data.decode("utf-8-sig", "replace")
