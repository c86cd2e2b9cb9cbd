"""Reports on use: documents, triggers, agents, and a summary of everything."""

from __future__ import annotations

from deia.ledger.report_values import Figure, Report, bars, share, table
from deia.ledger.shared_rows import gather, over_time
from deia.ledger.sql_files import read_statements
from deia.ledger.warehouse import Connection, ask
from deia.records import Record
from deia.text import counted, period

SHOWN = 20  # rows of a table
BARS = 12  # in a chart
IGNORED_FROM = 5  # answers after which a document that nobody opened counts as ignored
STALE_DAYS = 180  # after which a document's check is out of date
OF_DOCUMENT = ("document", "in answers", "injected", "opened", "useful", "noise", "last")
OF_TRIGGER = (
    "trigger", "fired", "held", "passed", "muted", "quiet", "over", "sessions", "useful", "noise", "precision", "last",
)  # fmt: skip
OF_AGENT = (
    "who", "sessions", "questions", "matched", "injections", "held", "opened", "feedback", "errors", "last",
)  # fmt: skip
PRECISION = "Over: over the budget. Precision: the share of `useful` and `prevented` in all judgements."
OWN = "of your own"
OWN_NOTE = "Only your own count, not those of packs and of the starter."
HELPFUL = "Opened or judged useful, and not judged noise more often."
OUTCOMES = {
    "shown": "outcome = 'shown'", "held": "outcome = 'held'", "passed": "outcome = 'passed'",
    "muted": "outcome = 'muted'", "quiet": "outcome = 'quiet'", "over budget": "outcome = 'over_budget'",
}  # fmt: skip

LESSON = "event = 'injection' AND coalesce(outcome, 'shown') IN ('shown', 'held')"  # it reached an agent
ACTIVITY = {
    "questions": "event = 'query'", "lessons": LESSON, "other": f"event <> 'query' AND NOT ({LESSON})",
}  # fmt: skip
STATEMENTS = read_statements(__file__, lesson=LESSON)


class KnownDocument(Record):
    """The details of a document that reports need; days are texts."""

    id: str
    title: str = ""
    verified: str = ""
    valid_until: str = ""
    review_after: str = ""
    changed: str = ""  # when the text last changed
    own: bool = True  # whether it is the project's, and not a pack's or the starter's


class KnownTrigger(Record):
    """The details of a trigger that reports need."""

    id: str
    urgency: str = ""
    status: str = ""
    own: bool = True  # whether it is the project's


class Known(Record):
    """The current contents of a commons, and today's date."""

    documents: tuple[KnownDocument, ...] = ()
    triggers: tuple[KnownTrigger, ...] = ()
    today: str = ""


HOLDS = (
    "Not repeated: held calls after which the trigger let nothing pass in that conversation. Whether a mistake was"
    " prevented only people can say, by: deia feedback last prevented"
)


def documents(connection: Connection, known: Known) -> Report:
    """Return the report on documents that help, are shown but ignored, are never needed, or are out of date."""
    gather(connection, "judgements", "document_counts")
    used = {row[0]: row[1:] for row in ask(connection, STATEMENTS["documents"].sql)}
    rows = [(identity, *values) for identity, values in used.items()]
    noisy = sorted((row for row in rows if row[5] > row[4]), key=lambda row: (row[4] - row[5], -row[2]))
    useful = [row for row in rows if row not in noisy and (row[3] or row[4])]
    helpful = sorted(useful, key=lambda row: (-row[3] - row[4], -row[2]))
    ignored = sorted((row for row in rows if row[1] >= IGNORED_FROM and not row[3] and not row[4]), key=lambda r: -r[1])
    own = [document for document in known.documents if document.own]
    unused = sorted((document.id, document.title) for document in own if document.id not in used)
    checks = (_staleness(document, known.today, used) for document in own)
    stale = sorted(filter(None, checks), key=lambda row: row[1])
    never = f"; {len(unused):,} of your own never were" if own else ""
    top = sorted(rows, key=lambda row: -sum(row[1:4]))[:BARS]
    read = sum(1 for row in rows if row[3])
    ignored_note = f"In {IGNORED_FROM} answers or more, never opened and never judged useful."
    unread = "No document has been opened through deia yet, so `ignored` says little."
    return Report(
        name="documents",
        title="Documents",
        lead=f"{counted(len(used), 'document')} shown or opened{never}.",
        figures=(
            Figure(label="used", value=len(used)),
            Figure(label="opened", value=read),
            Figure(label="never shown", value=len(unused), note=OWN),
            Figure(label="to be checked again", value=len(stale)),
        ),
        blocks=(
            bars("Shown and opened", top, in_answers=1, injected=2, opened=3),
            table("Helpful", OF_DOCUMENT, helpful, most=SHOWN, note=HELPFUL),
            table("Called noise", OF_DOCUMENT, noisy, most=SHOWN, note="Judged noise or wrong more often than useful."),
            table("Shown and ignored", OF_DOCUMENT, ignored, most=SHOWN, note=ignored_note),
            table("Never shown", ("document", "title"), unused, most=SHOWN, empty="All were shown.", note=OWN_NOTE),
            table("To be checked again", ("document", "verified", "because", "used"), stale, most=SHOWN),
        ),
        notes=() if read else (unread,),
    )


