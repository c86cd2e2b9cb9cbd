"""`deia engine`, `deia publish`, `deia pull`, `deia worker`: the library on more than one machine."""

from __future__ import annotations

import os

import click

from deia.compile.engine_copy import NOT_SET, Standing, copy_library, engine_standing
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared
from deia.text import counted


@click.group(short_help="Keep the vectors of the library in PostgreSQL or Milvus.")
def engine() -> None:
    """What keeps the vectors of the library besides its catalog: the engine in DEIA_ENGINE."""


@engine.command("copy", short_help="Copy to the engine what it does not have.")
@shared.json_option
def engine_copy(*, as_json: bool) -> int:
    """Copy the vectors of the library's passages to the engine: what is not there yet, checked in the end.

    It may be interrupted, and goes on when it is typed again. Until it is done, the catalog answers.
    """
    done = copy_library(shared.commons_root(), os.environ, tell=output.progress)
    output.progress()
    lines = [
        f"{one.tier}: {counted(one.written, 'document')} copied, {one.removed} removed; there are"
        f" {counted(one.documents, 'document')} and {counted(one.passages, 'passage')} now, as here"
        for one in done
    ]
    output.answer([one.values() for one in done], lines, as_json=as_json)
    return output.FOUND


@engine.command("status", short_help="Show the engine, and whether it has what the library has.")
@shared.json_option
def engine_status(*, as_json: bool) -> int:
    """Show the engine without its password, and whether it has what the library has; exits 1 if it does not."""
    standings = engine_standing(shared.commons_root(), os.environ)
    fields = [
        {**one.values(), "here": one.here.values(), "there": one.there.values(), "current": one.is_current}
        for one in standings
    ]
    output.answer(fields, [*map(_standing_line, standings)] or [NOT_SET], as_json=as_json)
    return output.FOUND if all(one.is_current for one in standings) else output.NOTHING


def _standing_line(standing: Standing) -> str:
    if standing.problem:
        return f"{standing.engine}: {standing.problem}"
    if standing.is_current:
        return f"{standing.engine}: {standing.tier}: {counted(standing.there.passages, 'passage')}, as here"
    has = f"{standing.there.passages} of {counted(standing.here.passages, 'passage')}, or of another state"
    return f"{standing.engine}: {standing.tier}: {has}; to copy them, type: deia engine copy"
