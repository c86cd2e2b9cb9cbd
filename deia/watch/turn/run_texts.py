"""The texts of files that a call could run, found by its words alone, and read from the places that may be read.

The hook asks this of every call that looks as if it ran a file, so no grammar is imported.
"""

from __future__ import annotations

import time
from itertools import pairwise

from deia import files
from deia.globs import matches_glob
from deia.records import TYPE_CHECKING, Turn
from deia.watch.shell.nodes import base_name
from deia.watch.turn.tool_call import RUN_ENDINGS, command_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Read = Callable[[str], str]  # path → text, "" if it is not to be read; a text that is not new begins with OLDER

MOST_TEXT = 30_000  # bytes of a file; a longer one is left alone
MOST_FILES = 6  # of one call, those included that a script runs
MOST_WORDS = 2_000  # of a text in which paths are looked for
RECENT = 3600.0  # seconds since a file changed within which it counts as written for this purpose
OLDER = "\0"  # begins a text that nobody changed lately
TEMPORARY = ("/tmp/", "/var/tmp/", "/private/tmp/", "/private/var/folders/", "/var/folders/")  # noqa: S108 - read only
BETWEEN_WORDS = dict.fromkeys(map(ord, "'\"`;|&()<>=,:{}"), " ")
CHANGES_FOLDER = frozenset(("cd", "-C", "pushd"))
MOST_FOLDERS = 4
MOST_NEW = 20  # files of a folder that are read
MOST_NAMES = 1_000  # that are looked at; somebody else's repository may have very many
MAKES = {"make": ("Makefile", "makefile", "GNUmakefile"), "gmake": ("Makefile",), "just": ("justfile", "Justfile")}
TASKERS = dict.fromkeys(("task", "go-task"), ("Taskfile.yml", "Taskfile.yaml"))
PACKAGES = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), "package.json"), "composer": "composer.json", "deno": "deno.json",
}  # fmt: skip
PLAYER = "ansible-playbook"
YAML = (".yml", ".yaml")
PIPELINES = (".github/workflows/*", ".gitlab-ci.yml")  # what a push starts elsewhere


def gate_text(turn: Turn, read: Read) -> str:
    """Return the text of every file that a call could run by its words alone, for the gate, which reads no grammar."""
    texts = [command_of(turn)]
    for text in texts:
        words = text.translate(BETWEEN_WORDS).split()[:MOST_WORDS]
        folders = ("", *(f"{after}/" for word, after in pairwise(words) if word in CHANGES_FOLDER))[:MOST_FOLDERS]
        for path in _paths_among(words):
            file_text = next(filter(None, (read(folder + path) for folder in folders)), "")
            if file_text and len(texts) <= MOST_FILES and file_text not in texts:
                texts.append(file_text)
    return "\n".join(texts[1:])


def _paths_among(words: list[str]) -> Iterator[str]:
    if "git" in words and "push" in words:
        yield from PIPELINES
    for word in dict.fromkeys(words):
        name = base_name(word)
        if name in MAKES or name in PACKAGES or name in TASKERS:
            yield from MAKES.get(name) or TASKERS.get(name) or (PACKAGES[name],)
        elif (
            (name.endswith(YAML) and PLAYER in words)
            or name.endswith((*RUN_ENDINGS, ".mk", ".cron"))
            or (name != word and "." not in name)
        ):
            yield word


def disk_reader(folder: str) -> Read:
    """Return a function that reads a file in a working folder, or among temporary files; never through a link out."""
    root = files.real(folder).rstrip("/") + "/"

    def read(path: str) -> str:
        """Return a file's text, "" if it lies elsewhere, is too long or is not text; of `FOLDER/*.sh` what is new."""
        above, _, pattern = path.rpartition("/")
        if "*" in pattern and "*" not in above:
            inside = files.real(f"{folder}/{above}")
            listed = files.names(inside, MOST_NAMES) if f"{inside}/".startswith(root) else []
            names = [name for name in listed if matches_glob(pattern, name)][:MOST_NEW]
            return "\n".join(text for name in names if (text := read(f"{above}/{name}"))[:1] != OLDER)
        place = files.real(path if files.is_absolute(path) else f"{folder}/{path}")
        if "\0" in path or not place.startswith((root, *TEMPORARY)):
            return ""
        stamp = files.stamp(place)
        data = files.read(place, MOST_TEXT) if stamp else None
        if not data or b"\0" in data:
            return ""
        is_recent = stamp is not None and time.time() - stamp[1] / 1e9 < RECENT
        return ("" if is_recent else OLDER) + data.decode("utf-8", "replace")

    return read
