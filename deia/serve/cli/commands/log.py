"""`deia log` and `deia feedback`: the last events of the log, and verdicts on what deia said."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence

import click

from deia import fast_json, spool
from deia.durations import ago
from deia.fast_json import Json
from deia.folders import events_folder
from deia.ledger.feedback import SYNONYMS, VERDICTS, find_event
from deia.ledger.tail import read_ledger, seconds_of
from deia.ledger.warehouse import read_through
from deia.problems import CommonsError
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, commons_root, json_option
from deia.serve.cli.terminal import look_of
from deia.settings import resolve
from deia.text import counted, one_line, shorten

EVENTS = ("query", "injection", "feedback", "read", "index", "maintenance", "error")
SHOWN = 160  # characters of a line that no terminal shows
HEAD = ("ts", "v", "id", "event")  # fields that a line does not repeat
SOURCES = ("host", "agent", "actor")
LEAST = 20  # characters of what happened, however narrow the terminal
MOST_NAME = 16
FIELDS = {  # what a line shows of an event; JSON has everything
    "query": ("query", "matched", "confidence"), "injection": ("trigger", "outcome", "because"),
    "feedback": ("verdict", "note", "of"), "read": ("doc", "via"), "error": ("error", "where"),
}  # fmt: skip


@click.command(short_help="Show the last events of the log.")
@click.option("-n", "number", type=click.IntRange(1), default=20, show_default=True, help="The number of events.")
@click.option("--event", type=click.Choice(EVENTS), help="Only events of this kind.")
@json_option
@commons_option
def log(*, number: int, event: str | None, as_json: bool) -> None:
    """Show the last events of the log: questions, injections, errors. It is kept on this machine."""
    folder = events_folder(commons_root(), os.environ)
    ledger = read_ledger(folder, event=event or "", last=number)
    width = look_of("", colour="never", environ=os.environ).width if output.at_terminal() else SHOWN
    for line in map(fast_json.dumps, ledger.events) if as_json else _lines(ledger.events, width):
        output.say(line)
    if not (as_json or ledger.events):
        output.say(f"There are no events in {folder}.")
    if ledger.broken and not as_json:
        output.say(f"{counted(ledger.broken, 'damaged line')} skipped.")


def _lines(events: Sequence[Mapping[str, Json]], width: int) -> Iterator[str]:
    """Yield a line for each event: how long ago, what kind, from whom, and what, cut in the middle to the width."""
    now = time.time()
    rows = [(ago(max(now - seconds_of(event), 0.0)), *_kind_and_source(event)) for event in events]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for event, row in zip(events, rows, strict=True):
        head = "".join(f"{cell:<{most}}  " for cell, most in zip(row, widths, strict=True))
        yield head + cut(_what(event), max(width - len(head), LEAST))


def _kind_and_source(event: Mapping[str, Json]) -> tuple[str, str]:
    source = next((event[name] for name in SOURCES if event.get(name)), "-")
    kind, source = (shorten(one_line(str(cell)), MOST_NAME) for cell in (event.get("event", "query"), source))
    return kind, source


def _what(event: Mapping[str, Json]) -> str:
    names = FIELDS.get(str(event.get("event", "query"))) or [name for name in event if name not in (*HEAD, *SOURCES)]
    return one_line(", ".join(_value(event[name]) for name in names if event.get(name) not in (None, "")))


def cut(text: str, most: int) -> str:
    """Return a text of at most so many characters, without its middle if it is longer."""
    left = most * 2 // 3
    return text if len(text) <= most else f"{text[:left]}…{text[len(text) - (most - left - 1) :]}"


def _value(value: Json) -> str:
    return value if isinstance(value, str) else fast_json.dumps(value)


@click.command(short_help="Rate a lesson or answer.")
@click.argument("name", metavar="ID")
@click.argument("verdict", type=click.Choice((*VERDICTS, *SYNONYMS)), metavar=f"{{{'|'.join(VERDICTS)}}}")
@click.option("--note", default="", help="Why, in a few words.")
@commons_option
def feedback(*, name: str, verdict: str, note: str) -> None:
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
        if settings.telemetry == "off":
            fix = 'Set telemetry = "metadata" or "full".'
            raise CommonsError("telemetry is off, so feedback cannot be recorded", fix=fix)
        raise CommonsError("the log cannot be written", fix=f"Check the permissions of {folder}.")
    label = shorten(one_line(event.name), 80) or event.id
    judgement = "prevented a mistake" if verdict == "prevented" else f"was {verdict}"
    output.say(f"Recorded: {event.event} {label!r} of {event.ts or 'an unknown time'} {judgement}.")
