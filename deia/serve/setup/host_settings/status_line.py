"""The status line of Claude Code: entered into its settings beside the hooks, and taken out; somebody else's is kept.

Source: the host's own page on status lines (read in the second half of 2026): `statusLine` is a command that a shell
reads, given the conversation's JSON on standard input, of which the first line printed is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deia.serve import statusline
from deia.serve.setup.host_settings.command import CMD, POSIX, line, on_windows, words_of
from deia.serve.setup.host_settings.json_text import insert, parse, remove

HOST = "claude-code"
MARK = "\ufeff"  # of the byte order, with which some editors begin a file
KEY = "statusLine"
FILE = "deia/serve/statusline.py"
HOOK_WORDS = 3  # of a hook's command before its file: the interpreter and its options; the file and the host follow


def status_command(hook: Sequence[str], *, windows: bool | None = None) -> str:
    """Give the line that shows the status, run by the same interpreter as the hook with this command.

    On Windows either of two shells may read it, so it is written in what both take for plain words.
    """
    words = [*hook[:HOOK_WORDS], statusline.__file__, *hook[HOOK_WORDS + 2 :]]
    if on_windows() if windows is None else windows:
        return line([word.replace("\\", "/") for word in words], CMD)
    return line(words, POSIX)


def status_line_in(text: str, *, path: str) -> str:
    """Give the command of a settings file's status line, or the empty text where there is none.

    Raises:
        HostError: the file is not JSON.
    """
    body = text.removeprefix(MARK)
    settings: Any = parse(body, where=path) if body.strip() else {}
    value = settings.get(KEY) if isinstance(settings, dict) else None
    if value is None:
        return ""
    return str(value.get("command") or "a form that deia does not know") if isinstance(value, dict) else str(value)


def is_ours(command: str) -> bool:
    """Say whether a status line is deia's, by the file that it runs."""
    return any(FILE in word.replace("\\", "/") for word in (command, *words_of(command)))


def with_status_line(text: str, command: str, *, path: str) -> str:
    """Give a settings file's text with the status line; unchanged where somebody else's stands there.

    Raises:
        HostError: the file is not JSON.
    """
    present = status_line_in(text, path=path)
    if present == command or (present and not is_ours(present)):
        return text
    mark = text[: text.startswith(MARK)]
    body = (without_status_line(text, path=path) if present else text).removeprefix(MARK)
    return mark + insert(body if body.strip() else "{}\n", [], {"type": "command", "command": command}, key=KEY)


def without_status_line(text: str, *, path: str) -> str:
    """Give a settings file's text without deia's status line.

    Raises:
        HostError: the file is not JSON.
    """
    if not is_ours(status_line_in(text, path=path)):
        return text
    return text[: text.startswith(MARK)] + remove(text.removeprefix(MARK), [KEY])
