"""`deia feedback`: verdicts on what deia said."""

from __future__ import annotations

import os

import click

from deia import spool
from deia.folders import events_folder
from deia.ledger.feedback import SYNONYMS, VERDICTS, find_event
from deia.ledger.warehouse import read_through
from deia.problems import CommonsError
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, commons_root
from deia.settings import resolve
from deia.text import one_line, shorten


@click.command(short_help="Rate a lesson or answer.")
@click.argument("name", metavar="ID")
@click.argument("verdict", type=click.Choice((*VERDICTS, *SYNONYMS)), metavar=f"{{{'|'.join(VERDICTS)}}}")
@click.option("--note", default="", help="Why, in a few words.")
@commons_option
def feedback(*, name: str, verdict: str, note: str) -> int:
    """Rate a lesson or answer: it was useful, noise or wrong, or it prevented a mistake.

    ID is the id of an event or the end of it, a trigger (its last firing), a document (the last answer that contained
    it), or `last`: the last injection, or the last answer if there is none.
    """
    verdict = SYNONYMS.get(verdict, verdict)
    root = commons_root()
    settings = resolve(root, environ=os.environ)
    folder = events_folder(root, os.environ)
    event = read_through([folder], lambda connection: find_event(connection, name))
    fields = {"agent": "cli", "conversation": event.conversation, "of": event.id, "verdict": verdict, "note": note}
    if event.event == "query" and name != "last" and not event.id.endswith(name):
        fields["doc"] = name  # one document of the answer
    if not spool.append(folder, "feedback", fields, telemetry=settings.telemetry):
        off = settings.telemetry == "off"
        fix = 'Set telemetry = "metadata" or "full".' if off else f"Check the permissions of {folder}."
        raise CommonsError(
            "telemetry is off, so feedback cannot be recorded" if off else "the log cannot be written", fix=fix
        )
    label = shorten(one_line(event.name), 80) or event.id
    judgement = "prevented a mistake" if verdict == "prevented" else f"was {verdict}"
    output.say(f"Recorded: {event.event} {label!r} of {event.ts or 'an unknown time'} {judgement}.")
    return output.FOUND
