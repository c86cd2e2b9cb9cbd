"""Whether compiled files still match their sources, judged by the sources' sizes and modification times.

The first line of a stamp file is `HEAD`. Each following line is `size mtime-ns path` for one source. The fast paths can
only afford to compare stamps; the compiler compares contents.
"""

from __future__ import annotations

from deia import files
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

HEAD = "deia-stamps-1"
MOST_SHOWN = 200  # characters of a path in a message
ABSENT = "- -"
TRIGGERS, DOCUMENTS, OWN = "stamps.triggers", "stamps.documents", "stamps.own"
STARTER = "stamps.starter"  # whether the starter was compiled too, which a variable or --config may have decided


def stamp_text(root: str, paths: Mapping[str, str]) -> str:
    """Return the stamps of some sources, named relative to `root`, or in full if they are outside it.

    `paths` maps each path to the stamp taken before its content was read, or to "" to take it now.
    """
    return "\n".join((HEAD, *[stamp_line(known or _stamp(root, path), path) for path, known in paths.items()], ""))


def stamp_line(stamp: str, path: str) -> str:
    """Return the line for a source."""
    return f"{stamp} {path.replace('%', '%25').replace(chr(10), '%0A')}"


def _stamp(root: str, path: str) -> str:
    full = files.is_absolute(path)
    stamp = files.stamp(path if full else f"{root}/{path}" if path else root)
    return ABSENT if stamp is None else f"{stamp[0]} {stamp[1]}"


def changed(derived: str, root: str, name: str) -> str:
    """Return the first source that changed since it was compiled, or ""; a missing stamp file counts as a change.

    The path is made fit for showing: whoever made the commons chose the names of its files.
    """
    content = files.read(f"{derived}/{name}")
    lines = content.decode("utf-8", "surrogateescape").split("\n") if content else []
    if not lines or lines[0] != HEAD:
        return name
    for line in filter(None, lines[1:]):
        size, _, rest = line.partition(" ")
        modified, _, written = rest.partition(" ")
        path = written.replace("%0A", "\n").replace("%25", "%") if "%" in written else written
        if f"{size} {modified}" != _stamp(root, path):
            return _shown(path) or "the commons' folder"
    return ""


def _shown(path: str) -> str:
    from deia.text import one_line, shorten  # noqa: PLC0415 - most commons did not change

    return shorten(one_line(path), MOST_SHOWN)


def starter_stamp(starter: bool) -> bytes:  # noqa: FBT001 - the setting
    """Return what the file `STARTER` holds."""
    return b"with" if starter else b"without"
