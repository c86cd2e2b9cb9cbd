"""OpenCode: its plugin runs in the host's own process and exchanges generic events with the hook.

Source: the types of @opencode-ai/plugin 1.18.33 (read in the second half of 2026), and runs of that version. The plugin
may add a part to a message before the model reads it, throw an error before a tool, and add to a tool's output, which
is a text or, of an MCP tool, a list of parts. Only the host's permission system can ask questions. A failed tool calls
no hook of its own. `opencode run "two words"` puts the prompt into quotation marks, which quote nothing.
"""

from __future__ import annotations

from deia.serve.hosts.event import BEFORE, CONTEXT
from deia.serve.hosts.generic import read_event, write_answer

__all__ = ["CARRIES", "read_event", "write_answer"]
CARRIES = dict.fromkeys(("prompt", "after_tool", "tool_error"), CONTEXT) | {"before_tool": {"hold": BEFORE}}
