"""`deia search` after its arguments are parsed: search, print, and return whether anything was found."""

from __future__ import annotations

import os
import sys

from deia.compile.compiled_files import NOT_ENCODED
from deia.errors import QueryError
from deia.folders import state_folder
from deia.librarian import Librarian
from deia.records import TYPE_CHECKING
from deia.search.rendering.llm_quotes import BUDGET
from deia.search.rendering.render import OTHER_NAMES, full, render
from deia.serve.cli import output
from deia.serve.cli.terminal import look_of

if TYPE_CHECKING:
    from typing import Unpack

    from deia.search.filters import Filters

ENCODE = "encode"  # the reason for a compile aside, apart from those of hooks
COMPILER = "deia.compile.compiler"  # is imported only if the commons had to be compiled for this search


def search(
    *, text: str = "", commons: str = "", form: str = "", budget: int = 0, color: str = "", **filters: Unpack[Filters]
) -> int:
    """Answer a question on standard output; return 0 if documents were found, otherwise 1.

    The default form is a table in a terminal and a summary otherwise; with a budget it is the form for a model. Raise
    DeiaError if there is no such commons, a filter is unknown, or the form does not use a budget.
    """
    form = OTHER_NAMES.get(form, form)
    if budget and form not in ("", "full"):
        raise QueryError(f"--budget does not apply to --format {form}", fix="Use it with --format full.")
    librarian = Librarian(commons or None, agent="cli")
    answer = librarian.query(text, **filters)
    form = form or ("full" if budget else "table" if output.at_terminal() or color == "always" else "summary")
    if form == "table":
        from deia.search.rendering.terminal_answer import table  # noqa: PLC0415 - agents read the summary

        output.show(table(answer, look=look_of(librarian.root, colour=color, environ=os.environ)))
    elif form == "full":
        output.say(full(answer, budget=budget or BUDGET))
    elif text := render(answer, form).rstrip("\n"):  # there are no paths if nothing was found
        output.say(text)
    if COMPILER in sys.modules:  # it took a second or more
        from deia.serve.startup.bytecode import keep_bytecode  # noqa: PLC0415 - most searches compile nothing

        keep_bytecode()
        if NOT_ENCODED in answer.audit.warnings:
            encode_aside(librarian.root)
    return output.FOUND if answer.documents else output.NOTHING


def encode_aside(root: str) -> None:
    """Start a process that encodes what a search had no time for, so that later searches use the sentence model."""
    from deia.serve.hooks.fallback import start_compile  # noqa: PLC0415 - only after sources changed

    start_compile(state_folder(os.environ), root, [root], why=ENCODE)
