"""Lines of hosts that name an event instead of a role: Gemini CLI's recorded chats, and the events of Copilot CLI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Item = dict[str, Any]

GEMINI_ROLES = {"user": "user", "gemini": "assistant"}
COPILOT_ROLES = {"user.message": "user", "assistant.message": "assistant"}
COPILOT_RESULT = "tool.execution_complete"
COPILOT_KINDS = ("session.", "user.", "assistant.", "tool.", "hook.", "subagent.", "skill.", "system.", "abort")
FAILED = ("error", "cancelled")


def gemini_messages(item: Item) -> list[Item] | None:
    """Return the messages in an entry of a recorded chat of Gemini CLI: calls are in it, with their results."""
    kind = item.get("type")
    role = GEMINI_ROLES.get(kind) if isinstance(kind, str) else None
    if role is None or "content" not in item or "role" in item or "message" in item:
        return None
    messages: list[Item] = [{"role": role, "content": item["content"]}]
    calls = item.get("toolCalls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            messages += _with_result(call)
    return messages


def _with_result(call: Item) -> Iterator[Item]:
    identity = call.get("id")
    yield _call(identity, call.get("name"), call.get("args"))
    shown = call.get("resultDisplay")
    text = shown if isinstance(shown, str) else "\n".join(_outputs(call.get("result")))
    yield _result(identity, text, failed=call.get("status") in FAILED)


def _outputs(results: object) -> Iterator[str]:
    """Yield the outputs in the responses of a call."""
    for result in results if isinstance(results, list) else ():
        response = result.get("functionResponse") if isinstance(result, dict) else None
        values = response.get("response") if isinstance(response, dict) else None
        if isinstance(values, dict):
            yield from (value for name in ("output", "error") if isinstance(value := values.get(name), str))


def copilot_messages(item: Item) -> list[Item] | None:
    """Return the messages in an event of Copilot CLI; those of its own state are none."""
    kind, data = item.get("type"), item.get("data")
    if not isinstance(kind, str) or not isinstance(data, dict) or not kind.startswith(COPILOT_KINDS):
        return None
    if kind == COPILOT_RESULT:
        return [_result(data.get("toolCallId"), _content(data.get("result")), failed=data.get("success") is False)]
    if kind not in COPILOT_ROLES:
        return []
    messages: list[Item] = [{"role": COPILOT_ROLES[kind], "content": data.get("content", "")}]
    requests = data.get("toolRequests")
    return messages + [
        _call(request.get("toolCallId"), request.get("name"), request.get("arguments"))
        for request in (requests if isinstance(requests, list) else ())
        if isinstance(request, dict)
    ]


def _content(result: object) -> object:
    return result.get("content", "") if isinstance(result, Mapping) else ""


def _call(identity: object, name: object, tool_input: object) -> Item:
    block = {"type": "tool_use", "id": identity, "name": name if isinstance(name, str) else "", "input": tool_input}
    return {"role": "assistant", "content": [block]}


def _result(identity: object, content: object, *, failed: bool) -> Item:
    block = {"type": "tool_result", "tool_use_id": identity, "content": content, "is_error": failed}
    return {"role": "user", "content": [block]}
