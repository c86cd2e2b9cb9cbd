"""`deia telemetry` and `deia feedback`: what the ledger tells, who may ask it anything, and what somebody thought."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import click

from deia import files, spool
from deia.commons.layers.merge_layers import load_layered
from deia.durations import read_duration
from deia.errors import CommonsError, QueryError
from deia.folders import events_folder
from deia.ledger.compaction import compact
from deia.ledger.feedback import VERDICTS, find_event
from deia.ledger.gaps import find_gaps, outline
from deia.ledger.import_older import import_files
from deia.ledger.report_page import page
from deia.ledger.report_values import Grid, Report
from deia.ledger.reports import REPORTS, make_reports
from deia.ledger.usage_reports import Known, KnownDocument, KnownTrigger
from deia.ledger.warehouse import SECONDS, Table, ask, ask_freely, read_through
from deia.ledger.warehouse_schema import VIEWS
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, commons_root, here, today
from deia.serve.cli.report_tables import grid_text, report_text
from deia.serve.cli.terminal import look_of
from deia.settings import resolve
from deia.text import counted, one_line, shorten

KNOWING = ("documents", "triggers")  # reports that also look at the commons
PAGE = "deia-report.html"
KEPT = {
    "full": "Kept of a question: its words, what was found, how long it took, who asked. Of a trigger: which, why, what"
    " came of it. Keys, passwords and mail addresses are replaced before anything is written.",
    "metadata": "Kept is what happened and when, not the words: no questions, reasons, notes or error messages.",
    "off": "Nothing is kept; what was kept before is still there.",
}

since_option = click.option("--since", metavar="TIME", help="Only the last 30m, 2h or 7d; by default all there is.")
json_option = click.option("--json", "as_json", is_flag=True, help="Give it as JSON.")
ledger_option = click.option(
    "--ledger", "ledgers", metavar="FOLDER", multiple=True, help="Read this folder of events too; may be repeated."
)


def reading(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a report."""
    return since_option(json_option(ledger_option(commons_option(command))))


@click.group(invoke_without_command=True, short_help="Show what the ledger tells.")
@reading
@click.pass_context
def telemetry(ctx: click.Context, *, since: str | None, as_json: bool, ledgers: Sequence[str]) -> int:
    """Show what the ledger tells: questions, documents, triggers, gaps. Everything stays on this machine.

    Without a further command, a summary, and what is kept.
    """
    if ctx.invoked_subcommand is not None:
        if since or as_json or ledgers:
            raise click.UsageError(f"Write options behind the name: deia telemetry {ctx.invoked_subcommand} --since 7d")
        return output.FOUND
    code = _show(["summary"], since=since, as_json=as_json, ledgers=ledgers)
    if not as_json:
        output.say("\n" + _account())
    return code


def _reporting(name: str, text: str) -> click.Command:
    @reading
    def run(*, since: str | None, as_json: bool, ledgers: Sequence[str]) -> int:
        """Show one report."""
        return _show([name], since=since, as_json=as_json, ledgers=ledgers)

    run.__doc__ = text
    return click.command(name, short_help=text)(run)


for _name, _text in (
    ("queries", "Show what was asked, how it was answered, and what nobody answers."),
    ("documents", "Show which documents help, are ignored, are never needed, or are old."),
    ("triggers", "Show what each trigger did and what people said of it."),
    ("latency", "Show how long answers took, by path."),
    ("agents", "Show who used the commons, and how."),
):
    telemetry.add_command(_reporting(_name, _text))


@telemetry.command()
@click.option("--draft", metavar="N", type=click.IntRange(1), help="Draft the document that gap N lacks, as Markdown.")
@reading
def gaps(*, draft: int | None, since: str | None, as_json: bool, ledgers: Sequence[str]) -> int:
    """Show what is asked and not answered, grouped by what it is about."""
    if draft is None:
        return _show(["gaps"], since=since, as_json=as_json, ledgers=ledgers)
    found = read_through(ledger_folders(ledgers), find_gaps, since=start_of(since))
    if draft > len(found):
        raise QueryError(f"there is no gap {draft}; there are {len(found)}", fix="To see them: deia telemetry gaps")
    text = outline(found[draft - 1])
    output.say(json.dumps({**found[draft - 1].values(), "draft": text}) if as_json else text.rstrip("\n"))
    return output.FOUND


@telemetry.command()
@click.option("--html", "file", metavar="FILE", default=PAGE, show_default=True, help="Where to write the page.")
@since_option
@ledger_option
@commons_option
def report(*, file: str, since: str | None, ledgers: Sequence[str]) -> int:
    """Write all reports as one page of HTML, which needs nothing else and loads nothing."""
    root = commons_root()
    made = _reports(list(REPORTS), since=since, ledgers=ledgers)
    text = page(made, made=time.strftime("%Y-%m-%d %H:%M"), place=os.path.basename(root) or root)
    try:
        files.replace(os.path.abspath(file), text.encode("utf-8", "replace"))
    except OSError as error:
        raise CommonsError(f"{file} cannot be written: {error.strerror}", fix="Name another with --html.") from error
    output.say(f"wrote {file}")
    return output.FOUND


