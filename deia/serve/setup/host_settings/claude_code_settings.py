"""Adds to Claude Code's settings what only it has, and removes it: a status line, and warm hooks that ask a server.

Source: the host's own pages on status lines and hooks (read in the second half of 2026). `statusLine` is a command line
for a shell, which gets the conversation as JSON on standard input and whose first line of output is shown. Somebody
else's is kept.

Warm hooks ask the server at an address (`http`) or, if the session is connected with it anyway, through its tool
(`mcp_tool`). The command stays beside them, so that turns are watched while the server is not running; if an event
reaches both, the first to claim it answers. The start of a session has none, since no server is connected yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from deia.fast_json import Json
from deia.serve import statusline
from deia.serve.server.tool_schemas import HOOK, HOOK_EVENTS, PERSONS_TOOL
from deia.serve.setup.host_settings.command import CMD, POSIX, line, on_windows, words_of
from deia.serve.setup.host_settings.hook_file import ROOT
from deia.serve.setup.host_settings.hosts_table import BY_NAME, CLAUDE_CODE
from deia.serve.setup.host_settings.json_text import Path, insert, parse, prune, remove, with_containers
from deia.serve.setup.host_settings.launcher import STATUS_LINE, in_shell, is_launched, words_in_shell
from deia.serve.setup.host_settings.server_file import NAME

STATUS_KEY = "statusLine"
STATUS_FILE = "deia/serve/statusline.py"
SETUP = BY_NAME[CLAUDE_CODE]
EVENTS = SETUP.events
URL_PATH = f"/hooks/{CLAUDE_CODE}"
WARM = {event: hooked for event, hooked in EVENTS.items() if event != "SessionStart"}
VARIABLE = "DEIA_TOKEN"


def status_command(hook: Sequence[str], *, windows: bool | None = None) -> str:
    """Return the command line of the status line, which starts what the given hook command starts.

    On Windows either of two shells may read it, so it uses only what both read as plain words.
    """
    at = len(hook) - 1 - [*hook][::-1].index(CLAUDE_CODE)
    if is_launched(hook):
        return in_shell([*hook[:at], STATUS_LINE, *hook[at + 1 :]])
    words = [*hook[: at - 1], statusline.__file__, *hook[at + 1 :]]
    if on_windows() if windows is None else windows:
        return line([word.replace("\\", "/") for word in words], CMD)
    return line(words, POSIX)


def status_line_in(text: str, *, path: str) -> str:
    """Return the command of a settings file's status line, or the empty text if there is none."""
    settings: Json = parse(text, where=path)
    value = settings.get(STATUS_KEY) if isinstance(settings, dict) else None
    if value is None:
        return ""
    return str(value.get("command") or "a form that deia does not know") if isinstance(value, dict) else str(value)


def is_own_status_line(command: str) -> bool:
    """Return whether a status line is deia's, judged by the file that it runs."""
    words = (command, *words_of(command))
    return any(STATUS_FILE in word.replace("\\", "/") for word in words) or STATUS_LINE in words_in_shell(command)


def with_status_line(text: str, command: str, *, path: str) -> str:
    """Return a settings text with the status line; unchanged if it has somebody else's."""
    present = status_line_in(text, path=path)
    if present == command or (present and not is_own_status_line(present)):
        return text
    bare = without_status_line(text, path=path) if present else text
    return insert(with_containers(bare, []), [], {"type": "command", "command": command}, key=STATUS_KEY)


def without_status_line(text: str, *, path: str) -> str:
    """Return a settings text without deia's status line; raise HostError if the file is not JSON."""
    return remove(text, [STATUS_KEY]) if is_own_status_line(status_line_in(text, path=path)) else text


def asked_at(url: str, *, token: bool) -> dict[str, Json]:
    """Return, by event, the groups that ask a server at an address; of a token only the variable's name is written.

    Source: the host's hook reference (`headers` and `allowedEnvVars` since 2.1.63).
    """
    headers: dict[str, Json] = {"headers": {"Authorization": f"Bearer ${VARIABLE}"}, "allowedEnvVars": [VARIABLE]}
    entry = {"type": "http", "url": f"{url.rstrip('/')}{URL_PATH}", **(headers if token else {}), **SETUP.wait}
    return {event: {**hooked.group, "hooks": [entry]} for event, hooked in WARM.items()}


def asked_by_tool() -> dict[str, Json]:
    """Return, by event, the groups that call the tool `hook` of the server with which the session is connected.

    Source: the host's hook reference (`mcp_tool`, since 2.1.118). The host fills in only texts of `input`; it writes
    other values into them as JSON, and missing ones as nothing. What the person says goes only through the command,
    because a model can call the tool too and must not speak in the person's name.
    """
    return {event: _asking(event, fields) for event, fields in HOOK_EVENTS.items()}


def _asking(event: str, fields: Sequence[str]) -> dict[str, Json]:
    group = EVENTS[event].group
    if "tool_response" in fields and "matcher" in group:
        group["matcher"] = "|".join(name for name in EVENTS[event].matcher.split("|") if name != PERSONS_TOOL)
    arguments = {"hook_event_name": event, **{name: f"${{{name}}}" for name in fields}}
    entry: Json = {"type": "mcp_tool", "server": NAME, "tool": HOOK, "input": arguments, **SETUP.wait}
    return {**group, "hooks": [entry]}


def is_warm(entry: object) -> bool:
    """Return whether a hook asks a server of deia."""
    if not isinstance(entry, dict):
        return False
    by_tool = entry.get("type") == "mcp_tool" and (entry.get("server"), entry.get("tool")) == (NAME, HOOK)
    return by_tool or (entry.get("type") == "http" and str(entry.get("url", "")).endswith(URL_PATH))


def warm_entries(text: str, *, path: str) -> dict[str, Mapping[str, Json]]:
    """Return the hooks of a settings text that ask a server of deia, by event."""
    return {str(place[1]): entry for place, _, entry in _groups(text, path=path)}


def with_warm(text: str, wanted: Mapping[str, Json], *, path: str) -> str:
    """Return a settings text with one wanted group for every event; unchanged if it has them already."""
    present = [(place[1], group) for place, group, _ in _groups(text, path=path)]
    if sorted(map(repr, present)) == sorted(map(repr, wanted.items())):
        return text
    text = without_warm(text, path=path)
    for event, group in wanted.items():
        text = insert(with_containers(text, [ROOT, event], []), [ROOT, event], group)
    return text


def without_warm(text: str, *, path: str) -> str:
    """Return a settings text without the warm hooks, and without the lists and objects that this leaves empty."""
    while groups := list(_groups(text, path=path)):
        text = prune(text, groups[-1][0], steps=[1, 1], where=path)
    return text


def _groups(text: str, *, path: str) -> Iterator[tuple[Path, Mapping[str, Json], Mapping[str, Json]]]:
    """Yield the groups that hold only warm hooks, each behind its place and before its first hook."""
    settings = parse(text, where=path)
    hooks = settings.get(ROOT, {}) if isinstance(settings, dict) else {}
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for at, group in enumerate(groups) if isinstance(groups, list) else ():
            entries = group.get("hooks") if isinstance(group, dict) else None
            if isinstance(entries, list) and entries and all(map(is_warm, entries)):
                yield (ROOT, event, at), group, entries[0]
