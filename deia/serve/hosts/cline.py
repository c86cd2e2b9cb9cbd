"""Cline's hooks: executables of one event each in; a cancellation or a change of context out.

Source: cline/cline src/core/hooks/hook-factory.ts @06c798bc and docs.cline.bot/features/hooks/hook-reference (read
2026-11), which name every field that is read here; parameters are texts. What matters: context that is changed before a
tool counts from the model's next request on, so a danger is cancelled; a cancellation says why in two places.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.serve.hosts.event import BEFORE, LATE, Occasion, call, decoded, folder_of, mapping_of, result, text_of

if TYPE_CHECKING:
    from typing import Any

    from deia.serve.hosts.delivery_form import Said

MOMENTS = {
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before_tool",
    "PostToolUse": "after_tool",
    "TaskStart": "session",
    "TaskResume": "session",
}
PARTS = {"prompt": "userPromptSubmit", "before_tool": "preToolUse", "after_tool": "postToolUse"}
CARRIES = {
    "prompt": {"context": BEFORE},
    "before_tool": {"hold": BEFORE, "context": LATE},
    "after_tool": {"context": BEFORE},
    "tool_error": {"context": BEFORE},
    "session": {"context": BEFORE},
}


def read_event(event: Any) -> Occasion | None:
    """Give what an event is about, or None where there is nothing to watch."""
    name = text_of(mapping_of(event).get("hookName"))
    moment = MOMENTS.get(name)
    if moment is None:
        return None
    turn = _turn(moment, mapping_of(event.get(PARTS.get(moment, ""))))
    return Occasion(
        event=name,
        moment="tool_error" if turn is not None and turn.failed else moment,
        conversation=text_of(event.get("taskId")) or "unnamed",
        folder=folder_of(event.get("workspaceRoots")),
        turn=turn,
    )


def _turn(moment: str, part: dict[str, Any]) -> Turn | None:
    if moment == "session":
        return None
    if moment == "prompt":
        return Turn(role="user", text=text_of(part.get("prompt")))
    tool = text_of(part.get("toolName")) or text_of(part.get("tool"))
    given = decoded(part.get("parameters"))
    if moment == "before_tool":
        return call(tool, given)
    return result(tool, given, part.get("result"), failed=part.get("success") is False)


def write_answer(occasion: Occasion, said: Said) -> dict[str, Any] | None:
    """Give the host's answer, or None where nothing is said."""
    if said.hold and occasion.moment == "before_tool":
        return {"cancel": True, "errorMessage": said.hold, "contextModification": said.hold}
    return {"cancel": False, "contextModification": said.context} if said.context else None
