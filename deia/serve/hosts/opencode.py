"""OpenCode: its plugin runs in the host's own process and speaks the generic tongue with the hook.

Source: the types of @opencode-ai/plugin 1.18.33 (read in the second half of 2026). What matters: the plugin may change
a message's parts before the model reads them, throw before a tool, and add to a tool's output; a question would be the
host's permission system's, not a plugin's. A failed tool raises no hook of its own.
"""

from __future__ import annotations

from deia.serve.hosts.event import BEFORE
from deia.serve.hosts.generic import read_event, write_answer

__all__ = ["CARRIES", "read_event", "write_answer"]
CARRIES = {
    "prompt": {"context": BEFORE},
    "before_tool": {"hold": BEFORE},
    "after_tool": {"context": BEFORE},
    "tool_error": {"context": BEFORE},
}
