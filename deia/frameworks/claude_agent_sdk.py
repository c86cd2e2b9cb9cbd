"""The Claude Agent SDK: hook callbacks in the program itself, where no process is started for an event.

    options = ClaudeAgentOptions(hooks=hooks_of(Librarian()))

Read from claude-agent-sdk 0.2.186. Only there is added context read before the act at a prompt and after a tool; so a
call is held by denying it once. A callback that takes too long blocks a call: ten seconds are given, a turn takes
milliseconds. Refuses events that it does not know, by saying nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deia.frameworks.missing_extra import need
from deia.frameworks.session import Ear

need("claude_agent_sdk", extra="claude-agent-sdk")

from claude_agent_sdk import HookMatcher  # noqa: E402 - only once it is known to be there

if TYPE_CHECKING:
    from deia.librarian import Librarian

EVENTS = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure")
TIMEOUT = 10.0  # seconds


def hooks_of(librarian: Librarian | None = None, *, folder: str | None = None) -> dict[Any, list[HookMatcher]]:
    """Give the hooks to put into `ClaudeAgentOptions(hooks=…)`."""
    ear = Ear(librarian, folder=folder)

    async def heard(event: Any, _tool_use_id: str | None, _context: Any) -> Any:
        """Answer an event of the agent's loop."""
        return await _answer(ear, event)

    return {name: [HookMatcher(hooks=[heard], timeout=TIMEOUT)] for name in EVENTS}


async def _answer(ear: Ear, event: Any) -> dict[str, Any]:
    name, session = event.get("hook_event_name"), str(event.get("session_id") or "")
    if name == "PreToolUse":
        reason = await ear.arefuse(str(event.get("tool_name") or ""), event.get("tool_input"), session)
        return _specific(name, permissionDecision="deny", permissionDecisionReason=reason) if reason else {}
    if name == "UserPromptSubmit":
        text = await ear.ahear([{"role": "user", "content": event.get("prompt")}], session)
    elif name in EVENTS:
        failed = name == "PostToolUseFailure"
        result = event.get("error") if failed else _shown(event.get("tool_response"))
        await ear.anote(str(event.get("tool_name") or ""), result, session, failed=failed)
        text = ear.take(session)
    else:
        text = ""
    return _specific(name, additionalContext=text) if text else {}


def _specific(event: str, **fields: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def _shown(response: Any) -> Any:
    """Give the texts of a tool's answer, whatever its fields are called."""
    return [value for value in response.values() if isinstance(value, str)] if isinstance(response, dict) else response
