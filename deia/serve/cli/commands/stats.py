"""`deia stats` and `deia report`: reports from the log, in the terminal and as a page, and SQL queries of it."""

from __future__ import annotations

import json
import os
import time
import webbrowser
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from deia import files
from deia.commons.index.successors import with_real_successors
from deia.commons.layers.merge_layers import PROJECT, load_layered, origin_of
from deia.commons.source_files.slugs import slug
from deia.errors import QueryError
from deia.folders import events_folder, is_packaged, state_folder
from deia.ledger.compaction import compact
from deia.ledger.gaps import find_gaps, outline
from deia.ledger.report_page import page
from deia.ledger.report_values import Grid, Report
from deia.ledger.reports import REPORTS, Known, KnownDocument, make_reports
from deia.ledger.warehouse import SECONDS, ask, ask_freely, read_through
from deia.ledger.warehouse_schema import VIEWS
from deia.problems import CommonsError
from deia.records import Record
from deia.search.rendering.terminal_answer import Look
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared
from deia.serve.cli.report_tables import grid_text, report_text
from deia.serve.cli.terminal import look_of
from deia.settings import resolve
from deia.tables import Tables
from deia.text import counted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection  # takes 100 ms, and only a query needs it

Value = TypeVar("Value")

WITH_COMMONS = ("documents", "triggers")  # reports that also read the commons
TABLES = Tables(__file__)
KEPT = TABLES.pairs("kept")  # what the log contains, by the setting `telemetry`
REPORT_COMMANDS = TABLES.pairs("commands")

ledger_option = click.option(
    "--log", "--ledger", "ledgers", metavar="FOLDER", multiple=True,
    help="Also read the log in this folder; may be repeated.",
)  # fmt: skip


class Selection(Record):
    """Which events to read, and whether to print JSON."""

    since: str
    ledgers: Sequence[str]
    as_json: bool = False

    def read(self, query: Callable[[DuckDBPyConnection], Value]) -> Value:
        """Return the result of a query of these events."""
        return read_through(ledger_folders(self.ledgers), query, since=self.since)


