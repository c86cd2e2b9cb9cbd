"""Windsurf Cascade's command hooks: its actions in; a hold out, by exit code 2 and its reason on standard error.

Source: docs.windsurf.com/windsurf/cascade/hooks (read 2026-11), with which the documents of hookshot agree. What
matters: nothing else reaches the model, and what a command printed is not among what its hook is told. What is
recognised in a prompt waits for the next action and holds that, and only if its trigger holds or asks.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.serve.hosts.event import BEFORE, Occasion, call, decoded, folder_of, mapping_of, result, text_of

if TYPE_CHECKING:
    from typing import Any

    from deia.serve.hosts.delivery_form import Said

MOMENTS = {
    "pre_user_prompt": "prompt",
    "pre_run_command": "before_tool",
    "pre_write_code": "before_tool",
    "pre_read_code": "before_tool",
    "pre_mcp_tool_use": "before_tool",
    "post_run_command": "after_tool",
    "post_mcp_tool_use": "after_tool",
    "post_cascade_response": "stop",
}
CARRIES = {"before_tool": {"hold": BEFORE}}
TOOLS = {"run_command": "run_command", "write_code": "edit_file", "read_code": "read_file"}


def read_event(event: Any) -> Occasion | None:
    """Give what an event is about, or None where there is nothing to watch."""
    name = text_of(mapping_of(event).get("agent_action_name"))
    moment = MOMENTS.get(name)
    if moment is None:
        return None
    info = mapping_of(event.get("tool_info"))
    turn = _turn(name, moment, info)
    return Occasion(
        event=name,
        moment="tool_error" if turn.failed else moment,
        conversation=text_of(event.get("trajectory_id")) or "unnamed",
        folder=folder_of(info.get("cwd")) or folder_of(event.get("cwd")),
        turn=turn,
        carries=moment == "before_tool",
    )


def _turn(name: str, moment: str, info: dict[str, Any]) -> Turn:
    if moment == "prompt":
        return Turn(role="user", text=text_of(info.get("user_prompt")))
    if moment == "stop":
        return Turn(role="assistant", text=text_of(info.get("response")))
    action = name.partition("_")[2]
    tool, given = TOOLS.get(action, ""), info
    if action == "run_command":
        given = {"command": text_of(info.get("command_line"))}
    if action == "mcp_tool_use":
        tool = f"mcp__{text_of(info.get('mcp_server_name'))}__{text_of(info.get('mcp_tool_name'))}"
        given = mapping_of(decoded(info.get("mcp_tool_arguments")))
    if moment == "before_tool":
        return call(tool, given)
    return result(tool, given, info.get("mcp_result") or info.get("output") or info.get("stdout"))


def write_answer(occasion: Occasion, said: Said) -> bytes | None:
    """Give the reason of a hold, for standard error, or None where the call passes."""
    return said.hold.encode("utf-8", "replace") if said.hold and occasion.moment == "before_tool" else None
