"""Kiro and Amazon Q Developer CLI: tool events in; a hold out, by exit code 2 and its reason on standard error.

Source: aws/amazon-q-developer-cli#2875 (read in the second half of 2026). What matters: the reason reaches the model
and nothing else does; an event names no conversation, so a folder stands for it, and the start of an agent begins it
anew.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.serve.hosts.event import BEFORE, read_claude_shaped
from deia.serve.hosts.windsurf import write_answer

if TYPE_CHECKING:
    from typing import Any

    from deia.serve.hosts.event import Occasion

__all__ = ["CARRIES", "read_event", "write_answer"]
MOMENTS = {
    "agentSpawn": "session",
    "userPromptSubmit": "prompt",
    "preToolUse": "before_tool",
    "postToolUse": "after_tool",
}
CARRIES = {"before_tool": {"hold": BEFORE}}


def read_event(event: Any) -> Occasion | None:
    """Give what an event is about, or None where there is nothing to watch."""
    occasion = read_claude_shaped(event, MOMENTS)
    if occasion is None or occasion.conversation != "unnamed":
        return occasion
    return occasion.but(conversation=f"kiro {occasion.folder}", reset=occasion.moment == "session")
