"""Gemini CLI's command hooks: agent and tool events in, a decision or context out.

Source: google-gemini/gemini-cli @5411f113 docs/hooks/reference.md and packages/core/src/hooks/types.ts (read in the
second half of 2026). What matters: before a tool there is a decision and no context, and no question among the
decisions; standard output must be JSON alone; its settings count time in milliseconds.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.serve.hosts.event import BEFORE, EVENT, Occasion, call, decoded, folder_of, mapping_of, result, text_of

if TYPE_CHECKING:
    from typing import Any

    from deia.serve.hosts.delivery_form import Said

TIMEOUT = 5_000  # milliseconds, unlike other hosts
MOMENTS = {
    "BeforeAgent": "prompt",
    "BeforeTool": "before_tool",
    "AfterTool": "after_tool",
    "AfterAgent": "stop",
    "SessionStart": "session",
}
CARRIES = {
    "prompt": {"context": BEFORE, "note": BEFORE},
    "before_tool": {"hold": BEFORE, "note": BEFORE},
    "after_tool": {"context": BEFORE, "note": BEFORE},
    "tool_error": {"context": BEFORE, "note": BEFORE},
    "session": {"context": BEFORE, "note": BEFORE},
}


def read_event(event: Any) -> Occasion | None:
    """Give what an event is about, or None where there is nothing to watch."""
    name = text_of(mapping_of(event).get(EVENT))
    moment = MOMENTS.get(name)
    if moment is None:
        return None
    turn = _turn(moment, event)
    return Occasion(
        event=name,
        moment="tool_error" if turn is not None and turn.failed else moment,
        conversation=text_of(event.get("session_id")) or "unnamed",
        folder=folder_of(event.get("cwd")),
        turn=turn,
        reset=text_of(event.get("source")) == "clear",
        carries=moment != "stop",
    )


def _turn(moment: str, event: dict[str, Any]) -> Turn | None:
    if moment == "session":
        return None
    if moment == "prompt":
        return Turn(role="user", text=text_of(event.get("prompt")))
    if moment == "stop":
        return Turn(role="assistant", text=text_of(event.get("prompt_response")))
    tool = text_of(event.get("tool_name"))
    given = decoded(event.get("tool_input"))
    if moment == "before_tool":
        return call(tool, given)
    response = event.get("tool_response")
    return result(tool, given, response, failed=bool(mapping_of(response).get("error")))


def write_answer(occasion: Occasion, said: Said) -> dict[str, Any] | None:
    """Give the host's answer, or None where nothing is said."""
    answer: dict[str, Any] = {}
    if said.hold and occasion.moment == "before_tool":
        answer |= {"decision": "deny", "reason": said.hold}
    elif said.context:
        answer["hookSpecificOutput"] = {"additionalContext": said.context}
    if said.note:
        answer["systemMessage"] = said.note
    return answer or None
