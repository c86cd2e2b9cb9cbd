"""The places in files that a call of an editing tool changes, with their text before and after.

Only the fields of the call are read, no shell command, so this is cheap enough for turns of which nothing is judged.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record, Turn
from deia.watch.turn.tool_call import PATH_FIELDS, WRITE_TOOLS, strings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OLD = ("old_string", "old_str", "oldString", "oldText", "old_text", "old_source")
NEW = (
    "new_string", "new_str", "newString", "newText", "new_text", "new_source", "content", "contents", "file_text",
    "insert_text", "code_edit", "text",
)  # fmt: skip
LISTS = ("edits", "replacements", "changes")
MOST_EDITS = 200
# The lines of a patch that name a file.
ADDED_HEAD = "*** Add File: "
FILE_HEADS = ("*** Update File: ", ADDED_HEAD, "*** Move to: ")
DELETED_HEAD = "*** Delete File: "
PATCH_HEADS = (*FILE_HEADS, DELETED_HEAD)
HEADS = (*FILE_HEADS, "+++ b/", "+++ ")
OTHER_HEADS = (DELETED_HEAD, "*** End", "*** Begin", "--- ", "diff --git ")


class Change(Record):
    """One place in a file: its text before and after the call."""

    path: str
    old: str
    new: str


def edits_of(turn: Turn) -> Iterator[Change]:
    """Yield the changes that a call of an editing tool shows; those of other calls are none."""
    if turn.tool.lower() not in WRITE_TOOLS:
        return
    tool_input = turn.tool_input or {}
    yield from _edits(tool_input, _first(tool_input, PATH_FIELDS))
    for text in strings(tool_input):
        if "*** " in text or "+++ " in text:
            yield from _patched(text)


def field_paths(turn: Turn) -> Iterator[str]:
    """Yield the paths in the fields of a tool's input."""
    fields = turn.tool_input or {}
    yield from (path for name in PATH_FIELDS if isinstance(path := fields.get(name), str))


def patched_paths(turn: Turn, *heads: str) -> Iterator[str]:
    """Yield the files that stand behind these heads in the patches of a tool's input."""
    for text in strings(turn.tool_input or {}):
        for line in text.splitlines() if "*** " in text else ():
            yield from (line.removeprefix(head).strip() for head in heads if line.startswith(head))


def deleted_files(turn: Turn) -> Iterator[str]:
    """Yield the files that a call of a tool for that deletes, or a patch."""
    if "delete" in turn.tool.lower():
        yield from field_paths(turn)
    yield from patched_paths(turn, DELETED_HEAD)


def _first(fields: Mapping[str, object], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := fields.get(name), str)), "")


def _edits(fields: Mapping[str, object], path: str) -> Iterator[Change]:
    old, new = _first(fields, OLD), _first(fields, NEW)
    if old or new:
        yield Change(path=path, old=old, new=new)
    for name in LISTS:
        items = fields.get(name)
        for item in items[:MOST_EDITS] if isinstance(items, (list, tuple)) else ():
            if hasattr(item, "get"):
                yield from _edits({key: item.get(key) for key in (*OLD, *NEW)}, _first(item, PATH_FIELDS) or path)


def _patched(text: str) -> Iterator[Change]:
    """Yield a change for each file section of a patch, with its lines before and after."""
    path = ""
    old: list[str] = []
    new: list[str] = []
    for line in (*text.splitlines(), "*** End"):
        head = next((mark for mark in (*HEADS, *OTHER_HEADS) if line.startswith(mark)), "")
        if head:
            if old or new:
                yield Change(path=path, old="\n".join(old), new="\n".join(new))
            old, new = [], []
            path = line.removeprefix(head).strip() if head in HEADS else path
        elif line[:1] in {"+", "-", " "}:
            old += [line[1:]] if line[:1] != "+" else []
            new += [line[1:]] if line[:1] != "-" else []
