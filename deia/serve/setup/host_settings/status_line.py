"""Adds deia's status line to Claude Code's settings and removes it; somebody else's status line is kept.

Source: the host's own page on status lines (read in the second half of 2026): `statusLine` is a command line for a
shell, which gets the conversation as JSON on standard input and whose first line of output is shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from deia.fast_json import Json
from deia.serve import statusline
from deia.serve.setup.host_settings.command import CMD, POSIX, line, on_windows, words_of
from deia.serve.setup.host_settings.json_text import insert, parse, remove, with_containers
from deia.serve.setup.host_settings.launcher import STATUS_LINE, in_shell, is_launched, words_in_shell

HOST = "claude-code"
KEY = "statusLine"
FILE = "deia/serve/statusline.py"


def status_command(hook: Sequence[str], *, windows: bool | None = None) -> str:
    """Return the command line of the status line, which starts what the given hook command starts.

    On Windows either of two shells may read it, so it uses only what both read as plain words.
    """
    at = len(hook) - 1 - [*hook][::-1].index(HOST)
    if is_launched(hook):
        return in_shell([*hook[:at], STATUS_LINE, *hook[at + 1 :]])
    words = [*hook[: at - 1], statusline.__file__, *hook[at + 1 :]]
    if on_windows() if windows is None else windows:
        return line([word.replace("\\", "/") for word in words], CMD)
    return line(words, POSIX)


def status_line_in(text: str, *, path: str) -> str:
    """Return the command of a settings file's status line, or the empty text if there is none."""
    settings: Json = parse(text, where=path)
    value = settings.get(KEY) if isinstance(settings, dict) else None
    if value is None:
        return ""
    return str(value.get("command") or "a form that deia does not know") if isinstance(value, dict) else str(value)


def is_ours(command: str) -> bool:
    """Return whether a status line is deia's, judged by the file that it runs."""
    words = (command, *words_of(command))
    return any(FILE in word.replace("\\", "/") for word in words) or STATUS_LINE in words_in_shell(command)


def with_status_line(text: str, command: str, *, path: str) -> str:
    """Return a settings text with the status line; unchanged if it has somebody else's."""
    present = status_line_in(text, path=path)
    if present == command or (present and not is_ours(present)):
        return text
    bare = without_status_line(text, path=path) if present else text
    return insert(with_containers(bare, []), [], {"type": "command", "command": command}, key=KEY)


def without_status_line(text: str, *, path: str) -> str:
    """Return a settings text without deia's status line; raise HostError if the file is not JSON."""
    return remove(text, [KEY]) if is_ours(status_line_in(text, path=path)) else text