def _staleness(known: KnownDocument, today: str, used: dict[str, tuple[int, ...]]) -> tuple[str, str, str, int] | None:
    """Return the row of a document that should be checked again, with the reason; None if it need not be."""
    days = _days(known.verified, today) if known.verified else None
    if known.verified and known.changed and known.changed > known.verified:
        why = f"changed on {known.changed}, after the check"
    elif days is not None and days > STALE_DAYS:
        why = f"checked {days} days ago"
    elif known.review_after and known.review_after < today:
        why = f"to be reviewed after {known.review_after}"
    elif known.valid_until and known.valid_until < today:
        why = f"valid until {known.valid_until}"
    else:
        return None
    return known.id, known.verified, why, sum(used[known.id][:3]) if known.id in used else 0


def _days(first: str, last: str) -> int | None:
    """Return the number of days between two dates, or None if one is not a date."""
    from datetime import date  # noqa: PLC0415 - only this report needs a calendar

    try:
        return (date.fromisoformat(last[:10]) - date.fromisoformat(first[:10])).days
    except ValueError:
        return None


def triggers(connection: Connection, known: Known) -> Report:
    """Return the report on what each trigger did, how people judged it, and which never fired."""
    gather(connection, "fired_triggers", "judgements")
    rows = ask(connection, STATEMENTS["triggers"].sql)
    active = {trigger.id for trigger in known.triggers if trigger.own and trigger.status != "deprecated"}
    never = sorted((trigger,) for trigger in active - {row[0] for row in rows})
    fired, held, passed, muted, quiet = (sum(row[at] for row in rows) for at in (1, 2, 3, 4, 5))
    cells = [(*row[:10], share(row[8], row[8] + row[9]), row[10]) for row in rows]
    return Report(
        name="triggers",
        title="Triggers",
        lead=f"{fired:,} firings of {len(rows):,} triggers; {held:,} calls were held.",
        figures=(
            Figure(label="firings", value=fired),
            Figure(label="held", value=held),
            Figure(label="let pass", value=passed),
            Figure(label="muted", value=muted),
            Figure(label="kept quiet", value=quiet, note="in quiet hours, or beyond the hourly limit"),
            Figure(label="never fired", value=len(never), note=OWN),
            _unrepeated(connection, held),
        ),
        blocks=(
            over_time(connection, "Triggers that matched, and what came of it", "fired_triggers", OUTCOMES),
            bars("Most active", [(row[0], row[1] - row[2], row[2]) for row in rows[:BARS]], shown=1, held=2),
            table("Each trigger", OF_TRIGGER, cells, most=SHOWN, units={"precision": "%"}, note=PRECISION),
            table("Never fired", ("trigger",), never, most=SHOWN, empty="All have fired.", note=OWN_NOTE),
        ),
        notes=(HOLDS,),
    )


def _unrepeated(connection: Connection, held: int) -> Figure:
    """Return how many held calls were not repeated, and how often somebody said that a mistake was prevented."""
    gather(connection, "unrepeated_holds")
    ((unrepeated,),) = ask(connection, "FROM unrepeated_holds")
    ((said,),) = ask(connection, STATEMENTS["called_prevented"].sql)
    note = f"of {held:,}" + (f"; {said:,} judged `prevented`" if said else "")
    return Figure(label="held and not repeated", value=unrepeated, note=note)


def agents(connection: Connection) -> Report:
    """Return the report on who used the commons, and how."""
    rows = ask(connection, STATEMENTS["agents"].sql)
    cells = [(*row[:3], None if row[3] is None else round(row[3], 1), *row[4:]) for row in rows]
    return Report(
        name="agents",
        title="Agents and hosts",
        lead=f"{len(rows):,} agents and hosts used the commons." if rows else "Nobody has used the commons yet.",
        blocks=(
            bars("Events by agent", rows[:BARS], questions=2, injections=4),
            table("Each agent and host", OF_AGENT, cells, most=SHOWN, units={"matched": "%"}, empty="Nothing."),
        ),
    )


def summary(connection: Connection) -> Report:
    """Return a short report on everything."""
    gather(connection, "asked_queries", "fired_triggers", "judgements")
    total, first, last = ask(connection, STATEMENTS["summary"].sql)[0]
    asked, yes = ask(connection, "SELECT count(*), count(*) FILTER (answered = 'yes') FROM asked_queries")[0]
    shown, held, conversations = ask(connection, STATEMENTS["lessons"].sql)[0]
    opened, judged, errors = (
        ask(connection, f"SELECT count(*) FROM {view}")[0][0] for view in ("reads", "judgements", "errors")
    )
    broken = ask(connection, "SELECT coalesce(sum(lines), 0)::BIGINT, count(*) FILTER (lines = 0) FROM damage")[0]
    lead = (
        f"{counted(total, 'event')} {period(first, last)}."
        if total
        else "No events yet: ask something, or let a host run."
    )
    return Report(
        name="summary",
        title="deia in use",
        lead=lead,
        figures=(
            Figure(label="questions", value=asked, note=f"{share(yes, asked):g} % answered" if asked else ""),
            Figure(
                label="lessons shown to agents",
                value=shown,
                note=f"in {counted(conversations, 'conversation')}" if shown else "",
            ),
            Figure(label="calls held", value=held),
            _unrepeated(connection, held),
            Figure(label="documents opened", value=opened),
            Figure(label="judgements", value=judged),
            Figure(label="errors of deia", value=errors),
        ),
        blocks=(over_time(connection, "Activity", "events", ACTIVITY),),
        notes=(
            HOLDS,
            *((f"Broken lines that were skipped: {broken[0]:,}.",) if broken[0] else ()),
            *((f"Parquet files that cannot be read: {broken[1]:,}.",) if broken[1] else ()),
        ),
    )
