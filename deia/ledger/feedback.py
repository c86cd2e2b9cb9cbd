"""Find the event that feedback is about: an injection or an answer.

It is named by its id, the end of its id, the word `last` (the last injection, or the last answer if there is none), a
trigger (its last firing) or a document (the last answer that contained it). A name that could mean several events is an
error.
"""

from __future__ import annotations

from deia import spool
from deia.errors import QueryError
from deia.ledger.warehouse import Connection, ask_records, read_through
from deia.problems import CommonsError
from deia.records import Record

VERDICTS = ("useful", "noise", "prevented", "wrong")
SYNONYMS = {"helpful": "useful"}
SHORTEST = 4  # characters of the end of an id
JUDGED = "event IN ('query', 'injection') AND id IS NOT NULL"
INJECTED = "outcome IN ('shown', 'held')"
NEWEST = "ORDER BY e.ts DESC NULLS LAST, id DESC LIMIT 2"


class JudgedEvent(Record):
    """The event that feedback is about."""

    id: str
    event: str
    name: str  # the trigger, or the query
    ts: str = ""
    conversation: str = ""


def record_feedback(folder: str, name: str, verdict: str, *, note: str = "", agent: str, telemetry: str) -> JudgedEvent:
    """Write what a person says about an event into the ledger in `folder`, and return the event."""
    event = read_through([folder], lambda connection: find_event(connection, name))
    fields = {"agent": agent, "conversation": event.conversation, "of": event.id, "verdict": verdict, "note": note}
    if event.event == "query" and name != "last" and not event.id.endswith(name):
        fields["doc"] = name  # one document of the answer
    if not spool.append(folder, "feedback", fields, telemetry=telemetry):
        if telemetry == "off":
            fix = 'Set telemetry = "metadata" or "full".'
            raise CommonsError("telemetry is off, so feedback cannot be recorded", fix=fix)
        raise CommonsError("the log cannot be written", fix=f"Check the permissions of {folder}.")
    return event


def find_event(connection: Connection, name: str) -> JudgedEvent:
    """Return the event that a text names; raise QueryError if the text names no event, or several."""
    events = _matching(connection, "id = ?", name)
    if not events and name == "last":
        events = _matching(connection, f"? = 'last' AND {INJECTED}", name)[:1]
        events = events or _matching(connection, "? = 'last'", name)[:1]
    if not events and len(name) >= SHORTEST:
        events = _matching(connection, "ends_with(id, ?)", name)
        if len(events) > 1:
            raise QueryError(f"several events end in {name!r}", fix=f"Write more of the id: {events[0].id}")
    for condition in ("trigger = ?", "event = 'query' AND list_contains(docs, ?)"):
        events = events or _matching(connection, condition, name)[:1]
    if not events:
        fix = "Name an event's id (deia log --json), a trigger, a document that was shown, or last."
        raise QueryError(f"nothing in the log is called {name!r}", fix=fix)
    return events[0]


def _matching(connection: Connection, condition: str, name: str) -> tuple[JudgedEvent, ...]:
    sql = f"""SELECT id, event, coalesce(trigger, query, '') AS name,
        coalesce(strftime(ts, '%Y-%m-%dT%H:%M:%SZ'), '') AS ts, coalesce(conversation, '') AS conversation
        FROM events e WHERE {JUDGED} AND {condition} {NEWEST}"""
    return ask_records(connection, JudgedEvent, sql, [name])
