"""`deia log`, `deia why` and `deia feedback`: the last events, why deia said what it said last, and verdicts on it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias

import click

from deia import fast_json
from deia.durations import ago
from deia.errors import ArtefactError
from deia.fast_json import Json
from deia.folders import events_folder, state_folder
from deia.ledger.feedback import SYNONYMS, VERDICTS, record_feedback
from deia.ledger.tail import read_ledger, seconds_of
from deia.records import Record
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_root, here, json_option, open_librarian
from deia.serve.cli.terminal import look_of
from deia.settings import resolve
from deia.text import counted, one_line, shorten
from deia.watch.compiled_trigger import CompiledTrigger
from deia.watch.gate.artefact import Artefact
from deia.watch.injection import whose
from deia.watch.silence.mutes import muted_triggers
from deia.watch.verdict.escalation import numbers_of

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
    """Yield a line for each event: its age, kind, source and content, cut in the middle to fit the width."""
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
    """Return a text cut to at most `most` characters; a longer one loses its middle."""
    left = most * 2 // 3
    return text if len(text) <= most else f"{text[:left]}…{text[len(text) - (most - left - 1) :]}"


def _value(value: Json) -> str:
    return value if isinstance(value, str) else fast_json.dumps(value)


@click.command(short_help="Rate a lesson or answer.")
@click.argument("name", metavar="ID")
@click.argument("verdict", type=click.Choice((*VERDICTS, *SYNONYMS)), metavar=f"{{{'|'.join(VERDICTS)}}}")
@click.option("--note", default="", help="Why, in a few words.")
def feedback(*, name: str, verdict: str, note: str) -> None:
    """Rate a lesson or answer: it was useful, noise or wrong, or it prevented a mistake.

    ID is the id of an event or the end of it, a trigger (its last firing), a document (the last answer that contained
    it), or `last`: the last injection, or the last answer if there is none.
    """
    verdict = SYNONYMS.get(verdict, verdict)
    root = commons_root()
    telemetry = resolve(root, environ=os.environ).telemetry
    event = record_feedback(events_folder(root, os.environ), name, verdict, note=note, agent="cli", telemetry=telemetry)
    label = shorten(one_line(event.name), 80) or event.id
    judgement = "prevented a mistake" if verdict == "prevented" else f"was {verdict}"
    output.say(f"Recorded: {event.event} {label!r} of {event.ts or 'an unknown time'} {judgement}.")


Event: TypeAlias = Mapping[str, Json]  # a line of the log, whose values are checked where they are used

SPOKE = ("shown", "held", "over_budget", "passed")
OUTCOMES = {
    "shown": "shown", "held": "the call was stopped", "passed": "the call was allowed",
    "over_budget": "not shown, because the budget was spent",
}  # fmt: skip
SAME_INJECTION = 1.0  # seconds between the events of one injection, at most
READ = 5_000  # the last injections, among which those of a conversation are looked for
TRIGGER_FIELDS = ("title", "urgency", "message", "action_required", "instead", "origin")  # that JSON has
LEAST_PREFIX = 4  # characters of the beginning of a conversation's id
MOST_CHARS = 400


class Explained(Record):
    """Something that deia said, why, and its outcome."""

    trigger: str
    ts: str
    ago: str
    conversation: str
    host: str
    outcome: str
    action: str
    because: str
    chars: Json
    id: str
    documents: Sequence[Mapping[str, str]]
    verdicts: list[str]
    muted: bool
    known: CompiledTrigger | None  # if the trigger still exists

    def as_json(self) -> dict[str, Json]:
        """Return the fields for a program, together with those of the trigger."""
        fields: dict[str, Json] = self.values()
        del fields["known"]
        return fields | ({name: getattr(self.known, name) for name in TRIGGER_FIELDS} if self.known else {})


@click.command(short_help="Show what deia said last, and why.")
@click.argument("conversation", required=False)
@click.option("-n", "number", type=click.IntRange(1), default=1, show_default=True, help="How many injections to show.")
@json_option
def why(*, conversation: str | None, number: int, as_json: bool) -> int:
    """Show what deia said last: the trigger, what it fired on, the documents, and the outcome.

    CONVERSATION is the id of a conversation, or its beginning; by default, all conversations of this commons count. The
    output also says how to mute the trigger, or how to report that it was wrong.
    """
    folder = events_folder(commons_root(), os.environ)
    events = read_ledger(folder, event="injection", last=READ).events
    shown = [event for event in events if event.get("outcome", "shown") in SPOKE and _is_in(event, conversation or "")]
    injections = _group(shown)[-number:][::-1]
    verdicts = _verdicts(folder, injections)
    artefact = None
    with suppress(ArtefactError):
        artefact = open_librarian().open_artefact() if injections else None
    explained = [_explain(event, artefact, verdicts) for injection in injections for event in injection]
    lines = [line for explanation in explained for line in _explanation(explanation)]
    if not explained:
        where = f" in a conversation {conversation!r}" if conversation else ""
        lines.append(f"The log in {folder} contains nothing that deia said{where}.")
    output.answer([explanation.as_json() for explanation in explained], lines, as_json=as_json)
    return output.FOUND if explained else output.NOTHING


def _is_in(event: Event, conversation: str) -> bool:
    ident = str(event.get("conversation", ""))
    if len(conversation) < LEAST_PREFIX:
        return conversation in {"", ident}
    return ident.startswith(conversation)


def _group(events: Sequence[Event]) -> list[list[Event]]:
    groups: list[list[Event]] = []
    for event in events:
        last = groups[-1][-1] if groups else None
        alike = last is not None and all(last.get(name) == event.get(name) for name in ("conversation", "chars"))
        if last is not None and alike and abs(seconds_of(event) - seconds_of(last)) < SAME_INJECTION:
            groups[-1].append(event)
        else:
            groups.append([event])
    return groups


def _verdicts(folder: str, injections: Sequence[Sequence[Event]]) -> dict[str, list[str]]:
    """Return the verdicts that were given since the first of these injections, by the id of the event."""
    if not injections:
        return {}
    verdicts: dict[str, list[str]] = {}
    for event in read_ledger(folder, event="feedback", since=str(injections[-1][0].get("ts", ""))).events:
        verdicts.setdefault(str(event.get("of", "")), []).append(str(event.get("verdict", "")))
    return verdicts


def _explain(event: Event, artefact: Artefact | None, verdicts: Mapping[str, list[str]]) -> Explained:
    """Return an event with what its trigger says now, if the trigger still exists."""
    text = {name: str(event.get(name, "")) for name in ("trigger", "ts", "conversation", "action", "because", "id")}
    known, documents = _trigger(artefact, text["trigger"])
    docs = event.get("docs")  # of any type: anybody may have written the log
    logged = [{"id": str(ident)} for ident in docs] if isinstance(docs, list) else []
    state, now = state_folder(os.environ), time.time()
    muted = muted_triggers(state, folder=here(), now=now, conversation=text["conversation"])
    return Explained(
        **text, ago=ago(max(now - seconds_of(event), 0.0)), host=str(event.get("host", event.get("agent", ""))),
        outcome=str(event.get("outcome", "shown")), chars=event.get("chars", 0),
        documents=documents or logged, verdicts=verdicts.get(text["id"], []), muted=text["trigger"] in muted,
        known=known,
    )  # fmt: skip


def _trigger(artefact: Artefact | None, name: str) -> tuple[CompiledTrigger | None, list[dict[str, str]]]:
    """Return what a compiled trigger says and its documents; nothing if it does not exist any more."""
    at = next(numbers_of(artefact, [name]), None) if artefact else None
    if artefact is None or at is None:
        return None, []
    trigger = artefact.trigger(at)
    documents = [artefact.document(number) for number, *_ in trigger.documents]
    return trigger, [{name: document[name] for name in ("id", "path", "title")} for document in documents]


def _explanation(explanation: Explained) -> Iterator[str]:
    host, known = f", {explanation.host}" if explanation.host else "", explanation.known
    urgency = f" ({known.urgency})" if known else ""
    yield (
        f"{explanation.trigger}{urgency}: {OUTCOMES.get(explanation.outcome, explanation.outcome)},"
        f" {explanation.ago} ({explanation.ts}{host})"
    )
    if known:
        advice = {
            "Before going on": known.action_required, "Instead": "; or: ".join(known.instead),
            "From": whose(known.origin),
        }  # fmt: skip
        yield f"  {_short(known.message)}"
        yield from (f"  {label}: {_short(text)}" for label, text in advice.items() if text)
    else:
        yield "  This trigger does not exist any more."
    yield f"  Why: {_short(explanation.because) or 'the log does not contain reasons'}"
    for document in explanation.documents:
        title = f" — {_short(document['title'])}" if "title" in document else ""
        yield f"  Shown: {document.get('path', document['id'])}{title}"
    yield f"  Conversation: {explanation.conversation or 'unknown'}"
    if explanation.verdicts:
        yield f"  Feedback: {', '.join(explanation.verdicts)}"
    yield from _next_steps(explanation)


def _next_steps(explanation: Explained) -> Iterator[str]:
    name = explanation.trigger
    if explanation.muted:
        yield f"  It is muted now. To end that, type: deia mute {name} --off"
    elif explanation.known:
        yield f'  To mute it: deia mute {name} --for 2h; for its conversation only, write in it: "deia: not relevant"'
    if explanation.outcome == "held" and not explanation.muted:
        yield "  To allow the call: repeat it, or type deia allow with the code that was shown."
    if explanation.id and not explanation.verdicts:
        yield f"  To give feedback: deia feedback {explanation.id} noise (or useful, wrong, prevented)"


def _short(text: object) -> str:
    return shorten(one_line(str(text)), MOST_CHARS)
