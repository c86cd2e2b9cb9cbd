"""Claude Code's command hooks: its events read, its answers written, exactly as it documents them.

Source: the host's own hook reference for v2.1.240 (read 2026-08-22). What matters: added context of PreToolUse reaches
the model only after the tool ran, so a danger is held by denying the call once; the reason of a denial is shown to the
model, that of a question only to the person; strings are cut at 10,000 characters; a Stop hook's words come too late.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.serve.hosts.event import BEFORE, LATE, read_claude_shaped

if TYPE_CHECKING:
    from typing import Any

    from deia.serve.hosts.delivery_form import Said
    from deia.serve.hosts.event import Occasion

MOMENTS = {
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before_tool",
    "PostToolUse": "after_tool",
    "PostToolUseFailure": "tool_error",
    "Stop": "stop",
    "SubagentStop": "stop",
    "SessionStart": "session",
}
CARRIES = {
    "prompt": {"context": BEFORE, "note": BEFORE},
    "before_tool": {"hold": BEFORE, "ask": BEFORE, "note": BEFORE, "context": LATE},
    "after_tool": {"context": BEFORE, "note": BEFORE},
    "tool_error": {"context": BEFORE, "note": BEFORE},
    "session": {"context": BEFORE, "note": BEFORE},
}


def read_event(event: Any) -> Occasion | None:
    """Give what an event is about, or None where there is nothing to watch (an event of a later version, say)."""
    return read_claude_shaped(event, MOMENTS)


def write_answer(occasion: Occasion, said: Said) -> dict[str, Any] | None:
    """Give the host's answer, or None where nothing is said."""
    specific: dict[str, Any] = {"hookEventName": occasion.event}
    if said.hold or said.ask:
        specific["permissionDecision"] = "deny" if said.hold else "ask"
        specific["permissionDecisionReason"] = said.hold or said.ask
    if said.context:
        specific["additionalContext"] = said.context
    answer: dict[str, Any] = {"hookSpecificOutput": specific} if len(specific) > 1 else {}
    if said.note:
        answer["systemMessage"] = said.note
    return answer or None
