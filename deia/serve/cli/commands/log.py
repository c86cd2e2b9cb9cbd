"""`deia log`: the last events of the log."""

from __future__ import annotations

import os
from collections.abc import Mapping

import click

from deia import fast_json
from deia.fast_json import Json
from deia.folders import events_folder
from deia.ledger.tail import read_ledger
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, commons_root, form_option
from deia.text import counted, one_line, shorten

EVENTS = ("query", "injection", "feedback", "read", "index", "maintenance", "error")
SHOWN = 160  # characters of an event on a line
HEAD = ("ts", "v", "id", "event")  # fields that a line does not repeat


@click.command(short_help="Show the last events of the log.")
@click.option("-n", "number", type=click.IntRange(1), default=20, show_default=True, help="The number of events.")
@click.option("--event", type=click.Choice(EVENTS), help="Only events of this kind.")
@form_option("text", "json")
@commons_option
def log(*, number: int, event: str | None, form: str) -> int:
    """Show the last events of the log: questions, injections, errors. It is kept on this machine."""
    folder = events_folder(commons_root(), os.environ)
    ledger = read_ledger(folder, event=event or "", last=number)
    for logged in ledger.events:
        output.say(fast_json.dumps(logged) if form == "json" else _event_line(logged))
    if form == "text" and not ledger.events:
        output.say(f"There are no events in {folder}.")
    if form == "text" and ledger.broken:
        output.say(f"{counted(ledger.broken, 'damaged line')} skipped.")
    return output.FOUND


def _event_line(event: Mapping[str, Json]) -> str:
    fields = ", ".join(f"{name} {_value(value)}" for name, value in event.items() if name not in HEAD)
    return shorten(one_line(f"{event.get('ts', '?')} {event.get('event', 'query')}: {fields}"), SHOWN)


def _value(value: Json) -> str:
    return value if isinstance(value, str) else fast_json.dumps(value)
