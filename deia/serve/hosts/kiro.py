"""Kiro and Amazon Q Developer CLI: tool events in; a hold out, by exit code 2 and its reason on standard error.

Source: aws/amazon-q-developer-cli#2875 (read in the second half of 2026). Only the reason reaches the model. An event
names no conversation, so its folder stands for one, and the start of an agent begins it anew.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.serve.hosts.claude_code import DIALECT as CLAUDE
from deia.serve.hosts.event import BEFORE, NO_CONVERSATION, Occasion
from deia.serve.hosts.windsurf import write_answer

if TYPE_CHECKING:
    from deia.fast_json import Json

__all__ = ["CARRIES", "read_event", "write_answer"]
DIALECT = CLAUDE.but(
    moments={
        "agentSpawn": "session",
        "userPromptSubmit": "prompt",
        "preToolUse": "before_tool",
        "postToolUse": "after_tool",
    }
)
CARRIES = {"before_tool": {"hold": BEFORE}}


def read_event(event: Json) -> Occasion | None:
    """Return what an event is about, or None if there is nothing to watch."""
    occasion = DIALECT.read(event)
    if occasion is None or occasion.conversation != NO_CONVERSATION:
        return occasion
    return occasion.but(conversation=f"kiro {occasion.folder}", reset=occasion.moment == "session")
