"""What a tool call is: which tools run, write or read, its command line, and how much of a turn is watched."""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

SEGMENT = 600  # characters
OVERLAP = 200
CALL_SEGMENT = 6000  # for tool calls, where a single command may be this long
CALL_OVERLAP = 2000
SHELL_TOOLS = frozenset(
    ("bash", "shell", "powershell", "exec_command", "run_shell_command", "run_terminal_cmd", "execute", "local_shell",
     "run_command", "execute_command", "terminal", "container.exec", "shell_command", "unified_exec",
     "run_terminal_command_v2", "monitor")
)  # fmt: skip
WRITE_TOOLS = frozenset(
    ("write", "edit", "multiedit", "notebookedit", "apply_patch", "write_file", "replace", "create_file", "edit_file",
     "str_replace_editor", "str_replace_based_edit_tool", "delete_file", "write_to_file", "replace_in_file", "create",
     "insert_edit_into_file", "replace_string_in_file", "search_replace", "fs_write", "editfiles", "edit_file_v2",
     "editor")
)  # fmt: skip
# Tools that write a whole file; an edit shows what it replaces.
WHOLE_TOOLS = frozenset(
    ("write", "write_file", "create_file", "create", "write_to_file", "fs_write", "str_replace_based_edit_tool",
     "str_replace_editor")
)  # fmt: skip
# Tools whose input is no speech: patterns, file contents or names.
SILENT_TOOLS = frozenset(
    ("read", "grep", "glob", "ls", "view", "search", "websearch", "webfetch", "read_file", "codebase_search",
     "list_dir", "file_search", "grep_search", "notebookread", "lsp", "write_stdin", "skill", "toolsearch",
     "read_file_v2", "ripgrep_raw_search", "glob_file_search", "list_directory", "web_fetch", "tool_search",
     "read_files", "search_codebase", "fetch_web_content")
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
# What a call names that could weaken deia itself: its own name, the names in the paths where hosts keep its hook, and
# how hooks are switched off. Nothing is decided by them; a call without any cannot be one that
# deia.watch.silence.self_protection refuses.
OWN_NAME = "deia"
OWN_FOLDERS = ("state/deia", "cache/deia")
GUARD_MARKS = ("allhooks", "hooks=false", "disable hooks", "hooks disable", "base64")
GUARD_NAMES = frozenset(
    (".claude", "claude_config_dir", "managed-settings.json", "settings.json", "settings.local.json", "hooks.json",
     ".codex", "codex_home", ".cursor", ".gemini", "gemini_cli_home", ".github", ".copilot", "copilot_home",
     ".clinerules", "cline", ".windsurf", "windsurf", ".codeium", ".opencode", "opencode", ".amp", "amp", ".factory",
     "factory_home_override", ".kiro", ".amazonq", "amazonq", ".qwen", "qwen_home", ".local", ".config",
     "pyproject.toml")
)  # fmt: skip
SEPARATORS: dict[int, str | None] = {**dict.fromkeys(map(ord, "/\\ \t,;:=()[]{}<>|&*?$`@!%"), " "), 34: None, 39: None}
MOST_PATH = 4000  # characters of a field that may be a path or a command
# What a command line has that runs a file; most that have it run none.
RUN_ENDINGS = (".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".sql", ".ps1")
RUN_SIGNS = (
    *RUN_ENDINGS, "./", "/bin/", "sh ", "source ", "make", "npm", "yarn", "bun ", "just ", "crontab", "< ", "task ",
    "ansible-playbook", "composer ", "deno ", "git push",
)  # fmt: skip
RUN_MARK = "# deia reads on in "  # begins the line in front of a file's text, where that stands behind the command
LONG_THERE = ", which was there before"  # of a file that nobody changed lately
FILE_READERS = frozenset(("read", "read_file", "read_many_files", "view", "view_file", "open_file", "fs_read"))


def is_shell(turn: Turn) -> bool:
    """Return whether a tool call runs a shell command."""
    return turn.tool.lower() in SHELL_TOOLS or (not turn.tool and bool(turn.text))


def may_run_files(turn: Turn) -> bool:
    """Return whether a tool call may run what stands in a file; true of many calls that do not."""
    return turn.role == "tool_call" and is_shell(turn) and any(map(command_of(turn).__contains__, RUN_SIGNS))


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


def may_weaken(turn: Turn, folder: str, *, state: str = "") -> bool:
    """Return whether a tool call names anything by which deia could be weakened; true of many harmless calls, too.

    Quotes and backslashes inside a word are looked through, as a shell does. Of a long text that is no command and no
    patch, only deia's own name counts: settings of hosts are named by a path.
    """
    text = (command_of(turn) if is_shell(turn) else _short_texts(turn)).lower()
    place = folder.lower()
    return (
        OWN_NAME in text
        or (state and state.lower() in text)
        or _names_guard(text)
        or not GUARD_NAMES.isdisjoint(place.split("/"))
        or any(own in place for own in OWN_FOLDERS)
    )


def _names_guard(text: str) -> bool:
    """Return whether a command or path in lower case holds what `may_weaken` looks for."""
    bare = text.translate(SEPARATORS)
    if not GUARD_NAMES.isdisjoint(bare.split()) or OWN_NAME in bare:
        return True
    if "\\" in text:  # which a shell takes away
        bare = text.replace("\\", "").translate(SEPARATORS)
        if not GUARD_NAMES.isdisjoint(bare.split()) or OWN_NAME in bare:
            return True
    return any(mark in text for mark in GUARD_MARKS)


def _short_texts(turn: Turn) -> str:
    kept: list[str] = []
    for text in (turn.text, *strings(turn.tool_input or {})):
        is_whole = len(text) <= MOST_PATH or "*** " in text or "+++ " in text  # a patch may be long
        kept.append(text if is_whole else OWN_NAME if OWN_NAME in text.lower() else "")
    return "\n".join(kept)
