"""The events that each host would send, for trying, measuring and testing hooks.

Written from the sources that the docstrings of the hosts' modules name, not from those modules, so that they can test
them. Nothing here runs in a hook.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from deia.fast_json import Json, dumps
from deia.records import Record

Event: TypeAlias = dict[str, Json]

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
    """What happens in a conversation, independent of the host's names for it."""

    moment: str
    text: str = ""  # the words, the command that is run, or its output
    conversation: str = "c1"
    folder: str = "/"
    mark: str = "m1"
    command: str = ""  # whose result `text` is


def sample(host: str, happening: Happening) -> Event | None:
    """Return the event that a host would send, or None if it has none for this moment.

    Raises:
        KeyError: the host is unknown.
    """
    return MAKERS[host](host, happening)


def _claude_shaped(host: str, happening: Happening) -> Event | None:
    event: Event = {
        "session_id": happening.conversation, "transcript_path": "/nowhere/t.jsonl", "cwd": happening.folder,
        "permission_mode": "default", "hook_event_name": CLAUDE_EVENTS[happening.moment],
    }  # fmt: skip
    if host == "codex":
        event |= {"model": "gpt-6"} | ({} if happening.moment == "session" else {"turn_id": happening.mark})
    if happening.moment == "session":
        return {**event, "source": "startup"}
    if happening.moment == "prompt":
        return {**event, "prompt": happening.text}
    if happening.moment == "stop":
        return {**event, "stop_hook_active": False, "last_assistant_message": happening.text}
    event |= {
        "tool_name": SHELL.get(host, "Bash"),
        "tool_input": {"command": _command(happening)},
        "tool_use_id": happening.mark,
    }
    if happening.moment == "before_tool":
        return event
    if happening.moment == "tool_error" and host != "codex":
        return {**event, "error": happening.text, "is_interrupt": False}
    failed = happening.moment == "tool_error"
    return {
        **event,
        "hook_event_name": "PostToolUse",
        "tool_response": {"output": happening.text, "exit_code": int(failed)},
    }


def _command(happening: Happening) -> str:
    return happening.text if happening.moment == "before_tool" else happening.command


def _copilot(host: str, happening: Happening) -> Event | None:
    event: Event = {"sessionId": happening.conversation, "timestamp": 1_760_000_000_000, "cwd": happening.folder}
    if happening.moment == "stop":
        return None
    if happening.moment == "session":
        return {**event, "source": "new"}
    if happening.moment == "prompt":
        return {**event, "prompt": happening.text, "transformedPrompt": happening.text or "…"}
    event |= {"toolName": SHELL[host], "toolArgs": dumps({"command": _command(happening)})}
    if happening.moment == "before_tool":
        return event
    if happening.moment == "tool_error":
        return {**event, "error": happening.text}
    return {**event, "toolResult": {"resultType": "success", "textResultForLlm": happening.text}}


def _gemini(host: str, happening: Happening) -> Event | None:
    event: Event = {
        "session_id": happening.conversation, "transcript_path": "/nowhere/t.json", "cwd": happening.folder,
        "hook_event_name": GEMINI_EVENTS[happening.moment], "timestamp": "2026-10-01T00:00:00Z",
    }  # fmt: skip
    if happening.moment == "session":
        return {**event, "source": "startup"}
    if happening.moment == "prompt":
        return {**event, "prompt": happening.text}
    if happening.moment == "stop":
        return {**event, "prompt": "", "prompt_response": happening.text, "stop_hook_active": False}
    event |= {"tool_name": SHELL[host], "tool_input": {"command": _command(happening)}}
    if happening.moment == "before_tool":
        return event
    failed = {"error": {"message": happening.text}} if happening.moment == "tool_error" else {}
    return {**event, "tool_response": {"llmContent": happening.text, "returnDisplay": happening.text, **failed}}


def _cursor(host: str, happening: Happening) -> Event | None:
    event: Event = {
        "conversation_id": happening.conversation, "generation_id": happening.mark, "cursor_version": "3.20.17",
        "hook_event_name": CURSOR_EVENTS[happening.moment], "workspace_roots": [happening.folder], "model": "composer",
        "user_email": "somebody@example.org",
    }  # fmt: skip
    if happening.moment == "session":
        return event
    if happening.moment == "prompt":
        return {**event, "prompt": happening.text, "attachments": []}
    if happening.moment == "stop":
        return {**event, "text": happening.text}
    event |= {"tool_name": SHELL[host], "tool_input": {"command": _command(happening)}, "tool_use_id": happening.mark}
    if happening.moment == "before_tool":
        return event
    if happening.moment == "tool_error":
        return {**event, "error_message": happening.text}
    return {**event, "tool_output": dumps({"output": happening.text})}


