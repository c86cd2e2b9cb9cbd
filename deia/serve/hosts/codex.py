"""OpenAI Codex CLI's command hooks: Claude's events, and answers of exactly the keys that it knows.

Source: openai/codex codex-rs/hooks/src/{schema.rs, engine/output_parser.rs} @0ea83813 and events/pre_tool_use.rs
@0082977 (read in the second half of 2026). What matters: an unknown key or `ask` makes the hook fail, and a failed hook
lets the command run; older versions refuse added context before a tool; so there a danger is held and nothing else is
said. A failed tool comes back through PostToolUse.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.serve.hosts.event import BEFORE, read_claude_shaped

if TYPE_CHECKING:
    from typing import Any

    from deia.serve.hosts.delivery_form import Said
    from deia.serve.hosts.event import Occasion

MOMENTS = {
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before_tool",
    "PostToolUse": "after_tool",
    "Stop": "stop",
    "SubagentStop": "stop",
    "SessionStart": "session",
}
CARRIES = {
    "prompt": {"context": BEFORE},
    "before_tool": {"hold": BEFORE},
    "after_tool": {"context": BEFORE},
    "tool_error": {"context": BEFORE},
    "session": {"context": BEFORE},
}


def read_event(event: Any) -> Occasion | None:
    """Give what an event is about, or None where there is nothing to watch."""
    return read_claude_shaped(event, MOMENTS)


def write_answer(occasion: Occasion, said: Said) -> dict[str, Any] | None:
    """Give the host's answer, or None where nothing is said."""
    specific = {"hookEventName": occasion.event}
    if said.hold:
        specific["permissionDecision"] = "deny"
        specific["permissionDecisionReason"] = said.hold
    elif said.context:
        specific["additionalContext"] = said.context
    return {"hookSpecificOutput": specific} if len(specific) > 1 else None
