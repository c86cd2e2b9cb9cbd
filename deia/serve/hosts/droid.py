"""Factory Droid's command hooks: Claude's events and the two answers that are known to count, a denial and context.

Source: the table of integrations of safety-net (read in the second half of 2026): Claude-shaped, shell tool `Execute`.
Questions and notes to the person are not documented there, so none are sent.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.serve.hosts import codex
from deia.serve.hosts.codex import CARRIES, write_answer
from deia.serve.hosts.event import read_claude_shaped

if TYPE_CHECKING:
    from typing import Any

    from deia.serve.hosts.event import Occasion

__all__ = ["CARRIES", "read_event", "write_answer"]
MOMENTS = {**codex.MOMENTS, "PostToolUseFailure": "tool_error"}


def read_event(event: Any) -> Occasion | None:
    """Give what an event is about, or None where there is nothing to watch."""
    return read_claude_shaped(event, MOMENTS)
