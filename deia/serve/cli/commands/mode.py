"""`deia mode`: how strict deia is with the person, in one word."""

from __future__ import annotations

import os

import click

from deia.errors import ArtefactError
from deia.folders import state_folder
from deia.librarian import Librarian
from deia.problems import CommonsError
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared
from deia.watch.silence.modes import PRESETS, STRENGTH, Mode, read_mode, table, write_mode

EACH = f"TRIGGER={'|'.join(STRENGTH)}"


@click.command(short_help="Choose how strict deia is: strict, standard or quiet.")
@click.argument("name", required=False, type=click.Choice(list(PRESETS)))
@click.option("--trigger", "given", metavar=EACH, multiple=True, help="What one trigger does in any mode.")
@click.option("--remove", metavar="TRIGGER", multiple=True, help="Let the mode decide about a trigger again.")
@click.option("--table", "as_table", is_flag=True, help="Show what each mode does, as a table in Markdown.")
@shared.json_option
@shared.commons_option
def mode(*, name: str | None, given: tuple[str, ...], remove: tuple[str, ...], as_table: bool, as_json: bool) -> None:
    """Choose how strict deia is with you on this machine, or show it.

    `strict` holds what is critical and asks about what is high; `quiet` stops only what is critical. A project's
    settings can make triggers milder, never stronger. Only a person at a terminal can change it.
    """
    if as_table:
        output.answer([*table()], table(), as_json=as_json)
        return
    state = state_folder(os.environ)
    current = read_mode(state)
    if name or given or remove:
        if not shared.is_person():
            raise CommonsError("only a person at a terminal can run this", fix="Type it in a terminal.")
        forms = {**current.forms, **dict(map(_form, given))}
        kept = {trigger: form for trigger, form in forms.items() if trigger not in remove}
        current = Mode(name=name or current.name, forms=kept)
        if not write_mode(state, current):
            raise CommonsError("the mode cannot be written", where=state, fix="Check the permissions of that folder.")
    lines = [f"The mode is {current.name}."]
    lines += [f"{trigger}: {form}" for trigger, form in sorted(current.forms.items())]
    output.answer({"mode": current.name, "forms": {**current.forms}}, [*lines, "", *table()], as_json=as_json)


def _form(written: str) -> tuple[str, str]:
    """Return a trigger and its form as they were written."""
    trigger, _, form = written.partition("=")
    if form not in STRENGTH:
        raise click.BadParameter(f"{written!r} is not {EACH}", param_hint="--trigger")
    try:
        artefact = Librarian(shared.named_commons() or None, ledger=False).open_artefact()
    except ArtefactError:  # if nothing is compiled, any name is accepted
        return trigger, form
    shared.check_trigger(trigger, [artefact.trigger(number).id for number in range(artefact.meta.triggers)])
    return trigger, form
