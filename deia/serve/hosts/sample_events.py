"""The events that each host would send for a moment: to try installed hooks, to measure and to test them.

Written from the same sources as the hosts' modules, whose docstrings name them. Nothing here runs in a hook.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deia.fast_json import dumps
from deia.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CLAUDE_EVENTS = {
    "prompt": "UserPromptSubmit", "before_tool": "PreToolUse", "after_tool": "PostToolUse",
    "tool_error": "PostToolUseFailure", "stop": "Stop", "session": "SessionStart",
}  # fmt: skip
GEMINI_EVENTS = {
    "prompt": "BeforeAgent", "before_tool": "BeforeTool", "after_tool": "AfterTool", "tool_error": "AfterTool",
    "stop": "AfterAgent", "session": "SessionStart",
}  # fmt: skip
CURSOR_EVENTS = {
    "prompt": "beforeSubmitPrompt", "before_tool": "preToolUse", "after_tool": "postToolUse",
    "tool_error": "postToolUseFailure", "stop": "afterAgentResponse", "session": "sessionStart",
}  # fmt: skip
WINDSURF_EVENTS = {
    "prompt": "pre_user_prompt", "before_tool": "pre_run_command", "after_tool": "post_mcp_tool_use",
    "stop": "post_cascade_response",
}  # fmt: skip
KIRO_EVENTS = {
    "prompt": "userPromptSubmit", "before_tool": "preToolUse", "after_tool": "postToolUse", "session": "agentSpawn",
}  # fmt: skip
SHELL = {"gemini": "run_shell_command", "cursor": "Shell", "copilot": "bash", "vscode": "run_in_terminal"} | {
    "cline": "execute_command", "droid": "Execute", "kiro": "execute_bash", "opencode": "bash",
}  # fmt: skip


class Happening(Record):
    """What happens in a conversation, whatever the host calls it."""

    moment: str
    text: str = ""  # what is said, the command that is run, or what it answered
    conversation: str = "c1"
    folder: str = "/"
    mark: str = "m1"
    command: str = ""  # of a result


def sample(host: str, happening: Happening) -> dict[str, Any] | None:
    """Give the event that a host would send, or None where it has none for this moment.

    Raises:
        KeyError: nobody knows the host.
    """
    return MAKERS[host](host, happening)


def _claude_shaped(host: str, what: Happening) -> dict[str, Any] | None:
    event: dict[str, Any] = {
        "session_id": what.conversation, "transcript_path": "/nowhere/t.jsonl", "cwd": what.folder,
        "permission_mode": "default", "hook_event_name": CLAUDE_EVENTS[what.moment],
    }  # fmt: skip
    if host == "codex":
        event |= {"model": "gpt-6"} | ({} if what.moment == "session" else {"turn_id": what.mark})
    if what.moment == "session":
        return {**event, "source": "startup"}
    if what.moment == "prompt":
        return {**event, "prompt": what.text}
    if what.moment == "stop":
        return {**event, "stop_hook_active": False, "last_assistant_message": what.text}
    event |= {"tool_name": SHELL.get(host, "Bash"), "tool_input": {"command": _command(what)}, "tool_use_id": what.mark}
    if what.moment == "before_tool":
        return event
    if what.moment == "tool_error" and host != "codex":
        return {**event, "error": what.text, "is_interrupt": False}
    failed = what.moment == "tool_error"
    return {**event, "hook_event_name": "PostToolUse", "tool_response": {"output": what.text, "exit_code": int(failed)}}


def _command(what: Happening) -> str:
    return what.text if what.moment == "before_tool" else what.command


def _copilot(host: str, what: Happening) -> dict[str, Any] | None:
    event: dict[str, Any] = {"sessionId": what.conversation, "timestamp": 1_760_000_000_000, "cwd": what.folder}
    if what.moment == "stop":
        return None
    if what.moment == "session":
        return {**event, "source": "new"}
    if what.moment == "prompt":
        return {**event, "prompt": what.text, "transformedPrompt": what.text or "…"}
    event |= {"toolName": SHELL[host], "toolArgs": dumps({"command": _command(what)})}
    if what.moment == "before_tool":
        return event
    if what.moment == "tool_error":
        return {**event, "error": what.text}
    return {**event, "toolResult": {"resultType": "success", "textResultForLlm": what.text}}


def _gemini(host: str, what: Happening) -> dict[str, Any] | None:
    event: dict[str, Any] = {
        "session_id": what.conversation, "transcript_path": "/nowhere/t.json", "cwd": what.folder,
        "hook_event_name": GEMINI_EVENTS[what.moment], "timestamp": "2026-10-01T00:00:00Z",
    }  # fmt: skip
    if what.moment == "session":
        return {**event, "source": "startup"}
    if what.moment == "prompt":
        return {**event, "prompt": what.text}
    if what.moment == "stop":
        return {**event, "prompt": "", "prompt_response": what.text, "stop_hook_active": False}
    event |= {"tool_name": SHELL[host], "tool_input": {"command": _command(what)}}
    if what.moment == "before_tool":
        return event
    failed = {"error": {"message": what.text}} if what.moment == "tool_error" else {}
    return {**event, "tool_response": {"llmContent": what.text, "returnDisplay": what.text, **failed}}


def _cursor(host: str, what: Happening) -> dict[str, Any] | None:
    event: dict[str, Any] = {
        "conversation_id": what.conversation, "generation_id": what.mark, "cursor_version": "3.20.17",
        "hook_event_name": CURSOR_EVENTS[what.moment], "workspace_roots": [what.folder], "model": "composer",
        "user_email": "somebody@example.org",
    }  # fmt: skip
    if what.moment == "session":
        return event
    if what.moment == "prompt":
        return {**event, "prompt": what.text, "attachments": []}
    if what.moment == "stop":
        return {**event, "text": what.text}
    event |= {"tool_name": SHELL[host], "tool_input": {"command": _command(what)}, "tool_use_id": what.mark}
    if what.moment == "before_tool":
        return event
    if what.moment == "tool_error":
        return {**event, "error_message": what.text}
    return {**event, "tool_output": dumps({"output": what.text})}


def _cline(host: str, what: Happening) -> dict[str, Any] | None:
    names = {**CLAUDE_EVENTS, "session": "TaskStart", "tool_error": "PostToolUse"}
    event: dict[str, Any] = {
        "clineVersion": "3.40.0", "hookName": names[what.moment], "timestamp": "1760000000000",
        "taskId": what.conversation, "workspaceRoots": [what.folder], "userId": "u1",
    }  # fmt: skip
    if what.moment == "stop":
        return None
    if what.moment == "session":
        return {**event, "taskStart": {"taskMetadata": {"taskId": what.conversation}}}
    if what.moment == "prompt":
        return {**event, "userPromptSubmit": {"prompt": what.text, "attachments": []}}
    part: dict[str, Any] = {"toolName": SHELL[host], "parameters": {"command": _command(what)}}
    if what.moment == "before_tool":
        return {**event, "preToolUse": part}
    part |= {"result": what.text, "success": what.moment == "after_tool", "executionTimeMs": 1}
    return {**event, "postToolUse": part}


def _windsurf(_: str, what: Happening) -> dict[str, Any] | None:
    if what.moment not in WINDSURF_EVENTS:
        return None
    info: dict[str, Any] = {"command_line": _command(what), "cwd": what.folder}
    if what.moment == "prompt":
        info = {"user_prompt": what.text}
    if what.moment == "stop":
        info = {"response": what.text}
    if what.moment == "after_tool":  # a command's result is told without what it printed, an MCP tool's is not
        info = {"mcp_server_name": "shell", "mcp_tool_name": "run", "mcp_tool_arguments": {"command": what.command}}
        info["mcp_result"] = what.text
    return {
        "agent_action_name": WINDSURF_EVENTS[what.moment], "trajectory_id": what.conversation,
        "execution_id": what.mark, "timestamp": "2026-10-01T00:00:00Z", "cwd": what.folder, "tool_info": info,
    }  # fmt: skip


def _kiro(host: str, what: Happening) -> dict[str, Any] | None:
    if what.moment not in KIRO_EVENTS:
        return None
    event: dict[str, Any] = {"hook_event_name": KIRO_EVENTS[what.moment], "cwd": what.folder}
    if what.moment == "prompt":
        return {**event, "prompt": what.text}
    if what.moment == "session":
        return event
    event |= {"tool_name": SHELL[host], "tool_input": {"command": _command(what)}}
    return event if what.moment == "before_tool" else {**event, "tool_response": {"success": True, "result": what.text}}


def _generic(host: str, what: Happening) -> dict[str, Any] | None:
    if host == "amp" and what.moment != "before_tool":
        return None  # its plugin sees nothing else
    if host == "opencode" and what.moment in {"session", "stop"}:
        return None
    event: dict[str, Any] = {"event": "assistant" if what.moment == "stop" else what.moment}
    if host == "opencode" and what.moment == "tool_error":
        event = {"event": "after_tool", "failed": True}  # which its one hook after a tool tells by the exit code
    event |= {"conversation": what.conversation, "folder": what.folder, "id": what.mark}
    if what.moment == "session":
        return event
    if what.moment in {"prompt", "stop"}:
        return {**event, "text": what.text}
    called = {"tool": SHELL.get(host, "Bash"), "input": {"command": _command(what)}}
    return {**event, **called, **({} if what.moment == "before_tool" else {"text": what.text})}


MAKERS: Mapping[str, Callable[[str, Happening], dict[str, Any] | None]] = {
    "claude-code": _claude_shaped, "codex": _claude_shaped, "vscode": _claude_shaped, "droid": _claude_shaped,
    "copilot": _copilot, "gemini": _gemini, "cursor": _cursor, "cline": _cline, "windsurf": _windsurf, "kiro": _kiro,
    "opencode": _generic, "amp": _generic, "generic": _generic,
}  # fmt: skip
