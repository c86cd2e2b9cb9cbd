"""The print of a tool call, by which deia recognises a call that is made again.

For a shell call it covers the command and the folder that is named for it, without white space within a line; for other
calls, the input in any order. What a model writes anew each time, such as a description, does not count.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.watch.memory.log import fingerprint
from deia.watch.turn.tool_call import command_of, is_shell, strings

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDERS = ("cwd", "workdir", "working_directory", "directory", "dir_path")  # fields of a shell call
NOISE = frozenset(("description", "explanation", "timeout"))  # fields that say nothing about what a call does


def call_print(turn: Turn) -> str:
    """Return a fingerprint that identifies a repeated tool call, or "" if the turn is no call."""
    if turn.role != "tool_call":
        return ""
    text = _shell_text(turn) if is_shell(turn) else _input_text(turn)
    return f"{turn.tool}:{len(text):x}-{fingerprint(text):x}"


def _shell_text(turn: Turn) -> str:
    tool_input = turn.tool_input or {}
    command = "\n".join(" ".join(line.split()) for line in command_of(turn).strip().splitlines())
    # Only texts are folders; other values may be nested so deep that writing them fails.
    folders = ((name, tool_input.get(name)) for name in FOLDERS)
    return "\n".join((command, *(f"{name}={value}" for name, value in folders if value and isinstance(value, str))))


def _input_text(turn: Turn) -> str:
    """Return a tool's input as text, whatever the order of its fields; if it is nested too deeply, only its strings."""
    fields = {name: value for name, value in (turn.tool_input or {}).items() if str(name).lower() not in NOISE}
    try:
        return f"{turn.text}\n{_in_order(fields)!r}"
    except RecursionError:
        return "\n".join(strings(turn.tool_input))


def _in_order(value: object) -> object:
    if isinstance(value, dict):
        fields: Mapping[object, object] = value
        return sorted(((str(name), _in_order(item)) for name, item in fields.items()), key=str)
    return [_in_order(item) for item in value] if isinstance(value, (list, tuple)) else value
