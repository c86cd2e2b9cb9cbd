"""What a person says in a turn of theirs, without text that they did not write: a host entered it, or it is pasted.

Summaries of earlier conversations, bodies of skills and slash commands, and instructions are known by how they begin.
They announce nothing, and neither does what is longer than people type.
"""

from __future__ import annotations

from deia.tables import Tables

TABLES = Tables(__file__)
NOTICES = tuple(TABLES.lines("notices"))
OPENINGS = (*NOTICES, *TABLES.lines("contexts"))
MARKS = " \t\r\n\ufeff#["  # before an opening
MOST_TYPED = 1500  # characters


def typed(text: str) -> str:
    """Return a person's text if they typed it; of what a host entered, only the opening, which says what it is."""
    opening = opening_of(text)
    return opening or (text if len(text) <= MOST_TYPED else "")


def opening_of(text: str) -> str:
    """Return the words that a text begins with if a host entered it in a person's place, or ""."""
    bare = text.lstrip(MARKS)
    return next((opening for opening in OPENINGS if bare.startswith(opening)), "")


def is_notice(text: str) -> bool:
    """Return whether a host added a text besides the conversation, so that it is no turn of it."""
    return text.lstrip(MARKS).startswith(NOTICES)
