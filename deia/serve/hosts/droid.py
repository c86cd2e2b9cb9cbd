"""Factory Droid's command hooks: Claude's events, and the two answers that are known to count, a denial and context.

Source: the table of integrations of safety-net (read in the second half of 2026): Claude-shaped, shell tool `Execute`.
Questions and notes to the person are not documented there, so none are sent.
"""

from __future__ import annotations

from deia.serve.hosts.codex import CARRIES, read_event, write_answer

__all__ = ["CARRIES", "read_event", "write_answer"]
