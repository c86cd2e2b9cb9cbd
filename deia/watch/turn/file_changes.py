"""What a tool call changes in files: of each file the text before and after, as far as the call itself shows them.

Edits show both, a file written whole only what it will hold, a patch its lines with what stands around them. Of shell
commands what is printed or fed into a file counts, and the substitutions of `sed -i`. Refuses to look at the disk.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Record
from deia.watch.shell.file_writes import DELETED_HEAD, FILE_HEADS, written_by
from deia.watch.shell.globs import matches_path
from deia.watch.turn.regex import find_all, unfolded
from deia.watch.turn.tool_call import MOST_CALL, PATH_FIELDS, WRITE_TOOLS, strings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from deia.records import Turn
    from deia.watch.shell.nodes import Command

OLD = ("old_string", "old_str", "oldString", "oldText", "old_text", "old_source")
NEW = (
    "new_string", "new_str", "newString", "newText", "new_text", "new_source", "content", "contents", "file_text",
    "insert_text", "code_edit", "text",
)  # fmt: skip
LISTS = ("edits", "replacements", "changes")
MOST_EDITS = 200
HEADS = (*FILE_HEADS, "+++ b/", "+++ ")
OTHER_HEADS = (DELETED_HEAD, "*** End", "*** Begin", "--- ", "diff --git ")
PRINTERS = frozenset(("echo", "printf"))
MOST_SHOWN = 300  # characters of a line that a match shows


class Change(Record):
    """One place of a file: what stood there, and what stands there afterwards."""

    path: str
    old: str
    new: str


def changes(turn: Turn, commands: Iterator[Command]) -> Iterator[Change]:
    """Give what a tool call changes, one after the other."""
    given: Any = turn.tool_input or {}
    if turn.tool.lower() in WRITE_TOOLS:
        path = _first(given, PATH_FIELDS)
        yield from _edits(given, path)
        for text in strings(given):
            if "*** " in text or "+++ " in text:
                yield from _patched(text)
    for command in commands:
        yield from _by_command(command)


def _first(given: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := given.get(name), str)), "")


def _edits(given: Mapping[str, Any], path: str) -> Iterator[Change]:
    old, new = _first(given, OLD), _first(given, NEW)
    if old or new:
        yield Change(path=path, old=old, new=new)
    for name in LISTS:
        items = given.get(name)
        for item in items[:MOST_EDITS] if isinstance(items, (list, tuple)) else ():
            if hasattr(item, "get"):
                yield from _edits({key: item.get(key) for key in (*OLD, *NEW)}, _first(item, PATH_FIELDS) or path)


def _patched(text: str) -> Iterator[Change]:
    """Give the files of a patch, each with its lines before and after."""
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


def _by_command(command: Command) -> Iterator[Change]:
    paths = list(dict.fromkeys(written_by(command)))
    if not paths:
        return
    if command.program in {"sed", "gsed"}:
        for old, new in _substitutions(command.arguments):
            yield from (Change(path=path, old=old, new=new) for path in paths)
        return
    said = " ".join(command.arguments) if command.program in PRINTERS else command.stdin
    if said:
        yield from (Change(path=path, old="", new=said) for path in paths)


def _substitutions(arguments: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Give the two halves of each `s/old/new/` among the words of sed."""
    for word in arguments:
        if len(word) > 3 and word[0] == "s" and not word[1].isalnum() and word[1] not in "\\ ":
            parts = word.split(word[1])
            if len(parts) == 4:
                yield parts[1], parts[2]


# --- what a clause asks of them ---


def changed(value: Any, made: Iterable[Change]) -> Iterator[tuple[str, str]]:
    """Give what was put in or taken out as a clause asks, each with the path and lines that it stands in."""
    for change in made:
        if value["v"] and not any(matches_path(glob, change.path) for glob in value["v"]):
            continue
        old, new = change.old[:MOST_CALL], change.new[:MOST_CALL]
        if "lacks" in value and any(True for _ in find_all(unfolded(value, "lacks"), new)):
            continue
        put = _more(unfolded(value, "adds"), new, old) if "adds" in value else [""]
        taken = _more(unfolded(value, "drops"), old, new) if "drops" in value else [""]
        for lines in (put if "adds" in value else taken) if put and taken else ():
            yield lines, " ".join(filter(None, (change.path, lines, taken[0] if "adds" in value else "")))


def _more(clause: Any, text: str, other: str) -> list[str]:
    """Give the lines that matches in a text stand in, if it has more of them than the other.

    What both have was moved or only stands near, so that it counts neither as put in nor as taken out.
    """
    here = list(find_all(clause, text))
    if not here or len(here) <= sum(1 for _ in find_all(clause, other)):
        return []
    known = {line.strip() for line in other.splitlines()}
    shown = list(dict.fromkeys(_lines(text, start, end) for start, end in here))
    return [lines for lines in shown if lines.strip() not in known] or shown[:1]


def _lines(text: str, start: int, end: int) -> str:
    """Give the whole lines that a match stands in, without the middle of very long ones."""
    first = max(text.rfind("\n", 0, start) + 1, start - MOST_SHOWN)
    after = text.find("\n", end)
    return text[first : min(after if after >= 0 else len(text), end + MOST_SHOWN)]