def _cline(host: str, happening: Happening) -> Event | None:
    names = {**CLAUDE_EVENTS, "session": "TaskStart", "tool_error": "PostToolUse"}
    event: Event = {
        "clineVersion": "3.40.0", "hookName": names[happening.moment], "timestamp": "1760000000000",
        "taskId": happening.conversation, "workspaceRoots": [happening.folder], "userId": "u1",
    }  # fmt: skip
    if happening.moment == "stop":
        return None
    if happening.moment == "session":
        return {**event, "taskStart": {"taskMetadata": {"taskId": happening.conversation}}}
    if happening.moment == "prompt":
        return {**event, "userPromptSubmit": {"prompt": happening.text, "attachments": []}}
    part: Event = {"toolName": SHELL[host], "parameters": {"command": _command(happening)}}
    if happening.moment == "before_tool":
        return {**event, "preToolUse": part}
    part |= {"result": happening.text, "success": happening.moment == "after_tool", "executionTimeMs": 1}
    return {**event, "postToolUse": part}


def _windsurf(_: str, happening: Happening) -> Event | None:
    if happening.moment not in WINDSURF_EVENTS:
        return None
    info: Event = {"command_line": _command(happening), "cwd": happening.folder}
    if happening.moment == "prompt":
        info = {"user_prompt": happening.text}
    if happening.moment == "stop":
        info = {"response": happening.text}
    if happening.moment == "after_tool":  # of a command it does not send the output, of an MCP tool it does
        info = {
            "mcp_server_name": "shell",
            "mcp_tool_name": "run",
            "mcp_tool_arguments": {"command": happening.command},
        }
        info["mcp_result"] = happening.text
    return {
        "agent_action_name": WINDSURF_EVENTS[happening.moment], "trajectory_id": happening.conversation,
        "execution_id": happening.mark, "timestamp": "2026-10-01T00:00:00Z", "cwd": happening.folder, "tool_info": info,
    }  # fmt: skip


def _kiro(host: str, happening: Happening) -> Event | None:
    if happening.moment not in KIRO_EVENTS:
        return None
    event: Event = {"hook_event_name": KIRO_EVENTS[happening.moment], "cwd": happening.folder}
    if happening.moment == "prompt":
        return {**event, "prompt": happening.text}
    if happening.moment == "session":
        return event
    event |= {"tool_name": SHELL[host], "tool_input": {"command": _command(happening)}}
    return (
        event
        if happening.moment == "before_tool"
        else {**event, "tool_response": {"success": True, "result": happening.text}}
    )


def _generic(host: str, happening: Happening) -> Event | None:
    if host == "amp" and happening.moment != "before_tool":
        return None  # its plugin sees nothing else
    if host == "opencode" and happening.moment in {"session", "stop"}:
        return None
    event: Event = {"event": "assistant" if happening.moment == "stop" else happening.moment}
    if host == "opencode" and happening.moment == "tool_error":
        event = {"event": "after_tool", "failed": True}  # its only hook after a tool sees the exit code
    event |= {"conversation": happening.conversation, "folder": happening.folder, "id": happening.mark}
    if happening.moment == "session":
        return event
    if happening.moment in {"prompt", "stop"}:
        return {**event, "text": happening.text}
    tool_call: Event = {"tool": SHELL.get(host, "Bash"), "input": {"command": _command(happening)}}
    return {**event, **tool_call, **({} if happening.moment == "before_tool" else {"text": happening.text})}


MAKERS: Mapping[str, Callable[[str, Happening], Event | None]] = {
    "claude-code": _claude_shaped, "codex": _claude_shaped, "vscode": _claude_shaped, "droid": _claude_shaped,
    "copilot": _copilot, "gemini": _gemini, "cursor": _cursor, "cline": _cline, "windsurf": _windsurf, "kiro": _kiro,
    "opencode": _generic, "amp": _generic, "generic": _generic,
}  # fmt: skip
