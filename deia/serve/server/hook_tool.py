"""Hook events that arrive as calls of a tool: the fields that the host filled in, assembled into an event.

The answer is the same as the hook process would give, from the same memory, and `{}` if that would print nothing.
Events with the person's words are not accepted: a model can call a tool and must not speak for the person.
"""

from __future__ import annotations

from collections.abc import Mapping

from deia import fast_json
from deia.errors import QueryError
from deia.fast_json import Json
from deia.serve.server.hook_events import Hooks
from deia.serve.server.tool_schemas import HOOK, HOOK_EVENTS, PERSONS_TOOL

HOST = "claude-code"  # the host whose hooks can call a tool
NO_OUTPUT = "{}"


def event_of(arguments: Mapping[str, Json] | None) -> dict[str, Json]:
    """Return the event for which a host filled in its template, without the fields that it had no value for.

    Such a field is empty or, with some hosts, contains the template's own placeholder. Raise QueryError if events of
    this name are not accepted.
    """
    fields = arguments or {}
    name = fields.get("hook_event_name")
    if not isinstance(name, str) or name not in HOOK_EVENTS:
        names = ", ".join(HOOK_EVENTS)
        raise QueryError(f"{HOOK}: hook_event_name must be one of {names}", fix="Only hooks call this tool.")
    present = {key: fields[key] for key in HOOK_EVENTS[name] if fields.get(key) not in (None, "", f"${{{key}}}")}
    return {"hook_event_name": name, **present}


async def answer_hook(hooks: Hooks, arguments: Mapping[str, Json] | None) -> tuple[str, str]:
    """Return what the host reads as the hook's output, and the outcome."""
    event = event_of(arguments)
    if event.get("tool_name") == PERSONS_TOOL and event["hook_event_name"] != "PreToolUse":
        return NO_OUTPUT, "silent"
    try:
        encoded = fast_json.dumps(event).encode()
    except (RecursionError, ValueError) as error:
        raise QueryError(f"{HOOK}: a field cannot be read", fix="Only hooks call this tool.") from error
    answer = await hooks.answer(HOST, encoded)
    return answer.body.decode("utf-8", "replace") or NO_OUTPUT, answer.outcome
