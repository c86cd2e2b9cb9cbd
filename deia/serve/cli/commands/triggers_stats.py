"""`deia triggers list` and `deia triggers stats`: the triggers, and how often each fired."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import click

from deia import fast_json
from deia.commons.index.load_commons import Commons
from deia.commons.layers.merge_layers import load_layered, load_layers, origin_of
from deia.commons.layers.shadowing import describe_hiding, find_hidings
from deia.folders import events_folder
from deia.ledger.tail import read_ledger
from deia.ledger.trigger_usage import Usage, count_usage
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, commons_root, form_option, since_option, start_of
from deia.settings import resolve
from deia.text import counted, one_line

COLUMNS = ("fired", "held", "passed", "muted", "over_budget", "conversations")
NAMED = 30  # triggers that a line lists


def _layered(root: str) -> Commons:
    return load_layered(root, starter=resolve(root, environ=os.environ).starter)


@click.command("list", short_help="Show the triggers, and which layer each comes from.")
@form_option("text", "json")
@commons_option
def list_triggers(*, form: str) -> int:
    """Show the active triggers: the project's own, and those of packs and the starter commons, each with its layer."""
    root = commons_root()
    layers = load_layers(root, starter=resolve(root, environ=os.environ).starter)
    hidden: dict[str, list[str]] = {}
    for hiding in find_hidings(layers.stack):
        hidden.setdefault(hiding.winner.id, []).append(describe_hiding(hiding))
    triggers = sorted(layers.merged().triggers, key=lambda trigger: (origin_of(trigger.path) != "project", trigger.id))
    rows = [
        {
            "id": trigger.id, "origin": origin_of(trigger.path), "status": trigger.status, "urgency": trigger.urgency,
            "action": trigger.action, "title": one_line(trigger.title), "path": trigger.path, "line": trigger.line,
            "hides": hidden.get(trigger.id, []),
        }
        for trigger in triggers
    ]  # fmt: skip
    if form == "json":
        output.say(fast_json.dumps(rows))
        return output.FOUND
    width = max((len(trigger.id) for trigger in triggers), default=0)
    for row in rows:
        about = f"{row['id']:<{width}}  {row['origin']}  {row['status']}, {row['urgency']}, {row['action']}"
        output.say(f"{about}: {row['title']}")
        for line in hidden.get(str(row["id"]), ()):
            output.say(f"{'':<{width}}  ! {line}")
    off = sum(trigger.status == "deprecated" for trigger in triggers)
    output.say(f"{counted(len(rows) - off, 'trigger')}{f', and {off} deprecated' if off else ''}.")
    return output.FOUND


@click.command(short_help="Show how often each trigger fired.")
@since_option
@form_option("text", "json")
@commons_option
def stats(*, since: str | None, form: str) -> int:
    """Show how often each trigger fired, stopped a call, let it pass, was muted or over the budget, and when last."""
    root = commons_root()
    ledger = read_ledger(events_folder(root, os.environ), since=start_of(since))
    usages = count_usage(ledger.events)
    active = [trigger.id for trigger in _layered(root).triggers if trigger.status != "deprecated"]
    seen = {usage.trigger for usage in usages}
    never = sorted(ident for ident in active if ident not in seen)
    gone = sorted(seen.difference(active))
    if form == "json":
        rows = [usage.values() for usage in usages]
        output.say(fast_json.dumps({"triggers": rows, "never": never, "gone": gone, "broken_lines": ledger.broken}))
    else:
        output.say("\n".join(_lines(usages, never, gone, ledger.broken)))
    return output.FOUND


def _lines(usages: Sequence[Usage], never: Sequence[str], gone: Sequence[str], broken: int) -> Iterator[str]:
    width = max((len(usage.trigger) for usage in usages), default=0)
    if usages:
        yield "  ".join(("trigger".ljust(width), *COLUMNS, "last"))
    for usage in usages:
        counts = (str(getattr(usage, name)).rjust(len(name)) for name in COLUMNS)
        yield "  ".join((usage.trigger.ljust(width), *counts, usage.last))
    yield f"{sum(usage.fired for usage in usages)} firings of {len(usages)} triggers."
    for heading, names in (("Never seen", never), ("No longer exists", gone)):
        if names:
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            yield f"{heading} ({len(names)}): {', '.join(names[:NAMED])}{more}."
    if broken:
        yield f"{counted(broken, 'damaged line')} skipped."
