"""Live: the log as it grows, what a person says to it, and which trigger makes the noise.

The actions are those of `deia feedback`, `deia mute` and `deia allow`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from deia.errors import QueryError
from deia.fast_json import Json
from deia.folders import events_folder, is_packaged, state_folder
from deia.ledger.charts import picture_of
from deia.ledger.feedback import VERDICTS, record_feedback
from deia.ledger.report_page import shown_cell
from deia.ledger.report_values import Chart, Grid, Report
from deia.ledger.reports import Known, make_reports
from deia.ledger.tail import read_ledger
from deia.ledger.warehouse import read_through
from deia.problems import CommonsError
from deia.serve.page.asked_values import Asked, choice, name, number, wanted_name
from deia.serve.server.desk import Desk
from deia.settings import resolve
from deia.text import shorten
from deia.watch.silence.allow import grant, pending
from deia.watch.silence.mutes import Mute, read_mutes, write_mute

MOST_EVENTS = 200_000
MOST_FIELD = 400  # characters of a field of an event
MOST_ITEMS = 8
TEXTS = ("ts", "trigger", "because", "conversation", "event", "outcome")  # shown as texts, whatever a log holds
EXTENT = ("trigger", "folder", "path", "base", "conversation")  # what tells the mutes of a person apart
DAY = 86_400
SPANS = {"hour": 3_600, "day": DAY, "week": 7 * DAY, "always": 0}


def events_of(desk: Desk) -> str:
    """Return the folder of the log."""
    return events_folder(desk.root, os.environ)


def recent(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Return the last events of the log, the newest last, without the `skip` newest."""
    last = number(asked, "last", default=500, most=MOST_EVENTS)
    skip = number(asked, "skip", default=1, most=MOST_EVENTS) if asked.get("skip") else 0
    ledger = read_ledger(events_of(desk), last=last)
    kept = ledger.events[: len(ledger.events) - skip] if skip else ledger.events
    return {"events": [shown_event(event) for event in kept], "more": len(ledger.events) == last}


def shown_event(event: Mapping[str, Json]) -> dict[str, Json]:
    """Return an event whose texts and lists are of bounded length: anybody may have written the log."""
    shown = {str(key)[:40]: _bounded(value) for key, value in [*event.items()][:40]}
    return shown | {key: _text(event[key]) for key in TEXTS if key in event}


def _text(value: Json) -> str:
    return shorten("" if value is None else str(value), MOST_FIELD)


def _bounded(value: Json) -> Json:
    if isinstance(value, str):
        return shorten(value, MOST_FIELD)
    if isinstance(value, (list, tuple)):
        return [shorten(str(item), MOST_FIELD) for item in value[:MOST_ITEMS]]
    if isinstance(value, Mapping):
        return shorten(str(value), MOST_FIELD)
    return value


def judge_event(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Record that what was said was not relevant, useful, wrong, or prevented a mistake."""
    telemetry = resolve(desk.root, environ=os.environ).telemetry
    verdict = choice(asked, "verdict", ("noise", *VERDICTS))
    about = record_feedback(
        events_of(desk), name(asked, "id"), verdict, note="on the page", agent="page", telemetry=telemetry
    )
    return {"of": about.id, "name": about.name, "verdict": verdict}


def mute(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Mute a trigger: here, in a conversation, or everywhere; for a while or for good; or end the mute."""
    trigger, place = name(asked, "trigger"), choice(asked, "where", ("here", "conversation", "everywhere"))
    if not any(known.id == trigger for known in desk.librarian.open_artefact().triggers()):
        raise QueryError(f"there is no trigger {trigger!r}", fix="To see them all, open Lessons.")
    conversation = wanted_name(asked, "conversation") if place == "conversation" else ""
    seconds = SPANS[choice(asked, "span", ("always", *SPANS))]
    decision = Mute(
        trigger=trigger, until=time.time() + seconds if seconds else 0.0,
        folder=_here(desk) if place == "here" else "", conversation=conversation,
    )  # fmt: skip
    _write(decision)
    return silences(desk, asked)


def _here(desk: Desk) -> str:
    """Return the folder in which a mute counts here: that of the commons, or where one works without a commons."""
    return desk.folder if is_packaged(desk.root) else desk.root


def unmute(desk: Desk, asked: Asked) -> dict[str, Json]:
    """End one mute of a trigger: that of a folder, of paths, of a conversation, or the one for everywhere."""
    wanted = [name(asked, key) for key in EXTENT]
    for decision in read_mutes(state_folder(os.environ), now=time.time()):
        if [getattr(decision, key) for key in EXTENT] == wanted:
            _write(decision.but(lifted=True))
    return silences(desk, asked)


def _write(decision: Mute) -> None:
    state = state_folder(os.environ)
    if not write_mute(state, decision):
        raise CommonsError("the mute cannot be written", where=state, fix="Check the permissions of that folder.")


def silences(desk: Desk, _asked: Asked) -> dict[str, Json]:
    """Return what is muted, the folder that is meant by here, and which stopped calls wait for permission."""
    state, now = state_folder(os.environ), time.time()
    fields = (*EXTENT, "until", "once")
    mutes: list[Json] = [{key: getattr(decision, key) for key in fields} for decision in read_mutes(state, now=now)]
    waiting: list[Json] = [
        {"code": leave.code, "conversation": leave.conversation, "triggers": [*leave.triggers], "until": leave.until}
        for leave in pending(state, now=now)
    ]
    return {"mutes": mutes, "pending": waiting, "folder": _here(desk)}


def allow(desk: Desk, asked: Asked) -> dict[str, Json]:
    """Let a stopped call pass, once or for the rest of its conversation."""
    code, whole = name(asked, "code"), asked.get("whole") is True
    if grant(state_folder(os.environ), code, now=time.time(), whole=whole) is None:
        raise CommonsError(f"the code {code!r} is unknown or has expired", fix="It is valid for 30 minutes.")
    return silences(desk, asked)


def noise(desk: Desk, _asked: Asked) -> dict[str, Json]:
    """Return the report on triggers: what each said, and how much of it was noise."""
    triggers = desk.librarian.open_artefact().triggers()
    own = tuple(trigger.id for trigger in triggers if trigger.origin == "project")
    known = Known(triggers=own, today=desk.today)
    (report,) = read_through([events_of(desk)], lambda connection: make_reports(connection, known, ["triggers"]))
    return shown_report(report)


def shown_report(report: Report) -> dict[str, Json]:
    """Return a report with its charts as pictures and its cells as people read them."""
    figures: list[Json] = [
        {"label": figure.label, "value": shown_cell(figure.value, figure.unit), "note": figure.note}
        for figure in report.figures
    ]
    blocks = [_chart(block) if isinstance(block, Chart) else _table(block) for block in report.blocks]
    return {"title": report.title, "lead": report.lead, "figures": figures, "blocks": blocks, "notes": [*report.notes]}


def _chart(chart: Chart) -> dict[str, Json]:
    sums = {series: sum(value or 0 for value in values) for series, values in chart.series.items()}
    totals = ", ".join(f"{series} {total:g}" for series, total in sums.items())
    return {"title": chart.title, "svg": picture_of(chart), "told": totals, "note": chart.note}


def _table(grid: Grid) -> dict[str, Json]:
    rows: list[Json] = [
        [shown_cell(cell, grid.units.get(column, "")) for column, cell in zip(grid.columns, row, strict=True)]
        for row in grid.rows
    ]
    return {"title": grid.title, "columns": [*grid.columns], "rows": rows, "empty": grid.empty, "note": grid.note}
