"""What a tool call is: which tools run, write or read, its command line, and how much of a turn is watched."""

from __future__ import annotations

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deia.records import Turn

SEGMENT = 600  # characters
OVERLAP = 200
CALL_SEGMENT = 6000  # for tool calls, where a single command may be this long
CALL_OVERLAP = 2000
SHELL_TOOLS = frozenset(
    ("bash", "shell", "powershell", "exec_command", "run_shell_command", "run_terminal_cmd", "execute", "local_shell",
     "run_command", "execute_command", "terminal", "container.exec", "shell_command", "unified_exec")
)  # fmt: skip
WRITE_TOOLS = frozenset(
    ("write", "edit", "multiedit", "notebookedit", "apply_patch", "write_file", "replace", "create_file", "edit_file",
     "str_replace_editor", "str_replace_based_edit_tool", "delete_file", "write_to_file", "replace_in_file", "create",
     "insert_edit_into_file", "replace_string_in_file", "search_replace", "fs_write", "editfiles")
)  # fmt: skip
# Tools that write a whole file; an edit shows what it replaces.
WHOLE_TOOLS = frozenset(
    ("write", "write_file", "create_file", "create", "write_to_file", "fs_write", "str_replace_based_edit_tool",
     "str_replace_editor")
)  # fmt: skip
# Tools whose input is no speech: patterns, file contents or names.
SILENT_TOOLS = frozenset(
    ("read", "grep", "glob", "ls", "view", "search", "websearch", "webfetch", "read_file", "codebase_search",
     "list_dir", "file_search", "grep_search", "notebookread", "lsp", "write_stdin", "skill", "toolsearch")
)  # fmt: skip
COMMAND_FIELDS = ("command", "cmd", "script", "code")
PATH_FIELDS = (
    "file_path", "path", "filePath", "notebook_path", "filename", "target_file", "TargetFile", "absolute_path",
)  # fmt: skip
MOST_DEPTH = 6
# What is watched of very long texts: the beginning and the end of speech, the beginning of a field, and as much of a
# command as Linux accepts as one argument (MAX_ARG_STRLEN), so that no `bash -c` is longer.
MOST_BEGINNING, MOST_END = 750_000, 250_000  # characters
MOST_FIELD = 1_000_000
MOST_CALL = 131_072
FILE_READERS = frozenset(("read", "read_file", "read_many_files", "view", "view_file", "open_file", "fs_read"))


def is_shell(turn: Turn) -> bool:
    """Return whether a tool call runs a shell command."""
    return turn.tool.lower() in SHELL_TOOLS or (not turn.tool and bool(turn.text))


def command_of(turn: Turn) -> str:
    """Return the command line of a shell call, or "" if it has none."""
    tool_input = turn.tool_input or {}
    for name in COMMAND_FIELDS:
        value = tool_input.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, (list, tuple)) and value and all(isinstance(word, str) for word in value):
            return _joined(value)
    return turn.text


def watched_command(turn: Turn) -> str:
    """Return the part of a shell call's command line that is watched: all of it, unless it is too long to be parsed."""
    command = command_of(turn)
    if len(command) <= MOST_CALL:
        return command
    from deia.watch.turn.long_commands import shortened  # noqa: PLC0415 - hardly any command is so long

    return shortened(command, MOST_CALL)


def _joined(argv: list[str] | tuple[str, ...]) -> str:
    """Return an argument vector as a command line; one host sends every command as `["bash", "-lc", "x"]`."""
    if len(argv) == 3 and argv[1] in ("-c", "-lc", "-Command"):
        return argv[2]
    return " ".join(word if word and word.isalnum() else "'" + word.replace("'", "'\\''") + "'" for word in argv)


def strings(value: object, depth: int = 0) -> Iterator[str]:
    """Yield every string in a tool's input, except keys."""
    if isinstance(value, str):
        yield value
    elif depth < MOST_DEPTH and hasattr(value, "values"):
        for item in value.values():
            yield from strings(item, depth + 1)
    elif depth < MOST_DEPTH and isinstance(value, (list, tuple)):
        for item in value:
            yield from strings(item, depth + 1)


def watched_text(turn: Turn) -> str:
    """Return all text of a turn that a clause may look at, for the gate."""
    if turn.role != "tool_call":
        return turn.text
    if is_shell(turn):
        return f"{turn.tool} {watched_command(turn)}"
    fields = (turn.tool, turn.text, *strings(turn.tool_input or {}))
    return " \n ".join(field[:MOST_FIELD] for field in fields)


def bounded(turn: Turn) -> Turn:
    """Return a turn without the middle of its text if that is too long to be watched whole."""
    text = turn.text
    if turn.role == "tool_call" or len(text) <= MOST_BEGINNING + MOST_END:
        return turn
    return turn.but(text=f"{text[:MOST_BEGINNING]}\n\n{text[-MOST_END:]}")


def segments(text: str, size: int = SEGMENT, overlap: int = OVERLAP) -> Iterator[str]:
    """Yield a text in overlapping pieces of at most `size` characters; any `overlap` characters are whole in one."""
    if len(text) <= size:
        yield text
        return
    for at in range(0, len(text) - overlap, size - overlap):
        yield text[at : at + size]


def turn_segments(turn: Turn) -> Iterator[str]:
    """Yield the watched text of a turn in segments, longer ones for tool calls, whose words belong together."""
    if turn.role == "tool_call":
        return segments(watched_text(turn), CALL_SEGMENT, CALL_OVERLAP)
    return segments(bounded(turn).text)
