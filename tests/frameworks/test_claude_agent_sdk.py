"""The hooks as the SDK calls them, with its own options and types."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("claude_agent_sdk", reason="the extra is not installed; `python do.py frameworks` runs this")

from claude_agent_sdk import ClaudeAgentOptions, types
from claude_agent_sdk._internal.query import _convert_hook_output_for_cli

from deia.frameworks.claude_agent_sdk import hooks_of
from tests.frameworks.conftest import COMMAND, FIRED, RESULT, SAID, shown

if TYPE_CHECKING:
    from deia.librarian import Librarian

CALL = {"tool_name": "Bash", "tool_input": {"command": COMMAND}}
EVENTS: list[dict[str, Any]] = [
    {"hook_event_name": "UserPromptSubmit", "prompt": SAID},
    {"hook_event_name": "PreToolUse", **CALL},
    {"hook_event_name": "PreToolUse", **CALL},
    {"hook_event_name": "PostToolUseFailure", **CALL, "error": RESULT},
]


def answers(librarian: Librarian, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    options = ClaudeAgentOptions(hooks=hooks_of(librarian))
    assert options.hooks

    async def run() -> list[dict[str, Any]]:
        found = []
        for event in events:
            matchers = (options.hooks or {}).get(event["hook_event_name"]) or next(iter((options.hooks or {}).values()))
            found.append(await matchers[0].hooks[0]({"session_id": "s", "cwd": "/", **event}, None, {"signal": None}))
        return found

    found = asyncio.run(run())
    for answer in found:
        assert _convert_hook_output_for_cli(answer) == answer
        for specific in answer.values():
            known = getattr(types, f"{specific['hookEventName']}HookSpecificOutput").__annotations__
            assert specific.keys() <= known.keys()
    return found


def test_the_conversation_fires_the_same_and_the_model_reads_it_in_time(librarian: Librarian) -> None:
    said, held, passed, failed = (one.get("hookSpecificOutput", {}) for one in answers(librarian, EVENTS))
    assert "About sale." in said["additionalContext"]
    assert held["permissionDecision"] == "deny"
    assert "About wipe." in held["permissionDecisionReason"]
    assert passed == {}
    assert "About gone." in failed["additionalContext"]
    assert shown(librarian) == FIRED


def test_events_without_their_fields_and_unknown_ones_are_passed_in_silence(librarian: Librarian) -> None:
    names = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SomethingNew"]
    assert answers(librarian, [{"hook_event_name": name} for name in names]) == [{}] * len(names)
