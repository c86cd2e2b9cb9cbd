"""Claude Code's command hooks, exactly as it documents them.

Source: the host's own hook reference for v2.1.240 (read 2026-08-22). Context that PreToolUse adds reaches the model
only after the tool ran, so a dangerous call is denied once instead; the reason of a denial is shown to the model, that
of a question only to the person; strings are cut at 10,000 characters; what a Stop hook says comes too late. Copilot
runs Claude's hooks too, with a name of its own for a tool's result.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.serve.hosts.event import BEFORE, LATE, NOTED, Dialect, Occasion

if TYPE_CHECKING:
    from deia.fast_json import Json
    from deia.serve.hosts.delivery_form import Said

DIALECT = Dialect(
    moments={
        "UserPromptSubmit": "prompt",
        "PreToolUse": "before_tool",
        "PostToolUse": "after_tool",
        "PostToolUseFailure": "tool_error",
        "Stop": "stop",
        "SubagentStop": "stop",
        "SessionStart": "session",
        "PreCompact": "compaction",
    },
    conversation=("session_id", "conversation_id", "sessionId"),
    reply="last_assistant_message",
    output=("tool_response", "tool_result"),
    mark=("tool_use_id", "prompt_id", "turn_id", "generation_id"),
    resets=("compact", "clear"),
)
CARRIES = dict.fromkeys(("prompt", "after_tool", "tool_error", "session"), NOTED) | {
    "before_tool": {"hold": BEFORE, "ask": BEFORE, "note": BEFORE, "context": LATE},
}
read_event = DIALECT.read


def write_answer(occasion: Occasion, message: Said) -> dict[str, Json] | None:
    """Return the host's answer, or None if nothing is said."""
    specific = {"hookEventName": occasion.event}
    if message.hold or message.ask:
        specific["permissionDecision"] = "deny" if message.hold else "ask"
        specific["permissionDecisionReason"] = message.hold or message.ask
    if message.context:
        specific["additionalContext"] = message.context
    answer: dict[str, Json] = {"hookSpecificOutput": specific} if len(specific) > 1 else {}
    if message.note:
        answer["systemMessage"] = message.note
    return answer or None
