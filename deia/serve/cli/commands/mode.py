"""`deia mode`: how strict deia is with the person, in one word."""

from __future__ import annotations

import os
from contextlib import suppress

import click

from deia.errors import ArtefactError
from deia.folders import state_folder
from deia.problems import CommonsError
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared
from deia.watch.silence.modes import PRESETS, STRENGTH, Mode, read_mode, table, write_mode

TRIGGER_FORM = f"TRIGGER={'|'.join(STRENGTH)}"


@click.command(short_help="Choose how strict deia is: strict, standard or quiet.")
@click.argument("name", required=False, type=click.Choice(list(PRESETS)))
@click.option(
    "--trigger", "trigger_forms", metavar=TRIGGER_FORM, multiple=True, help="What one trigger does in any mode."
)
@click.option("--remove", metavar="TRIGGER", multiple=True, help="Let the mode decide about a trigger again.")
@click.option("--table", "as_table", is_flag=True, help="Show what each mode does, as a table in Markdown.")
@shared.json_option
def mode(
    *, name: str | None, trigger_forms: tuple[str, ...], remove: tuple[str, ...], as_table: bool, as_json: bool
) -> None:
    """Choose how strict deia is with you on this machine, or show it.

    `strict` holds what is critical and asks about what is high; `quiet` stops only what is critical. A project's
    settings can make triggers milder, never stronger. Only a person at a terminal can change it.
    """
    if as_table:
        output.answer([*table()], table(), as_json=as_json)
        return
    state = state_folder(os.environ)
    current = read_mode(state)
    if name or trigger_forms or remove:
        shared.require_person("deia mode")
        forms = {**current.forms, **dict(map(_form, trigger_forms))}
        kept = {trigger: form for trigger, form in forms.items() if trigger not in remove}
        current = Mode(name=name or current.name, forms=kept)
        if not write_mode(state, current):
            raise CommonsError("the mode cannot be written", where=state, fix="Check the permissions of that folder.")
    lines = [f"The mode is {current.name}."]
    lines += [f"{trigger}: {form}" for trigger, form in sorted(current.forms.items())]
    output.answer({"mode": current.name, "forms": {**current.forms}}, [*lines, "", *table()], as_json=as_json)


def _form(written: str) -> tuple[str, str]:
    """Return the trigger and the form in TRIGGER=FORM; raise click.BadParameter if the form is unknown."""
    trigger, _, form = written.partition("=")
    if form not in STRENGTH:
        raise click.BadParameter(f"{written!r} is not {TRIGGER_FORM}", param_hint="--trigger")
    with suppress(ArtefactError):  # if nothing is compiled, any name is accepted
        artefact = shared.open_librarian().open_artefact()
        shared.check_trigger(trigger, [compiled.id for compiled in artefact.triggers()])
    return trigger, form
