"""Claude Code's hooks that ask a running server, beside the command that needs none: entered and taken out.

A server is asked at an address (`http`) or, where the session is connected with it anyway, by a tool of its own
(`mcp_tool`). The command stays, so that nothing goes unwatched while the server is away; of an event that reaches both,
the first to claim it speaks. Refuses to enter the start of a session, at which no server is connected yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deia.serve.hosts.claude_events import EVENTS, HOST, TIMEOUT
from deia.serve.server.host_blocks import NAME
from deia.serve.server.tool_schemas import HOOK, HOOK_EVENTS, PERSONS_TOOL
from deia.serve.setup.host_settings.hook_file import ROOT, body_of
from deia.serve.setup.host_settings.json_text import find, insert, parse, remove

ENDS = f"/hooks/{HOST}"
WARM = {event: said for event, said in EVENTS.items() if event != "SessionStart"}
VARIABLE = "DEIA_TOKEN"


def asked_at(url: str, *, token: bool) -> dict[str, Any]:
    """Give, by event, the groups that ask a server at an address; a token is named by its variable, never written down.

    Source: the host's hook reference (`headers` and `allowedEnvVars` since 2.1.63).
    """
    shown = {"headers": {"Authorization": f"Bearer ${VARIABLE}"}, "allowedEnvVars": [VARIABLE]} if token else {}
    entry = {"type": "http", "url": f"{url.rstrip('/')}{ENDS}", **shown, "timeout": TIMEOUT}
    return {event: {**said[0], "hooks": [entry]} for event, said in WARM.items()}


def asked_by_tool() -> dict[str, Any]:
    """Give, by event, the groups that call the tool `hook` of the server with which the session is connected.

    Source: the host's hook reference (`mcp_tool`, since 2.1.118). Texts of `input` alone are filled in; what is no text
    is written into them as JSON, and what an event lacks as nothing. What the person says goes by the command alone:
    a model can call the tool too, and shall not speak in the person's name.
    """
    return {event: _asking(event, fields) for event, fields in HOOK_EVENTS.items()}


def _asking(event: str, fields: Sequence[str]) -> dict[str, Any]:
    group = dict(EVENTS[event][0])
    if "tool_response" in fields and "matcher" in group:
        group["matcher"] = "|".join(name for name in group["matcher"].split("|") if name != PERSONS_TOOL)
    given = {"hook_event_name": event, **{name: f"${{{name}}}" for name in fields}}
    entry = {"type": "mcp_tool", "server": NAME, "tool": HOOK, "input": given, "timeout": TIMEOUT}
    return {**group, "hooks": [entry]}


def is_warm(entry: Any) -> bool:
    """Say whether a hook asks a server of deia's."""
    if not isinstance(entry, dict):
        return False
    by_tool = entry.get("type") == "mcp_tool" and (entry.get("server"), entry.get("tool")) == (NAME, HOOK)
    return by_tool or (entry.get("type") == "http" and str(entry.get("url", "")).endswith(ENDS))


def warm_entries(text: str, *, path: str) -> dict[str, Any]:
    """Give the hooks of a settings text that ask a server of deia's, by event.

    Raises:
        HostError: the file is not JSON.
    """
    return {str(place[1]): group["hooks"][0] for place, group in _groups(text, path=path)}


def with_warm(text: str, wanted: Mapping[str, Any], *, path: str) -> str:
    """Give a settings text with a group entered for every event, once; unchanged where they stand there already.

    Raises:
        HostError: the file is not JSON.
    """
    present = [(place[1], group) for place, group in _groups(text, path=path)]
    if sorted(map(repr, present)) == sorted(map(repr, wanted.items())):
        return text
    text = without_warm(text, path=path)
    mark, body = text[: text.startswith("\ufeff")], body_of(text) or "{}\n"
    if find(body, [ROOT]) < 0:
        body = insert(body, [], {}, key=ROOT)
    for event, group in wanted.items():
        if find(body, [ROOT, event]) < 0:
            body = insert(body, [ROOT], [], key=event)
        body = insert(body, [ROOT, event], group)
    return mark + body


def without_warm(text: str, *, path: str) -> str:
    """Give a settings text without the hook, and without the lists and objects that this leaves empty.

    Raises:
        HostError: the file is not JSON.
    """
    mark, body = text[: text.startswith("\ufeff")], body_of(text)
    while found := list(_groups(body, path=path)):
        place = list(found[-1][0])
        settings = parse(body, where=path)
        if len(settings[ROOT][place[1]]) == 1:
            place = place[:2] if len(settings[ROOT]) > 1 else place[:1]
        body = remove(body, place)
    return mark + body if body else text


def _groups(text: str, *, path: str) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield the groups that hold nothing but this hook, each with its place."""
    body = body_of(text)
    settings = parse(body, where=path) if body else {}
    hooks = settings.get(ROOT, {}) if isinstance(settings, dict) else {}
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for at, group in enumerate(groups) if isinstance(groups, list) else ():
            entries = group.get("hooks") if isinstance(group, dict) else None
            if isinstance(entries, list) and entries and all(map(is_warm, entries)):
                yield (ROOT, event, at), group