@telemetry.command()
@click.argument("question", required=False)
@click.option("--tables", is_flag=True, help="Show the tables and their columns.")
@click.option(
    "--seconds", type=click.FloatRange(0.1, 3600), default=SECONDS, show_default=True, help="How long it may take."
)
@reading
def sql(
    *, question: str | None, tables: bool, seconds: float, since: str | None, as_json: bool, ledgers: Sequence[str]
) -> int:
    """Ask the ledger a QUESTION in SQL (DuckDB's). It is read only, and no file but the ledger's can be reached."""
    if tables or not question:
        if not tables:
            raise click.UsageError("What is the question? To see the tables: deia telemetry sql --tables")
        output.say("\n".join(read_through(ledger_folders(ledgers), _tables)))
        return output.FOUND
    found = read_through(
        ledger_folders(ledgers),
        lambda connection: ask_freely(connection, question, seconds=seconds),
        since=start_of(since),
    )
    output.say(_as_json(found) if as_json else _as_text(found))
    return output.FOUND


@telemetry.command("compact")
@commons_option
def compact_ledger() -> int:
    """Fold closed days into Parquet, and remove what is older or more than the settings allow."""
    root = commons_root()
    settings = resolve(root, environ=os.environ)
    folder = events_folder(root, os.environ)
    done = compact(folder, now=time.time(), days=settings.telemetry_days, megabytes=settings.telemetry_mb)
    if done.busy:
        output.say("Another deia compacts this ledger now.")
        return output.FOUND
    removed = f", {counted(done.removed, 'file')} with old events changed or removed" if done.removed else ""
    output.say(f"{counted(done.folded, 'file')} folded{removed}: {done.before:,} bytes before, {done.after:,} now.")
    return output.FOUND


@telemetry.command("import")
@click.argument("paths", nargs=-1, required=True, metavar="FILE…")
@commons_option
def import_ledger(*, paths: Sequence[str]) -> int:
    """Take in ledgers of older forms or of other machines: FILEs of JSON lines. What is here already is not doubled."""
    root = commons_root()
    settings = resolve(root, environ=os.environ)
    if settings.telemetry == "off":
        raise CommonsError("telemetry is off, so nothing is taken in", fix='Set telemetry = "metadata" or "full".')
    folder = events_folder(root, os.environ)
    known = read_through([folder], lambda connection: {row[0] for row in ask(connection, "SELECT id FROM events")})
    code = output.FOUND
    for done in import_files(paths, folder, telemetry=settings.telemetry, known=known):
        here_already = f", {done.known:,} were here already" if done.known else ""
        broken = f", {counted(done.broken, 'broken line')} passed over" if done.broken else ""
        output.say(f"{done.path}: {counted(done.taken, 'event')} taken in{here_already}{broken}.")
        if done.broken and not done.taken and not done.known:
            output.complain(
                f"deia: {done.path} is no ledger: no line of it is an event, a JSON object that says what happened"
            )
            code = output.BROKEN
    return code


@click.command(short_help="Say what an injection or an answer was worth.")
@click.argument("what", metavar="ID")
@click.argument("verdict", type=click.Choice(VERDICTS))
@click.option("--note", default="", help="Why, in a few words.")
@commons_option
def feedback(*, what: str, verdict: str, note: str) -> int:
    """Say that what deia said was useful, noise, wrong, or prevented a mistake.

    ID is an event's id or its end, a trigger (its last firing), a document (the last answer that named it), or `last`.
    """
    root = commons_root()
    settings = resolve(root, environ=os.environ)
    folder = events_folder(root, os.environ)
    judged = read_through([folder], lambda connection: find_event(connection, what))
    fields = {"agent": "cli", "conversation": judged.conversation, "of": judged.id, "verdict": verdict, "note": note}
    if judged.event == "query" and what != "last" and not judged.id.endswith(what):
        fields["doc"] = what  # one document of the answer, by its name
    if not spool.append(folder, "feedback", fields, telemetry=settings.telemetry):
        off = settings.telemetry == "off"
        fix = 'Set telemetry = "metadata" or "full".' if off else f"Give yourself the right to write in {folder}."
        raise CommonsError("telemetry is off, so nothing is kept" if off else "the ledger cannot be written", fix=fix)
    about = shorten(one_line(judged.name), 80) or judged.id
    output.say(f"Noted: {judged.event} {about!r} of {judged.ts or 'an unknown time'} was {_judgement(verdict)}.")
    return output.FOUND


