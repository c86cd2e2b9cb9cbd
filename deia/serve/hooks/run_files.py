"""Reads what a call runs, if the words in it could matter to a trigger.

The files that the call names are looked up in the word gate as they are; only if a trigger could fire is the command
parsed, to find out which of them it runs.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.watch.gate.word_gate import candidates
from deia.watch.turn.run_texts import disk_reader, gate_text

if TYPE_CHECKING:
    from deia.watch.gate.artefact import Artefact


def with_run_files(artefact: Artefact, turn: Turn, folder: str, *, has_candidates: bool) -> Turn:
    """Return a call with the text of the files that it runs, or the call itself if nothing in them could matter."""
    text = gate_text(turn, disk_reader(folder))
    if not (has_candidates or (text and candidates(artefact, turn.but(tool_input={"command": text}))[0])):
        return turn
    from deia.watch.turn.scripts import from_disk  # noqa: PLC0415 - the grammar, only where it may matter

    return from_disk(turn, folder)
