"""Factory Droid's command hooks: Claude's events, and the two answers that count, a denial and context.

Source: runs of Droid 0.215.0; the table of integrations of safety-net (read in the second half of 2026): Claude-shaped,
shell tool `Execute`. A call that failed raises no event, so what it brings up is not seen, and a text that waits for a
result waits for the next call that succeeds. `droid exec` raises none for the prompt either; a session's start, a
denial's reason and the context of a result reach its model. Questions and notes to the person are not documented there,
so none are sent.
"""

from __future__ import annotations

from deia.serve.hosts.codex import CARRIES as OF_CODEX
from deia.serve.hosts.codex import read_event, write_answer

__all__ = ["CARRIES", "read_event", "write_answer"]
CARRIES = {moment: forms for moment, forms in OF_CODEX.items() if moment != "tool_error"}
