"""Which kind of script or build file a file is, by its name or by its first line."""

from __future__ import annotations

import functools
import os

from pathspec import GitIgnoreSpec

from deia.tables import Tables

TABLES = Tables(__file__)
INTERPRETERS = {"python": "python3", "node": "node", "ruby": "ruby", "perl": "perl", "pwsh": "powershell"}


@functools.cache
def _globs() -> dict[str, list[tuple[str, GitIgnoreSpec]]]:
    """Return the kinds and their globs by the ending that a name must have, "" for those without one.

    A file is compared with the few globs of its own ending, since a large repository has 100,000 files.
    """
    by_ending: dict[str, dict[str, list[str]]] = {}
    for kind, globs in TABLES.lists("kinds").items():
        for glob in globs:
            ending = os.path.splitext(glob)[1].lower()
            anywhere = glob if glob.startswith("**/") else f"**/{glob}"
            by_ending.setdefault("" if "*" in ending else ending, {}).setdefault(kind, []).append(anywhere)
    return {
        ending: [(kind, GitIgnoreSpec.from_lines(patterns)) for kind, patterns in kinds.items()]
        for ending, kinds in by_ending.items()
    }


def kind_by_name(path: str) -> str:
    """Return the kind of a file by its path, "" if that does not tell."""
    ending = os.path.splitext(path)[1].lower()
    for kind, globs in (*_globs().get(ending, ()), *(_globs()[""] if ending else ())):
        if globs.match_file(path):
            return str(kind)
    return ""


def kind_by_first_line(text: str) -> str:
    """Return the kind of a script by the interpreter in its `#!` line, "" if it has none that is known."""
    first = text.partition("\n")[0]
    words = first[2:].replace("/", " ").split() if first.startswith("#!") else ()
    for word in words:
        for name, kind in INTERPRETERS.items():
            if word.startswith(name):
                return kind
        if word.endswith("sh"):
            return "shell"
    return ""
