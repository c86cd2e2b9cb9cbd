"""The last good version of each trigger file, kept beside the compiled files: a slip in editing must not end a guard.

A version is good that has no error at all. All lie in one file that is replaced whole, so that no link of a repository
leads a write elsewhere. Refuses to keep packs' and the starter's files, which nobody edits in place.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

from deia import files
from deia.commons.triggers.read_triggers import LAST_GOOD
from deia.compile.sources import HASH_LENGTH
from deia.errors import Problem

NAME = "good.json"
TOP = "triggers/"


def read_lasting(folder: str) -> dict[str, str]:
    """Give the last good text of each trigger file by its path; empty where none was kept."""
    content = files.read(f"{folder}/{NAME}")
    try:
        value = json.loads(content) if content else {}
    except (ValueError, RecursionError):
        return {}
    every = value.items() if isinstance(value, dict) else ()
    return {path: text for path, text in every if isinstance(text, str) and path.startswith(TOP)}


def keep_lasting(
    root: str, folder: str, sources: Mapping[str, str], problems: Iterable[Problem], before: Mapping[str, str]
) -> None:
    """Keep the text of every trigger file that has no error, and of the others what was kept; drop what is gone.

    Raises:
        OSError: the folder cannot be written.
    """
    broken = {problem.path for problem in problems if problem.severity == "error"}
    kept: dict[str, str] = {}
    for path in sources:
        if path.startswith(TOP):
            text = before.get(path) if path in broken else _text(root, path, sources[path][-HASH_LENGTH:])
            kept.update({path: text} if text is not None else {})
    if kept != before:
        files.replace(f"{folder}/{NAME}", json.dumps(kept).encode("ascii"))


def standing(problems: Iterable[Problem]) -> list[str]:
    """Give the trigger files whose last good versions count."""
    return sorted({problem.path for problem in problems if problem.code == LAST_GOOD})


def _text(root: str, path: str, digest: str) -> str | None:
    """Give a file's text, or None where it is not what was read before."""
    data = files.read(f"{root}/{path}") or b""
    if hashlib.sha256(data).hexdigest() != digest:
        return None
    return data.decode("utf-8-sig", "replace")
