"""The last good version of each trigger file, kept beside the compiled files: a typing error must not disable a guard.

A version is good if it has no error at all. All versions are in one file that is replaced as a whole, so that no
symbolic link in a repository can redirect a write. Files of packs and of the starter commons are not kept, because
nobody edits them in place.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from deia import files
from deia.commons.source_files import safe_files
from deia.commons.triggers.cases import ENDINGS
from deia.commons.triggers.read_triggers import LAST_GOOD, TRIGGER_BYTES
from deia.compile.sources import HASH_LENGTH
from deia.problems import Problem
from deia.text import counted, one_line, shorten

NAME = "good.json"
STANDING = "Until that is corrected, its last good version counts."
LEFT_OUT = "Until that is corrected, it does not guard."
MOST_FOUND = 160  # characters of an error
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


def faults(problems: Iterable[Problem]) -> list[str]:
    """Return one line for each trigger file with errors: where, what, and what counts until they are corrected."""
    of_file: dict[str, list[Problem]] = {}
    for problem in problems:
        if problem.path.startswith(TOP) and not problem.path.endswith(ENDINGS):
            of_file.setdefault(problem.path, []).append(problem)
    return [line for path in sorted(of_file) if (line := _fault(of_file[path]))]


def _fault(problems: Sequence[Problem]) -> str:
    errors = sorted((problem for problem in problems if problem.severity == "error"), key=lambda error: error.line)
    if not errors:
        return ""
    more = f" ({counted(len(errors) - 1, 'more error')})" if len(errors) > 1 else ""
    is_standing = any(problem.code == LAST_GOOD for problem in problems)
    message = shorten(one_line(errors[0].found), MOST_FOUND)
    where = one_line(errors[0].path) + (f":{errors[0].line}" if errors[0].line else "")
    return f"{where}: {message}{more} {STANDING if is_standing else LEFT_OUT}"


def _text(root: str, path: str, digest: str) -> str | None:
    """Return a file's text, or None if it changed since it was read."""
    place = safe_files.resolve(root, path)
    data = (files.read(place, TRIGGER_BYTES) if place else None) or b""
    if hashlib.sha256(data).hexdigest() != digest:
        return None
    return data.decode("utf-8-sig", "replace")
