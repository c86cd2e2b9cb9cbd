"""Whether git keeps a file out of what `git add -A` takes: ignored, tracked before, or in no repository.

Only git's own files are read, a few kilobytes each; the rules of folders and of `core.excludesFile` are left out.
"""

from __future__ import annotations

from deia import files
from deia.globs import matches_glob
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_RULES = 50_000  # bytes of a file with rules
MOST_INDEX = 8_000_000  # bytes of the list of tracked files
OF_PERSON = (".config/git/ignore", ".gitignore", ".gitignore_global")  # in the home folder


def is_kept_out(path: str, root: str) -> bool:
    """Return whether `git add -A` in the repository at `root` would not add a file, or has added it before."""
    if not files.exists(f"{root}/.git"):
        return True
    name = path.removeprefix(f"{root}/")
    entry = len(name.encode()).to_bytes(2, "big") + name.encode() + b"\0"  # as the index writes a name
    if entry in (files.read(f"{root}/.git/index", MOST_INDEX) or b""):
        return True
    ignored = False
    for rule, below in _rules(name, root):
        if _matches(rule.removeprefix("!"), below):
            ignored = rule[:1] != "!"
    return ignored


def _rules(name: str, root: str) -> Iterator[tuple[str, str]]:
    """Yield the rules that may speak of a file, the last of which counts, each with the file's path below them."""
    home = files.home(files.environment())
    places = [(f"{home}/{place}", name) for place in OF_PERSON] + [(f"{root}/.git/info/exclude", name)]
    *folders, _ = name.split("/")
    for depth in range(len(folders) + 1):
        above = "".join(f"{folder}/" for folder in folders[:depth])
        places.append((f"{root}/{above}.gitignore", name.removeprefix(above)))
    for place, below in places:
        lines = (files.read(place, MOST_RULES) or b"").decode("utf-8", "replace").split("\n")
        yield from ((line.strip(), below) for line in lines if line.strip() and line[0] != "#")


def _matches(rule: str, below: str) -> bool:
    plain = rule.removeprefix("**/")
    if "/" in plain.rstrip("/"):
        return matches_glob(plain.removeprefix("/"), below)
    return matches_glob(plain, below.rpartition("/")[2])
