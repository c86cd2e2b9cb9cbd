"""Cursor's command hooks: its own events in, a permission or context out.

Source: DietrichGebert/ponytail docs/cursor-hooks.md, a reading of Cursor 3.20.17 (2026-09-14); the documents of cupcake
and cursor-supermemory. Context at a prompt is not documented, so what a prompt brings up waits for the first tool
result. A call of a shell or an MCP server raises postToolUse and an event of its own, which carries nothing. Cursor
runs the hooks of Claude's settings too, so an event may arrive twice.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.serve.hosts.event import BEFORE, CONTEXT, EVENT, Dialect, Occasion, mapping_of, text_of

if TYPE_CHECKING:
    from deia.fast_json import Json
    from deia.serve.hosts.delivery_form import Said

DIALECT = Dialect(
    moments={
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
    },
    conversation=("conversation_id", "session_id"),
    folder=("workspace_roots", "cwd"),
    reply="text",
    output=("tool_output", "output", "result_json", "error_message"),
    error="",
    mark=("tool_use_id",),
)
PROMPT = DIALECT.but(mark=("tool_use_id", "generation_id"))  # a generation has many calls, but one prompt
MUTE = frozenset(("afterShellExecution", "afterMCPExecution"))  # no answer to them is read
CARRIES = dict.fromkeys(("after_tool", "session"), CONTEXT) | {
    "before_tool": {"hold": BEFORE, "ask": BEFORE, "note": BEFORE},
}


def read_event(event: Json) -> Occasion | None:
    """Return what an event is about, or None if there is nothing to watch."""
    fields = mapping_of(event)
    name = text_of(fields.get(EVENT))
    if "ShellExecution" in name:  # a shell call has one name in all events, so that a second copy is recognised
        fields = {**fields, "tool_name": "Shell", "tool_input": {"command": text_of(fields.get("command"))}}
    occasion = (PROMPT if name == "beforeSubmitPrompt" else DIALECT).read(fields)
    return occasion.but(carries=False) if occasion is not None and name in MUTE else occasion


def write_answer(occasion: Occasion, message: Said) -> dict[str, str] | None:
    """Return the host's answer, or None if nothing is said."""
    if occasion.moment != "before_tool":
        return {"additional_context": message.context} if message.context else None
    answer = {}
    if message.hold:
        answer = {"permission": "deny", "agent_message": message.hold}
    elif message.ask:
        answer = {"permission": "ask", "user_message": message.ask}
    if answer and message.note:
        answer["user_message"] = f"{message.ask} {message.note}".strip()
    return answer or None
