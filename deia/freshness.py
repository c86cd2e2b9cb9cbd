"""Whether compiled files still belong to their sources: sizes and times of what they were made from, and by whom.

A stamp file says on its first line which installation wrote it, then `size mtime-ns path` for each source. Comparing
stamps is what the fast paths can afford; the compiler compares contents.
"""

from __future__ import annotations

from deia import files
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

HEAD = "deia-stamps-1"
ABSENT = "- -"
TRIGGERS, DOCUMENTS = "stamps.triggers", "stamps.documents"
MOST_CHECKED = 5000  # sources that a question may look at; beyond that folders and what is answered (1.5 µs a file)


def stamp_text(root: str, paths: Mapping[str, str], maker: str) -> str:
    """Write the stamps of some sources, named relative to `root` or, where they lie elsewhere, in full.

    Behind a path stands its stamp from before its content was read, where that is known; it is looked at otherwise.
    """
    return "\n".join(
        (f"{HEAD} {maker}", *[f"{known or _stamp(root, path)} {path}" for path, known in paths.items()], "")
    )


def _stamp(root: str, path: str) -> str:
    full = path[:1] == "/" or path[1:2] == ":"
    found = files.stamp(path if full else f"{root}/{path}" if path else root)
    return ABSENT if found is None else f"{found[0]} {found[1]}"


def maker_path(state: str) -> str:
    """Give the file that holds this installation's own random name."""
    return f"{state}/maker"


def maker(state: str) -> str:
    """Give this installation's own name, which a `.deia/` that came with a repository cannot know."""
    return (files.read(maker_path(state)) or b"").decode("ascii", "replace").strip()


def made_by(derived: str, name: str) -> bool:
    """Say whether this installation made the compiled triggers in `derived`."""
    content = files.read(f"{derived}/{TRIGGERS}") or b""
    return bool(name) and content[:200].split(b"\n", 1)[0] == f"{HEAD} {name}".encode("ascii", "replace")


def changed(derived: str, root: str, name: str) -> str:
    """Give the first source that is not as it was when compiled, or ""; a missing stamp file is a change."""
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
