"""A host's hook events that come as calls of a tool: the fields that the host filled in, made an event again.

The answer is the started hook's, from the same memory, and `{}` where that would have printed nothing. Refuses every
word of the person: a model can call a tool, and shall not answer or mute in the person's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deia import fast_json
from deia.errors import QueryError
from deia.serve.hosts.claude_events import HOST
from deia.serve.server.hook_events import Hooks
from deia.serve.server.tool_schemas import HEARD, HOOK, PERSONS_TOOL

NOTHING = "{}"


def event_of(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Give the event that a host's template stands for, without what the host had nothing for.

    A field that an event lacks comes as nothing, or as the template's own text where a host leaves it standing.

    Raises:
        QueryError: it is no event that is heard this way.
    """
    fields = given or {}
    name = fields.get("hook_event_name")
    if not isinstance(name, str) or name not in HEARD:
        raise QueryError(f"{HOOK}: hook_event_name must be one of {', '.join(HEARD)}", fix="Only hooks call this.")
    filled = {key: fields[key] for key in HEARD[name] if fields.get(key) not in (None, "", f"${{{key}}}")}
    return {"hook_event_name": name, **filled}


async def heard(hooks: Hooks, given: Mapping[str, Any] | None) -> tuple[str, str]:
    """Give what the host reads as a hook's output, and how it went.

    Raises:
        QueryError: it is no event that is heard this way.
    """
    event = event_of(given)
    if event.get("tool_name") == PERSONS_TOOL and event["hook_event_name"] != "PreToolUse":
        return NOTHING, "silent"
    try:
        sent = fast_json.dumps(event).encode()
    except (RecursionError, ValueError) as error:
        raise QueryError(f"{HOOK}: a field cannot be read", fix="Only hooks call this.") from error
    answered = await hooks.answer(HOST, sent)
    return answered.body.decode("utf-8", "replace") or NOTHING, answered.outcome
