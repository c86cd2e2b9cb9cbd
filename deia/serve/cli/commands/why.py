"""`deia why`: what deia said last, why, with which documents, what came of it, and what may be done about it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from deia import fast_json
from deia.durations import ago
from deia.errors import ArtefactError
from deia.folders import events_folder, state_folder
from deia.ledger.tail import read_ledger
from deia.librarian import Librarian
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, commons_root, given_commons, here
from deia.text import one_line, shorten
from deia.watch.gate.artefact import Artefact
from deia.watch.injection import whose
from deia.watch.silence.mutes import muted_triggers
from deia.watch.verdict.escalation import numbers_of

if TYPE_CHECKING:
    Event = Mapping[str, Any]

SPOKE = ("shown", "held", "over_budget", "passed")
CAME_OF_IT = {
    "shown": "shown", "held": "the call was held", "passed": "the call passed",
    "over_budget": "left out, since the budget was spent",
}  # fmt: skip
TOGETHER = 1.0  # seconds between events of one injection
READ = 5_000  # of the last injections, among which a conversation is looked for
LEAST_PREFIX = 4  # characters of a conversation's id
MOST_CHARS = 400


@click.command(short_help="Show why deia spoke last, and what to do about it.")
@click.argument("conversation", required=False)
@click.option("-n", "number", type=click.IntRange(1), default=1, show_default=True, help="How many times.")
@click.option("--json", "as_json", is_flag=True, help="Give it as JSON.")
@commons_option
def why(*, conversation: str | None, number: int, as_json: bool) -> int:
    """Show the last that deia said in CONVERSATION, by its id or the beginning of it; by default in this folder.

    Tells the trigger, what it fired on, the documents, what came of it, and how to silence it or say that it was wrong.
    """
    folder = events_folder(commons_root(), os.environ)
    events = read_ledger(folder, event="injection", last=READ).events
    spoke = [one for one in events if one.get("outcome", "shown") in SPOKE and _is_of(one, conversation or "")]
    times = _grouped(spoke)[-number:][::-1]
    verdicts = _verdicts(folder, times)
    artefact = _artefact() if times else None
    told = [_telling(event, artefact, verdicts) for each in times for event in each]
    if as_json:
        output.say(fast_json.dumps(told))
        return output.FOUND if told else output.NOTHING
    for one in told:
        output.say("\n".join(_lines(one)))
    if not told:
        of = f" in a conversation {conversation!r}" if conversation else ""
        output.say(f"deia has said nothing{of} that {folder} tells of.")
    return output.FOUND if told else output.NOTHING


def _is_of(event: Event, conversation: str) -> bool:
    own = str(event.get("conversation", ""))
    if len(conversation) < LEAST_PREFIX:
        return conversation in {"", own}
    return own.startswith(conversation)


def _grouped(events: Sequence[Event]) -> list[list[Event]]:
    """Put together the events of one injection."""
    groups: list[list[Event]] = []
    for event in events:
        last = groups[-1][-1] if groups else None
        alike = last is not None and all(last.get(name) == event.get(name) for name in ("conversation", "chars"))
        if last is not None and alike and abs(_seconds(event) - _seconds(last)) < TOGETHER:
            groups[-1].append(event)
        else:
            groups.append([event])
    return groups


def _seconds(event: Event) -> float:
    try:
        return datetime.fromisoformat(str(event.get("ts", ""))).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def _verdicts(folder: str, times: Sequence[Sequence[Event]]) -> dict[str, list[str]]:
    """Give what was said of each event since the first of them."""
    if not times:
        return {}
    found: dict[str, list[str]] = {}
    for one in read_ledger(folder, event="feedback", since=str(times[-1][0].get("ts", ""))).events:
        found.setdefault(str(one.get("of", "")), []).append(str(one.get("verdict", "")))
    return found


def _telling(event: Event, artefact: Artefact | None, verdicts: Mapping[str, list[str]]) -> dict[str, Any]:
    """Give an event with what its trigger says now, where there still is one."""
    name, conversation = str(event.get("trigger", "")), str(event.get("conversation", ""))
    trigger, docs = _trigger(artefact, name), event.get("docs")
    state, now = state_folder(os.environ), time.time()
    muted = muted_triggers(state, folder=here(), now=now, conversation=conversation)
    return {
        "trigger": name, "ts": event.get("ts", ""), "ago": ago(max(now - _seconds(event), 0.0)),
        "conversation": conversation, "host": event.get("host", event.get("agent", "")),
        "outcome": event.get("outcome", "shown"), "action": event.get("action", ""),
        "because": event.get("because", ""), "chars": event.get("chars", 0), "id": event.get("id", ""),
        "documents": trigger.pop("documents", None) or _ids(docs),
        "verdicts": verdicts.get(str(event.get("id", "")), []), "muted": name in muted, **trigger,
    }  # fmt: skip


def _ids(docs: object) -> list[dict[str, object]]:
    """Return what an event says of its documents, whatever it says: the ledger may be anybody's."""
    return [{"id": ident} for ident in docs] if isinstance(docs, list) else []


