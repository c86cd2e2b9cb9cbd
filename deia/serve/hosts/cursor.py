"""Cursor's command hooks: its own events in, a permission or context out.

Source: DietrichGebert/ponytail docs/cursor-hooks.md, a reading of Cursor 3.20.17 (2026-09-14); the documents of cupcake
and cursor-supermemory. What matters: context at a prompt is not documented, so what is recognised there waits for the
first tool result; a call passes postToolUse and, of a shell or an MCP server, an event of its own besides, which
carries nothing; Cursor runs the hooks of Claude's settings too, so an event may arrive twice.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.serve.hosts.event import (
    BEFORE,
    EVENT,
    Occasion,
    call,
    decoded,
    first_text,
    folder_of,
    mapping_of,
    result,
    text_of,
)

if TYPE_CHECKING:
    from typing import Any

    from deia.serve.hosts.delivery_form import Said

MOMENTS = {
    "beforeSubmitPrompt": "prompt",
    "preToolUse": "before_tool",
    "beforeShellExecution": "before_tool",
    "beforeMCPExecution": "before_tool",
    "postToolUse": "after_tool",
    "postToolUseFailure": "tool_error",
    "afterShellExecution": "after_tool",
    "afterMCPExecution": "after_tool",
    "afterAgentResponse": "stop",
    "sessionStart": "session",
}
MUTE = frozenset(("beforeSubmitPrompt", "afterShellExecution", "afterMCPExecution", "afterAgentResponse"))
CARRIES = {
    "before_tool": {"hold": BEFORE, "ask": BEFORE, "note": BEFORE},
    "after_tool": {"context": BEFORE},
    "session": {"context": BEFORE},
}


def read_event(event: Any) -> Occasion | None:
    """Give what an event is about, or None where there is nothing to watch."""
    name = text_of(mapping_of(event).get(EVENT))
    moment = MOMENTS.get(name)
    if moment is None:
        return None
    turn = _turn(name, moment, event)
    return Occasion(
        event=name,
        moment="tool_error" if turn is not None and turn.failed else moment,
        conversation=first_text(event, "conversation_id", "session_id") or "unnamed",
        folder=folder_of(event.get("workspace_roots")) or folder_of(event.get("cwd")),
        turn=turn,
        carries=name not in MUTE,
        mark=first_text(event, "tool_use_id", *(("generation_id",) if moment == "prompt" else ())),
    )


def _turn(name: str, moment: str, event: dict[str, Any]) -> Turn | None:
    if moment == "session":
        return None
    if moment == "prompt":
        return Turn(role="user", text=text_of(event.get("prompt")))
    if moment == "stop":
        return Turn(role="assistant", text=text_of(event.get("text")))
    # A shell call has one name in all events, so that the same call is known when it comes again.
    tool = "Shell" if "ShellExecution" in name else text_of(event.get("tool_name"))
    given = decoded(event.get("tool_input"))
    if "ShellExecution" in name:
        given = {"command": text_of(event.get("command"))}
    if moment == "before_tool":
        return call(tool, given)
    output = first_text(event, "tool_output", "output", "result_json", "error_message")
    return result(tool, given, output or event.get("tool_output"), failed=moment == "tool_error")


def write_answer(occasion: Occasion, said: Said) -> dict[str, Any] | None:
    """Give the host's answer, or None where nothing is said."""
    if occasion.moment != "before_tool":
        return {"additional_context": said.context} if said.context else None
    answer: dict[str, Any] = {}
    if said.hold:
        answer = {"permission": "deny", "agent_message": said.hold}
    elif said.ask:
        answer = {"permission": "ask", "user_message": said.ask}
    if answer and said.note:
        answer["user_message"] = f"{said.ask} {said.note}".strip()
    return answer or None