def reading(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a report to a command, which receives them as one `selection`."""

    @wraps(command)
    def run(*args: object, since: str, as_json: bool, ledgers: Sequence[str], **options: object) -> None:
        command(*args, selection=Selection(since=since, as_json=as_json, ledgers=ledgers), **options)

    return shared.since_option(shared.json_option(ledger_option(run)))


@click.group(invoke_without_command=True, short_help="Show figures from the log: questions, documents, triggers.")
@reading
@click.pass_context
def stats(ctx: click.Context, *, selection: Selection) -> None:
    """Show reports from the log: questions, documents, triggers, gaps. It never leaves this machine.

    Without a subcommand, this shows a summary, and what the log contains.
    """
    if ctx.invoked_subcommand is None:
        _show("summary", selection)
        if not selection.as_json:
            output.say("\n" + _account())
    elif selection.since or selection.as_json or selection.ledgers:
        raise click.UsageError(f"Put options after the name: deia stats {ctx.invoked_subcommand} --since 7d")


def _report_command(name: str, description: str) -> click.Command:
    @reading
    def run(*, selection: Selection) -> None:
        _show(name, selection)

    run.__doc__ = description
    return click.command(name, short_help=description)(run)


for report_name, report_description in REPORT_COMMANDS.items():
    stats.add_command(_report_command(report_name, report_description))


@stats.command()
@click.option("--draft", metavar="N", type=click.IntRange(1), help="Draft the document for gap N, as Markdown.")
@reading
def gaps(*, draft: int | None, selection: Selection) -> None:
    """Show questions that were not answered, grouped by topic."""
    if draft is None:
        _show("gaps", selection)
        return
    all_gaps = selection.read(find_gaps)
    if draft > len(all_gaps):
        raise QueryError(f"there is no gap {draft}; there are {len(all_gaps)}", fix="To see them: deia stats gaps")
    gap = all_gaps[draft - 1]
    text = outline(gap)
    output.say(json.dumps({**gap.values(), "draft": text}) if selection.as_json else text.rstrip("\n"))


@click.command(short_help="Write all reports to an HTML page.")
@click.option(
    "--html", "file", metavar="FILE", default="", help="Where to write the page. [default: your state folder]"
)
@click.option("--open", "show", is_flag=True, help="Then open it in your browser.")
@shared.since_option
@ledger_option
def report(*, file: str, show: bool, since: str, ledgers: Sequence[str]) -> None:
    """Write all reports to one HTML page, which loads nothing from elsewhere."""
    root = shared.commons_root()
    name = os.path.basename(root) or root
    if not file:
        file = f"{state_folder(os.environ)}/reports/{slug(name)}.html"
        files.make_folders(files.parent(file))
    reports = _reports(list(REPORTS), Selection(since=since, ledgers=ledgers))
    text = page(reports, made=time.strftime("%Y-%m-%d %H:%M"), place=name)
    try:
        files.replace(os.path.abspath(file), text.encode("utf-8", "replace"))
    except OSError as error:
        fix = "Name another file with --html."
        raise CommonsError(f"{file} cannot be written: {error.strerror}", fix=fix) from error
    output.say(f"wrote {file}")
    if show and not webbrowser.open_new_tab(Path(os.path.abspath(file)).as_uri()):
        raise CommonsError("no browser can be started here", fix=f"Open {os.path.abspath(file)} yourself.")


@stats.command()
@click.argument("query", required=False)
@click.option("--tables", is_flag=True, help="Show the tables and their columns.")
@click.option(
    "--seconds", type=click.FloatRange(0.1, 3600), default=SECONDS, show_default=True,
    help="How long the query may take.",
)  # fmt: skip
@reading
def sql(*, query: str | None, tables: bool, seconds: float, selection: Selection) -> None:
    """Run a QUERY of the log in DuckDB's SQL. It can only read, and only the files of the log."""
    if tables:
        output.say("\n".join(read_through(ledger_folders(selection.ledgers), _tables)))
        return
    if not query:
        raise click.UsageError("A query is missing. To see the tables, type: deia stats sql --tables")
    table = selection.read(lambda connection: ask_freely(connection, query, seconds=seconds))
    if selection.as_json:
        output.say(json.dumps([dict(zip(table.columns, row, strict=True)) for row in table.rows], default=str))
        return
    rows = tuple(tuple(map(_cell, row)) for row in table.rows)
    grid = Grid(title="", columns=table.columns, rows=rows, empty="No rows.")
    more = [f"There are more than {len(rows):,} rows."] if table.cut else []
    output.say("\n".join((*grid_text(grid, _look()), *more)))


@stats.command("compact")
def compact_ledger() -> None:
    """Compress past days, and delete events that are older or more than the settings allow."""
    root = shared.commons_root()
    settings = resolve(root, environ=os.environ)
    folder = events_folder(root, os.environ)
    result = compact(folder, now=time.time(), days=settings.telemetry_days, megabytes=settings.telemetry_mb)
    if result.busy:
        output.say("Another process is compacting this log.")
        return
    removed = f", {counted(result.removed, 'file')} with old events changed or deleted" if result.removed else ""
    sizes = f"{result.before:,} bytes before, {result.after:,} now"
    output.say(f"{counted(result.folded, 'file')} folded{removed}: {sizes}.")


# --- reports ---


def _show(name: str, selection: Selection) -> None:
    (shown,) = _reports([name], selection)
    if selection.as_json:
        output.say(json.dumps(shown.to_dict()))
    else:
        places = ", ".join(ledger_folders(selection.ledgers))
        output.say(f"Of the commons in {shared.commons_root()}; logged in {places}\n")
        output.show(report_text(shown, _look()))


def _look() -> Look:
    return look_of(shared.commons_root(), colour="auto", environ=os.environ)


def _reports(names: Sequence[str], selection: Selection) -> list[Report]:
    known = _known() if set(names) & set(WITH_COMMONS) else Known(today=shared.today())
    return selection.read(lambda connection: make_reports(connection, known, names))


def ledger_folders(ledgers: Sequence[str]) -> list[str]:
    """Return the folders to read: that of the commons, and those that were named.

    Raise CommonsError if a named folder does not exist.
    """
    for folder in ledgers:
        if not os.path.isdir(folder):
            fix = "Name a folder with events, such as telemetry/events."
            raise CommonsError(f"there is no folder {folder}", fix=fix)
    folders = (events_folder(shared.commons_root(), os.environ), *ledgers)
    return list(dict.fromkeys(files.forward(os.path.abspath(folder)) for folder in folders))


def _known() -> Known:
    """Return the project's own documents and triggers, or none if its commons cannot be read."""
    root = shared.commons_root()
    if is_packaged(root):
        return Known(today=shared.today())
    try:
        settings = resolve(root, environ=os.environ)
        commons = load_layered(root, starter=settings.starter, trusted=settings.trusted)
    except CommonsError:
        return Known(today=shared.today())

    documents = (
        KnownDocument(
            id=entry.id,
            title=entry.title,
            verified=entry.verified,
            valid_until=entry.valid_until,
            superseded_by=entry.superseded_by,
            review_after=entry.review_after,
            changed=entry.updated,
        )
        for entry in with_real_successors(commons.entries)
        if origin_of(entry.path) == PROJECT
    )
    triggers = (
        trigger.id
        for trigger in commons.triggers
        if origin_of(trigger.path) == PROJECT and trigger.status != "deprecated"
    )
    return Known(documents=tuple(documents), triggers=tuple(triggers), today=shared.today())


def _account() -> str:
    root = shared.commons_root()
    settings = resolve(root, environ=os.environ)
    limits = [f"{settings.telemetry_days} days" if settings.telemetry_days else ""]
    limits += [f"{settings.telemetry_mb} MB" if settings.telemetry_mb else ""]
    limit = " or ".join(filter(None, limits))
    duration = f"for at most {limit}" if limit else "permanently"
    return (
        f"telemetry = {settings.telemetry}. {KEPT[settings.telemetry]}\n"
        f"It is stored in {events_folder(root, os.environ)} {duration}, and is sent nowhere.\n"
        'To log less, set telemetry = "metadata" or "off" in deia.toml. To delete everything, delete that folder.'
    )


# --- SQL ---


def _tables(connection: DuckDBPyConnection) -> list[str]:
    tables = {
        "events": "everything, one row per event, as it was logged",
        **{name: view.purpose for name, view in VIEWS.items()},
        "damage": "the number of damaged lines in each file",
    }
    lines = []
    for name, purpose in tables.items():
        columns = ask(connection, "SELECT column_name, column_type FROM (DESCRIBE FROM query_table(?))", [name])
        lines += [f"{name}: {purpose}", "  " + ", ".join(f"{column} {kind.lower()}" for column, kind in columns)]
    return lines


def _cell(value: object) -> str | int | float | None:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or isinstance(value, (int, float)):
        return value
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
