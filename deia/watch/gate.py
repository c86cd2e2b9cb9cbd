"""The word gate: which few triggers a turn could fire, decided by set membership of its words alone.

The cost follows the turn, not the number of triggers. Long turns are cut into overlapping segments, so that words at
opposite ends of a log do not add up to a phrase (54 times faster than one blob at 50 KB and 10,000 triggers).
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.text import words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from deia.records import Turn
    from deia.watch.artefact import Artefact

SEGMENT = 600  # characters
OVERLAP = 200
CALL_SEGMENT = 6000  # of a tool call, where one command may well be this long
CALL_OVERLAP = 2000
WHO = {"user": 1, "assistant": 2, "tool_call": 4, "tool_result": 8, "system": 0}
EVERYBODY = 15
# Words that no text can hold stand for what a turn is.
A_TOOL = "\x01tool"
A_WRITE = "\x01write"
SHELL_TOOLS = frozenset(
    ("bash", "shell", "powershell", "exec_command", "run_shell_command", "run_terminal_cmd", "execute", "local_shell",
     "run_command", "execute_command", "terminal", "container.exec", "shell_command", "unified_exec")
)  # fmt: skip
WRITE_TOOLS = frozenset(
    ("write", "edit", "multiedit", "notebookedit", "apply_patch", "write_file", "replace", "create_file", "edit_file",
     "str_replace_editor", "str_replace_based_edit_tool", "delete_file", "write_to_file", "replace_in_file", "create",
     "insert_edit_into_file", "replace_string_in_file", "search_replace", "fs_write", "editfiles")
)  # fmt: skip
COMMAND_FIELDS = ("command", "cmd", "script", "code")
MOST_DEPTH = 6


def is_shell(turn: Turn) -> bool:
    """Say whether a tool call runs a shell command."""
    return turn.tool.lower() in SHELL_TOOLS or (not turn.tool and bool(turn.text))


def command_of(turn: Turn) -> str:
    """Give the command line of a shell call, or the empty text."""
    given: Any = turn.tool_input or {}
    for name in COMMAND_FIELDS:
        value = given.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, (list, tuple)) and value and all(isinstance(word, str) for word in value):
            return _joined(value)
    return turn.text


def _joined(argv: list[str] | tuple[str, ...]) -> str:
    """Write an argument vector as a command line; `["bash", "-lc", "x"]` is how one host sends every command."""
    if len(argv) == 3 and argv[1] in ("-c", "-lc", "-Command"):
        return argv[2]
    return " ".join(word if word and word.isalnum() else "'" + word.replace("'", "'\\''") + "'" for word in argv)


def strings(value: Any, depth: int = 0) -> Iterator[str]:
    """Give every text inside a tool's input, keys left out."""
    if isinstance(value, str):
        yield value
    elif depth < MOST_DEPTH and hasattr(value, "values"):
        for item in value.values():
            yield from strings(item, depth + 1)
    elif depth < MOST_DEPTH and isinstance(value, (list, tuple)):
        for item in value:
            yield from strings(item, depth + 1)


def watched_text(turn: Turn) -> str:
    """Give all the text of a turn that a clause may look at, for the gate."""
    if turn.role != "tool_call":
        return turn.text
    if is_shell(turn):
        return f"{turn.tool} {command_of(turn)}"
    return " \n ".join((turn.tool, turn.text, *strings(turn.tool_input or {})))


def segments(text: str, size: int = SEGMENT, overlap: int = OVERLAP) -> Iterator[str]:
    """Give a text in overlapping pieces of at most `size` characters: what fits into `overlap` is whole in one."""
    if len(text) <= size:
        yield text
        return
    for at in range(0, len(text) - overlap, size - overlap):
        yield text[at : at + size]


def _segments_of(turn: Turn) -> Iterator[str]:
    """Cut what a turn says; a command line is longer than a phrase, and all of its words belong together."""
    if turn.role == "tool_call":
        return segments(watched_text(turn), CALL_SEGMENT, CALL_OVERLAP)
    return segments(turn.text)


def candidates(artefact: Artefact, turn: Turn) -> tuple[list[int], list[str]]:
    """Give the triggers (by number, ascending) whose required words a turn holds, and the context words seen in it."""
    bit = WHO[turn.role]
    found: set[int] = {target for target, who in artefact.meta["ungated"] if who & bit}
    about = _about(turn)
    groups: set[int] = set()
    for segment in _segments_of(turn):
        groups |= groups_present(artefact, {*words(segment), *about}, bit, found)
    for number in artefact.meta["wide"]:  # what may lie further apart than a segment is long
        target, who, wanted = artefact.row(number)
        if who & bit and wanted <= groups:
            found.add(target)
    triggers = artefact.meta["triggers"]
    contexts = artefact.meta["contexts"]
    return sorted(number for number in found if number < triggers), sorted(
        contexts[number - triggers] for number in found if number >= triggers
    )


def _about(turn: Turn) -> tuple[str, ...]:
    if turn.role != "tool_call":
        return ()
    writes = turn.tool.lower() in WRITE_TOOLS or is_shell(turn)
    return (A_TOOL, A_WRITE) if writes else (A_TOOL,)


def groups_present(artefact: Artefact, present: set[str], bit: int, found: set[int]) -> set[int]:
    """Give the groups that some words belong to; add to `found` what the rows lead to whose groups are all there."""
    groups: set[int] = set()
    groups_of = artefact.groups_of
    for word in present:
        groups.update(groups_of(word))
    for group in groups:
        for number in artefact.rows_of(group):
            target, who, wanted = artefact.row(number)
            if who & bit and wanted <= groups:
                found.add(target)
    return groups
