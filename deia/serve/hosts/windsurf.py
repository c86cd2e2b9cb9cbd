"""Windsurf Cascade's command hooks: its actions in; a hold out, by exit code 2 and its reason on standard error.

Source: docs.windsurf.com/windsurf/cascade/hooks (read 2026-11), with which the documents of hookshot agree. Only that
reason reaches the model, and a hook is not sent what a command printed. The injection for a prompt waits for the next
action and holds it, but only if its trigger holds or asks.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.serve.hosts.event import BEFORE, Dialect, Occasion, decoded, mapping_of, text_of

if TYPE_CHECKING:
    from deia.fast_json import Json
    from deia.serve.hosts.delivery_form import Said

NAME = "agent_action_name"
DIALECT = Dialect(
    moments={
        "pre_user_prompt": "prompt",
        "pre_run_command": "before_tool",
        "pre_write_code": "before_tool",
        "pre_read_code": "before_tool",
        "pre_mcp_tool_use": "before_tool",
        "post_run_command": "after_tool",
        "post_mcp_tool_use": "after_tool",
        "post_cascade_response": "stop",
    },
    event=NAME,
    conversation=("trajectory_id",),
    prompt="user_prompt",
    reply="response",
    output=("mcp_result", "output", "stdout"),
)
CARRIES = {"before_tool": {"hold": BEFORE}}
TOOLS = {"run_command": "run_command", "write_code": "edit_file", "read_code": "read_file"}


def read_event(event: Json) -> Occasion | None:
    """Return what an event is about, or None if there is nothing to watch."""
    fields = mapping_of(event)
    action = text_of(fields.get(NAME)).partition("_")[2]
    info = mapping_of(fields.get("tool_info"))
    tool, tool_input = TOOLS.get(action, ""), info
    if action == "run_command":
        tool_input = {"command": text_of(info.get("command_line"))}
    if action == "mcp_tool_use":
        tool = f"mcp__{text_of(info.get('mcp_server_name'))}__{text_of(info.get('mcp_tool_name'))}"
        tool_input = mapping_of(decoded(info.get("mcp_tool_arguments")))
    folder = text_of(info.get("cwd")) or fields.get("cwd")
    known = {NAME: fields.get(NAME), "cwd": folder, "tool_name": tool, "tool_input": tool_input}
    return DIALECT.read({**fields, **info, **known})


def write_answer(occasion: Occasion, message: Said) -> bytes | None:
    """Return the reason of a hold, for standard error, or None if the call passes."""
    return message.hold.encode("utf-8", "replace") if message.hold and occasion.moment == "before_tool" else None
