"""The word tables beside this module, in data/: plain text, one entry to a line, comments after `#`."""

from __future__ import annotations

from pathlib import Path

from deia.folders import PACKAGE

FOLDER = Path(PACKAGE, "compile", "triggers", "data")


def word_lines(name: str) -> list[str]:
    """Return the lines of a word table, without its comments."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]
