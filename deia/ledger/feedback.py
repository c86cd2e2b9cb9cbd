"""Feedback: what somebody thought of an injection or an answer, written to the ledger as an event of its own.

What is judged is found by the id of its event, the end of that id, the word `last`, a trigger's name (its last firing)
or a document's (the last answer that named it). Refuses what names nothing, and what could mean several events.
"""

from __future__ import annotations

from deia.errors import QueryError
from deia.ledger.warehouse import ask
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    import duckdb

VERDICTS = ("useful", "noise", "prevented", "wrong")
SHORTEST = 4  # characters of an id's end
JUDGED = "event IN ('query', 'injection') AND id IS NOT NULL"
NEWEST = "ORDER BY ts DESC NULLS LAST, id DESC LIMIT 2"


class Judged(Record):
    """The event that somebody means."""

    id: str
    event: str
    name: str  # the trigger, or the question
    ts: str = ""
    conversation: str = ""


def find_judged(connection: duckdb.DuckDBPyConnection, what: str) -> Judged:
    """Give the event that a text names.

    Raises:
        QueryError: nothing is called so, or several are.
    """
    found = _matching(connection, "id = ?", what) or []
    if not found and what == "last":
        found = _matching(connection, "? = 'last'", what)[:1]
    if not found and len(what) >= SHORTEST:
        found = _matching(connection, "ends_with(id, ?)", what)
        if len(found) > 1:
            raise QueryError(f"several events end in {what!r}", fix=f"Write more of the id: {found[0].id}")
    for condition in ("trigger = ?", "event = 'query' AND list_contains(docs, ?)"):
        found = found or _matching(connection, condition, what)[:1]
    if not found:
        fix = "Name an event's id (deia log --format json), a trigger, a document that was shown, or last."
        raise QueryError(f"nothing in the ledger is called {what!r}", fix=fix)
    return found[0]


def _matching(connection: duckdb.DuckDBPyConnection, condition: str, what: str) -> list[Judged]:
    rows = ask(
        connection,
        f"""SELECT id, event, coalesce(trigger, query, ''), strftime(ts, '%Y-%m-%dT%H:%M:%SZ'), conversation
        FROM events WHERE {JUDGED} AND {condition} {NEWEST}""",
        [what],
    )
    return [Judged(id=row[0], event=row[1], name=row[2], ts=row[3] or "", conversation=row[4] or "") for row in rows]
