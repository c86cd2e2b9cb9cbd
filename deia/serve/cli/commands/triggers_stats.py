"""`deia triggers list` and `deia triggers stats`: which triggers there are, and what each has done."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence

import click

from deia import fast_json, spool
from deia.commons.index.load_commons import Commons
from deia.commons.layers.merge_layers import load_layered, load_layers, origin_of
from deia.commons.layers.shadowing import describe_hiding, find_hidings
from deia.durations import read_duration
from deia.folders import events_folder
from deia.ledger.tail import read_ledger
from deia.ledger.trigger_usage import Usage, count_usage
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, commons_root, form_option
from deia.settings import resolve
from deia.text import counted, one_line

COLUMNS = ("fired", "held", "passed", "muted", "over_budget", "conversations")
NAMED = 30  # triggers that a line names


def _layered(root: str) -> Commons:
    return load_layered(root, starter=resolve(root, environ=os.environ).starter)


@click.command("list", short_help="Show the triggers and where each comes from.")
@form_option("text", "json")
@commons_option
def list_triggers(*, form: str) -> int:
    """Show the triggers that count, the project's own and those of packs and the starter, each with its origin."""
    root = commons_root()
    layers = load_layers(root, starter=resolve(root, environ=os.environ).starter)
    hidden: dict[str, list[str]] = {}
    for each in find_hidings(layers.stack):
        hidden.setdefault(each.winner.id, []).append(describe_hiding(each))
    triggers = sorted(layers.merged().triggers, key=lambda one: (origin_of(one.path) != "project", one.id))
    rows = [
        {
            "id": one.id, "origin": origin_of(one.path), "status": one.status, "urgency": one.urgency,
            "action": one.action, "title": one_line(one.title), "path": one.path, "line": one.line,
            "hides": hidden.get(one.id, []),
        }
        for one in triggers
    ]  # fmt: skip
    if form == "json":
        output.say(fast_json.dumps(rows))
        return output.FOUND
    width = max((len(one.id) for one in triggers), default=0)
    for row in rows:
        about = f"{row['id']:<{width}}  {row['origin']}  {row['status']}, {row['urgency']}, {row['action']}"
        output.say(f"{about}: {row['title']}")
        for line in hidden.get(str(row["id"]), ()):
            output.say(f"{'':<{width}}  ! {line}")
    off = sum(one.status == "deprecated" for one in triggers)
    output.say(f"{counted(len(rows) - off, 'trigger')}{f', and {off} deprecated' if off else ''}.")
    return output.FOUND


@click.command(short_help="Show what each trigger has done, from the ledger.")
@click.option("--since", metavar="TIME", help="Only the last 30m, 2h or 7d; by default all there is.")
@form_option("text", "json")
@commons_option
def stats(*, since: str | None, form: str) -> int:
    """Show how often each trigger fired, was held, passed, muted or over the budget, when last, and which never did."""
    root = commons_root()
    ledger = read_ledger(events_folder(root, os.environ), since=_start(since))
    used = count_usage(ledger.events)
    living = [one.id for one in _layered(root).triggers if one.status != "deprecated"]
    seen = {one.trigger for one in used}
    never = sorted(identity for identity in living if identity not in seen)
    gone = sorted(seen.difference(living))
    if form == "json":
        rows = [one.values() for one in used]
        output.say(fast_json.dumps({"triggers": rows, "never": never, "gone": gone, "broken_lines": ledger.broken}))
    else:
        output.say("\n".join(_lines(used, never, gone, ledger.broken)))
    return output.FOUND


def _start(since: str | None) -> str:
    try:
        return spool.timestamp(time.time() - read_duration(since)) if since is not None else ""
    except (ValueError, OverflowError, OSError) as error:
        raise click.BadParameter(str(error), param_hint="--since") from error


def _lines(used: Sequence[Usage], never: Sequence[str], gone: Sequence[str], broken: int) -> Iterator[str]:
    width = max((len(one.trigger) for one in used), default=0)
    if used:
        yield "  ".join(("trigger".ljust(width), *COLUMNS, "last"))
    for one in used:
        counts = (str(getattr(one, name)).rjust(len(name)) for name in COLUMNS)
        yield "  ".join((one.trigger.ljust(width), *counts, one.last))
    yield f"{sum(one.fired for one in used)} firings of {len(used)} triggers."
    for what, names in (("Never seen", never), ("No longer there", gone)):
        if names:
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            yield f"{what} ({len(names)}): {', '.join(names[:NAMED])}{more}."
    if broken:
        yield f"{broken} broken lines were passed over."
