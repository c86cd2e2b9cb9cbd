"""The Claude Agent SDK: hook callbacks inside the program, so that no process is started for an event.

    options = ClaudeAgentOptions(hooks=hooks_of(Librarian()))

Written for claude-agent-sdk 0.2.186. The SDK reads added context only at a prompt and after a tool, so a call is held
by denying it once. A callback that takes too long blocks the call: the timeout is ten seconds, and a turn takes
milliseconds. Unknown events get an empty answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deia.fast_json import Json
from deia.frameworks.session import AgentSession, need
from deia.librarian import Librarian

need("claude_agent_sdk", extra="claude-agent-sdk")

from claude_agent_sdk import HookMatcher  # noqa: E402 - after the check that it is installed

EVENTS = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure")
TIMEOUT = 10.0  # seconds


def hooks_of(librarian: Librarian | None = None, *, folder: str | None = None) -> dict[Any, list[HookMatcher]]:
    """Return the hooks for `ClaudeAgentOptions(hooks=…)`."""
    session = AgentSession(librarian, folder=folder)

    async def answer(event: Mapping[str, object], _tool_use_id: str | None, _context: object) -> dict[str, Json]:
        return await _answer(session, event)

    return {name: [HookMatcher(hooks=[answer], timeout=TIMEOUT)] for name in EVENTS}


async def _answer(session: AgentSession, event: Mapping[str, object]) -> dict[str, Json]:
    name, conversation = str(event.get("hook_event_name")), str(event.get("session_id") or "")
    if name == "PreToolUse":
        reason = await session.acheck_call(str(event.get("tool_name") or ""), event.get("tool_input"), conversation)
        return _specific(name, permissionDecision="deny", permissionDecisionReason=reason) if reason else {}
    if name == "UserPromptSubmit":
        text = await session.awatch_messages([{"role": "user", "content": event.get("prompt")}], conversation)
    elif name in EVENTS:
        failed = name == "PostToolUseFailure"
        result = event.get("error") if failed else _texts(event.get("tool_response"))
        await session.awatch_result(str(event.get("tool_name") or ""), result, conversation, failed=failed)
        text = session.take_pending(conversation)
    else:
        text = ""
    return _specific(name, additionalContext=text) if text else {}


def _specific(event: str, **fields: str) -> dict[str, Json]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def _texts(response: object) -> object:
    """Return the texts in a tool's response, whatever its fields are called."""
    return [value for value in response.values() if isinstance(value, str)] if isinstance(response, dict) else response
