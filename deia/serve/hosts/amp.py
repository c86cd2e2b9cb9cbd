"""Amp: its plugin runs in the host's own process and exchanges generic events with the hook.

Source: the Amp integration of safety-net (read in the second half of 2026). A plugin sees tool calls, and may reject
one with a message that the model reads; nothing else reaches the model.
"""

from __future__ import annotations

from deia.serve.hosts.event import BEFORE
from deia.serve.hosts.generic import read_event, write_answer

__all__ = ["CARRIES", "read_event", "write_answer"]
CARRIES = {"before_tool": {"hold": BEFORE}}