def _artefact() -> Artefact | None:
    try:
        return Librarian(given_commons() or None, ledger=False).open_artefact()
    except ArtefactError:
        return None


def _trigger(artefact: Artefact | None, name: str) -> dict[str, Any]:
    """Give what a trigger says, by its compiled form; nothing where it is gone."""
    found = next(numbers_of(artefact, [name]), None) if artefact else None
    if artefact is None or found is None:
        return {}
    trigger = artefact.trigger(found)
    documents = [artefact.document(number) for number, *_ in trigger.documents]
    return {
        "title": trigger.title, "urgency": trigger.urgency, "message": trigger.message,
        "action_required": trigger.action_required, "instead": list(trigger.instead),
        "origin": trigger.origin,
        "documents": [{name: document[name] for name in ("id", "path", "title")} for document in documents],
    }  # fmt: skip


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    name, host = told["trigger"], f", {told['host']}" if told["host"] else ""
    urgency = f" ({told['urgency']})" if "urgency" in told else ""
    yield f"{name}{urgency}: {CAME_OF_IT.get(told['outcome'], told['outcome'])}, {told['ago']} ({told['ts']}{host})"
    if "message" in told:
        yield f"  {_short(told['message'])}"
        yield from (f"  {label}: {_short(text)}" for label, text in _advice(told) if text)
    else:
        yield "  It is not among the triggers any more."
    yield f"  Why: {_short(told['because']) or 'telemetry keeps no reasons'}"
    for document in told["documents"]:
        title = f" — {_short(document['title'])}" if "title" in document else ""
        yield f"  Shown: {document.get('path', document['id'])}{title}"
    yield f"  Conversation: {told['conversation'] or 'without a name'}"
    if told["verdicts"]:
        yield f"  Said of it: {', '.join(told['verdicts'])}"
    yield from _what_to_do(told)


def _advice(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Before going on", told["action_required"]
    yield "Instead", "; or: ".join(told["instead"])
    yield "From", whose(told["origin"])


def _what_to_do(told: Mapping[str, Any]) -> Iterator[str]:
    name = told["trigger"]
    if told["muted"]:
        yield f"  It is muted now. To hear it again: deia mute {name} --off"
    elif "message" in told:
        yield f'  To silence it: deia mute {name} --for 2h; in its conversation alone, say there: "deia: not relevant"'
    if told["outcome"] == "held" and not told["muted"]:
        yield "  To let it pass: make the same call again, or type deia allow with the code that was shown with it."
    if told["id"] and not told["verdicts"]:
        yield f"  To say what it was worth: deia feedback {told['id']} noise (or useful, wrong, prevented)"


def _short(text: Any) -> str:
    return shorten(one_line(str(text)), MOST_CHARS)
