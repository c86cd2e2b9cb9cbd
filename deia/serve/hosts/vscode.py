"""GitHub Copilot's agent in VS Code: Claude's events, Claude-shaped answers without notes to the person.

Source: github/docs content/copilot/reference/hooks-reference.md @05da5bc3 (read in the second half of 2026). VS Code
documents no context for a prompt, so what a prompt brings up waits for the first tool result.
"""

from __future__ import annotations

from deia.serve.hosts.claude_code import read_event, write_answer
from deia.serve.hosts.event import BEFORE, CONTEXT, LATE

__all__ = ["CARRIES", "read_event", "write_answer"]
CARRIES = dict.fromkeys(("after_tool", "tool_error", "session"), CONTEXT) | {
    "before_tool": {"hold": BEFORE, "ask": BEFORE, "context": LATE},
}
