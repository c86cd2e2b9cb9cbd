"""Before a host shortens a conversation it says so, and what the model read in it counts as unread from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.serve.hooks.run import host_module

if TYPE_CHECKING:
    from deia.fast_json import Json

EVENTS: list[tuple[str, Json]] = [
    ("copilot", {"sessionId": "s", "cwd": "/w", "timestamp": 1, "trigger": "auto", "transcriptPath": "/t"}),
    ("copilot", {"hook_event_name": "PreCompact", "session_id": "s", "cwd": "/w", "trigger": "auto"}),
    ("qwen", {"hook_event_name": "PreCompact", "session_id": "s", "cwd": "/w", "trigger": "auto"}),
    ("opencode", {"event": "session", "conversation": "s", "folder": "/w", "reset": True}),
    ("claude-code", {"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/w", "source": "compact"}),
]


def test_gemini_announces_a_compression_before_every_request_so_it_counts_for_nothing() -> None:
    event: Json = {"hook_event_name": "PreCompress", "session_id": "s", "cwd": "/w", "trigger": "auto"}
    assert host_module("gemini").read_event(event) is None


@pytest.mark.parametrize(("host", "event"), EVENTS)
def test_a_compaction_is_read_as_forgetting(host: str, event: Json) -> None:
    occasion = host_module(host).read_event(event)
    assert occasion is not None
    assert (occasion.reset, occasion.conversation, occasion.turn) == (True, "s", None)
