"""Gemini CLI's command hooks: agent and tool events in, a decision or context out.

Source: google-gemini/gemini-cli @5411f113 docs/hooks/reference.md and packages/core/src/hooks/types.ts (read in the
second half of 2026). Before a tool there is a decision, which cannot be a question, and no context; standard output
must be JSON alone; its settings count time in milliseconds.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.serve.hosts.event import BEFORE, NOTED, Dialect, Occasion, mapping_of

if TYPE_CHECKING:
    from deia.fast_json import Json
    from deia.serve.hosts.delivery_form import Said

DIALECT = Dialect(
    moments={
        "BeforeAgent": "prompt",
        "BeforeTool": "before_tool",
        "AfterTool": "after_tool",
        "AfterAgent": "stop",
        "SessionStart": "session",
    },
    reply="prompt_response",
    failed=lambda _, response: bool(mapping_of(response).get("error")),
    resets=("clear",),
)
CARRIES = dict.fromkeys(("prompt", "after_tool", "tool_error", "session"), NOTED) | {
    "before_tool": {"hold": BEFORE, "note": BEFORE},
}
read_event = DIALECT.read


def write_answer(occasion: Occasion, message: Said) -> dict[str, Json] | None:
    """Return the host's answer, or None if nothing is said."""
    answer: dict[str, Json] = {}
    if message.hold and occasion.moment == "before_tool":
        answer |= {"decision": "deny", "reason": message.hold}
    elif message.context:
        answer["hookSpecificOutput"] = {"additionalContext": message.context}
    if message.note:
        answer["systemMessage"] = message.note
    return answer or None
