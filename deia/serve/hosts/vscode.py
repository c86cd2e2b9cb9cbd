"""GitHub Copilot's agent in VS Code: Claude's events, Claude-shaped answers without notes to the person.

Source: github/docs content/copilot/reference/hooks-reference.md @05da5bc3 (read in the second half of 2026). What
matters: VS Code documents no context for a prompt, so what is recognised there waits for the first tool result.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.serve.hosts import claude_code
from deia.serve.hosts.claude_code import write_answer
from deia.serve.hosts.event import BEFORE, LATE, read_claude_shaped

if TYPE_CHECKING:
    from typing import Any

    from deia.serve.hosts.event import Occasion

__all__ = ["CARRIES", "read_event", "write_answer"]
CARRIES = {
    "before_tool": {"hold": BEFORE, "ask": BEFORE, "context": LATE},
    "after_tool": {"context": BEFORE},
    "tool_error": {"context": BEFORE},
    "session": {"context": BEFORE},
}


def read_event(event: Any) -> Occasion | None:
    """Give what an event is about, or None where there is nothing to watch."""
    return read_claude_shaped(event, claude_code.MOMENTS)