def _judgement(verdict: str) -> str:
    return {"prevented": "what prevented a mistake"}.get(verdict, verdict)


# --- reports ---


def _show(names: Sequence[str], *, since: str | None, as_json: bool, ledgers: Sequence[str]) -> int:
    made = _reports(names, since=since, ledgers=ledgers)
    if as_json:
        output.say(json.dumps(made[0].to_dict() if len(made) == 1 else [each.to_dict() for each in made]))
        return output.FOUND
    look = look_of(commons_root(), colour="auto", environ=os.environ)
    output.show("\n\n".join(report_text(each, look) for each in made))
    return output.FOUND


def _reports(names: Sequence[str], *, since: str | None, ledgers: Sequence[str]) -> list[Report]:
    known = _known() if set(names) & set(KNOWING) else Known(today=today())
    start = start_of(since)
    return read_through(ledger_folders(ledgers), lambda connection: make_reports(connection, known, names), since=start)


def ledger_folders(ledgers: Sequence[str]) -> list[str]:
    """Give the folders to read: the commons' own ledger, and those that were named.

    Raises:
        CommonsError: a folder that was named is not there.
    """
    for folder in ledgers:
        if not os.path.isdir(folder):
            raise CommonsError(
                f"there is no folder {folder}", fix="Name one that holds events, such as telemetry/events."
            )
    own = events_folder(commons_root(), os.environ)
    return list(
        dict.fromkeys(os.path.abspath(os.path.join(here(), each)).replace("\\", "/") for each in (own, *ledgers))
    )


def _known() -> Known:
    """Read what the commons holds; what is broken in it is left out, and a ledger without a commons is told alone."""
    root = commons_root()
    try:
        commons = load_layered(root, starter=resolve(root, environ=os.environ).starter)
    except CommonsError:
        return Known(today=today())
    return Known(
        documents=tuple(
            KnownDocument(id=each.id, title=each.title, verified=each.verified, changed=each.updated)
            for each in commons.entries
        ),
        triggers=tuple(KnownTrigger(id=each.id, urgency=each.urgency, status=each.status) for each in commons.triggers),
        today=today(),
    )


def start_of(since: str | None) -> str:
    """Give the time from which somebody wants events, as the ledger writes it, or the empty text.

    Raises:
        BadParameter: it is no span of time.
    """
    try:
        return spool.timestamp(time.time() - read_duration(since)) if since is not None else ""
    except (ValueError, OverflowError, OSError) as error:
        raise click.BadParameter(str(error), param_hint="--since") from error


def _account() -> str:
    """Say plainly what is kept, where, for how long, and how to change it."""
    root = commons_root()
    settings = resolve(root, environ=os.environ)
    bounds = [f"{settings.telemetry_days} days" if settings.telemetry_days else ""]
    bounds += [f"{settings.telemetry_mb} MB" if settings.telemetry_mb else ""]
    most = " or ".join(filter(None, bounds))
    kept = f"for at most {most}" if most else "for good"
    return "\n".join(
        (
            f"telemetry = {settings.telemetry}. {KEPT[settings.telemetry]}",
            f"It lies in {events_folder(root, os.environ)} {kept}, and is sent nowhere.",
            'To keep less: telemetry = "metadata" or "off" in deia.toml. To forget everything: remove that folder.',
        )
    )


# --- SQL ---


def _tables(connection: Any) -> list[str]:
    lines = ["events: everything, one row an event, as the ledger holds it"]
    lines += [f"{name}: {view.purpose}" for name, view in VIEWS.items()]
    lines.append("damage: a file with how many broken lines it has")
    told = []
    for line in lines:
        name = line.partition(":")[0]
        columns = ask(connection, "SELECT column_name, column_type FROM (DESCRIBE FROM query_table(?))", [name])
        told += [line, "  " + ", ".join(f"{column} {kind.lower()}" for column, kind in columns)]
    return told


def _as_json(table: Table) -> str:
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return json.dumps(rows, default=str)


def _as_text(table: Table) -> str:
    rows = tuple(tuple(map(_cell, row)) for row in table.rows)
    look = look_of(commons_root(), colour="auto", environ=os.environ)
    more = [f"There are more than {len(rows):,} rows."] if table.cut else []
    return "\n".join((*grid_text(Grid(title="", columns=table.columns, rows=rows, empty="No rows."), look), *more))


def _cell(value: Any) -> str | int | float | None:
    if isinstance(value, bool) or value is None:
        return None if value is None else str(value).lower()
    return (
        value
        if isinstance(value, (int, float))
        else ", ".join(map(str, value))
        if isinstance(value, list)
        else str(value)
    )
