"""`deia search`, after its arguments were read: ask, print, and say by the exit code whether anything was found."""

from __future__ import annotations

import os
import sys

from deia.librarian import Librarian
from deia.records import TYPE_CHECKING
from deia.search.render import render, table
from deia.serve import output

if TYPE_CHECKING:
    from typing import Any

    from deia.search.answer import Answer


def search(*, commons: str = "", form: str = "", limit: int | None = None, **asked: Any) -> int:
    """Answer a question on standard output; give 0 where documents were found and 1 where none were.

    Raises:
        DeiaError: there is no such commons, or a filter names what the commons does not have.
    """
    librarian = Librarian(commons or None, agent="cli")
    answer = librarian.query(limit=limit, **asked)
    output.say(shown(answer, form))
    return output.FOUND if answer.documents else output.NOTHING


def shown(answer: Answer, form: str) -> str:
    """Give an answer as text: in the form asked for, else as a table at a terminal and as a summary elsewhere."""
    if form not in ("", "table"):
        return render(answer, form).rstrip("\n")
    if output.at_terminal():
        return table(answer, width=os.get_terminal_size(sys.stdout.fileno()).columns)
    return render(answer, form or "summary")
