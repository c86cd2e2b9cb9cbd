"""`deia search`, after its arguments were read: ask, print, and say by the exit code whether anything was found."""

from __future__ import annotations

import os
import sys

from deia.errors import QueryError
from deia.librarian import Librarian
from deia.records import TYPE_CHECKING
from deia.search.rendering.llm_quotes import BUDGET
from deia.search.rendering.render import full, render
from deia.search.rendering.terminal_answer import table
from deia.serve.cli import output
from deia.serve.cli.terminal import look_of

if TYPE_CHECKING:
    from typing import Any

COMPILER = "deia.compile.compiler"  # imported where the commons had to be compiled for this search


def search(
    *, commons: str = "", form: str = "", limit: int | None = None, budget: int = 0, color: str = "", **asked: Any
) -> int:
    """Answer a question on standard output; give 0 where documents were found and 1 where none were.

    Without a form it is a table at a terminal and a summary elsewhere; with a budget, what a model is given.

    Raises:
        DeiaError: there is no such commons, a filter names what the commons does not have, or the budget is of no use.
    """
    if budget and form not in ("", "full"):
        raise QueryError(f"--budget says nothing to --format {form}", fix="Use it with --format full.")
    librarian = Librarian(commons or None, agent="cli")
    answer = librarian.query(limit=limit, **asked)
    form = form or ("full" if budget else "table" if output.at_terminal() or color == "always" else "summary")
    if form == "table":
        output.show(table(answer, look=look_of(librarian.root, colour=color, environ=os.environ)))
    elif form == "full":
        output.say(full(answer, budget=budget or BUDGET))
    else:
        output.say(render(answer, form).rstrip("\n"))
    if COMPILER in sys.modules:  # it took a second or more
        from deia.serve.startup.bytecode import keep_bytecode  # noqa: PLC0415 - most searches find all compiled

        keep_bytecode()
    return output.FOUND if answer.documents else output.NOTHING
