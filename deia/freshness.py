"""Whether compiled files still match their sources, judged by the sources' sizes and modification times.

The first line of a stamp file names the installation that wrote it. Each following line is `size mtime-ns path` for
one source. The fast paths can only afford to compare stamps; the compiler compares contents.
"""

from __future__ import annotations

from deia import files
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

HEAD = "deia-stamps-1"
ABSENT = "- -"
TRIGGERS, DOCUMENTS = "stamps.triggers", "stamps.documents"
MOST_CHECKED = 5000  # sources that a query checks (1.5 µs a file); with more, it skips the documents (`*.md`)


def stamp_text(root: str, paths: Mapping[str, str], maker: str) -> str:
    """Return the stamps of some sources, named relative to `root`, or in full if they are outside it.

    `paths` maps each path to the stamp taken before its content was read, or to "" to take it now.
    """
    return "\n".join(
        (f"{HEAD} {maker}", *[f"{known or _stamp(root, path)} {path}" for path, known in paths.items()], "")
    )


def _stamp(root: str, path: str) -> str:
    full = path[:1] == "/" or path[1:2] == ":"
    stamp = files.stamp(path if full else f"{root}/{path}" if path else root)
    return ABSENT if stamp is None else f"{stamp[0]} {stamp[1]}"


def maker_path(state: str) -> str:
    """Return the file that holds this installation's random name."""
    return f"{state}/maker"


def maker(state: str) -> str:
    """Return this installation's own name, which a `.deia/` folder that came with a repository cannot know."""
    return (files.read(maker_path(state)) or b"").decode("ascii", "replace").strip()


def made_by(derived: str, name: str) -> bool:
    """Return whether this installation made the compiled triggers in `derived`."""
    content = files.read(f"{derived}/{TRIGGERS}") or b""
    return bool(name) and content[:200].split(b"\n", 1)[0] == f"{HEAD} {name}".encode("ascii", "replace")


def changed(derived: str, root: str, name: str) -> str:
    """Return the first source that changed since it was compiled, or ""; a missing stamp file counts as a change."""
    content = files.read(f"{derived}/{name}")
    lines = content.decode("utf-8", "surrogateescape").split("\n") if content else []
    if not lines or not lines[0].startswith(HEAD):
        return name
    named = [line for line in lines[1:] if line]
    if len(named) > MOST_CHECKED:
        named = [line for line in named if not line.endswith(".md")]
    for line in named:
        parts = line.split(" ", 2)
        if len(parts) != 3 or f"{parts[0]} {parts[1]}" != _stamp(root, parts[2]):
            return parts[-1] or "the commons' folder"
    return ""
