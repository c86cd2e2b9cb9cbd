"""OpenAI Codex CLI's command hooks: Claude's events, and answers with exactly the keys that it knows.

Source: openai/codex codex-rs/hooks/src/{schema.rs, engine/output_parser.rs} @0ea83813 and events/pre_tool_use.rs
@0082977 (read in the second half of 2026). An unknown key or `ask` makes the hook fail, and after a failed hook the
command runs; older versions refuse added context before a tool. So a dangerous call is held and nothing else is said
there. A failed tool is reported through PostToolUse.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.serve.hosts import claude_code
from deia.serve.hosts.event import BEFORE, CONTEXT, Occasion

if TYPE_CHECKING:
    from deia.fast_json import Json
    from deia.serve.hosts.delivery_form import Said

CARRIES = dict.fromkeys(("prompt", "after_tool", "tool_error", "session"), CONTEXT) | {"before_tool": {"hold": BEFORE}}
read_event = claude_code.read_event


def write_answer(occasion: Occasion, message: Said) -> dict[str, Json] | None:
    """Return the host's answer, or None if nothing is said."""
    return claude_code.write_answer(
        occasion, message.but(ask="", note="", context="" if message.hold else message.context)
    )
