"""Claude Code's hooks that ask a running server, beside the command that needs none: entered and taken out.

The command stays, so that nothing goes unwatched while the server is away; of an event that reaches both, the first to
claim it speaks. Refuses to enter the start of a session, which the host lets only commands hear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deia.serve.hosts.claude_settings import EVENTS, HOST, TIMEOUT
from deia.serve.hosts.settings.hook_file import ROOT, body_of
from deia.serve.json_edit import find, insert, parse, remove

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ENDS = f"/hooks/{HOST}"
WARM = {event: said for event, said in EVENTS.items() if event != "SessionStart"}
VARIABLE = "DEIA_TOKEN"


def warm_entry(url: str, *, token: bool) -> dict[str, Any]:
    """Give the hook that asks a server at an address; a token is named by its variable, never written down.

    Source: the host's hook reference (`headers` and `allowedEnvVars` since 2.1.63).
    """
    shown = {"headers": {"Authorization": f"Bearer ${VARIABLE}"}, "allowedEnvVars": [VARIABLE]} if token else {}
    return {"type": "http", "url": f"{url.rstrip('/')}{ENDS}", **shown, "timeout": TIMEOUT}


def is_warm(entry: Any) -> bool:
    """Say whether a hook asks a server of deia's."""
    return isinstance(entry, dict) and entry.get("type") == "http" and str(entry.get("url", "")).endswith(ENDS)


def with_warm(text: str, entry: Mapping[str, Any], *, path: str) -> str:
    """Give a settings text with the hook entered for every event, once; unchanged where it stands there already.

    Raises:
        HostError: the file is not JSON.
    """
    wanted = {event: {**said[0], "hooks": [dict(entry)]} for event, said in WARM.items()}
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
