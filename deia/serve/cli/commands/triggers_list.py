"""`deia trigger list`: the triggers, and which layer each comes from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

import click

from deia.commons.layers.merge_layers import PROJECT, load_layers, origin_of
from deia.commons.layers.shadowing import describe_hiding, find_hidings
from deia.fast_json import Json
from deia.knowledge import Trigger
from deia.records import UNTRUSTED
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, commons_root, form_option
from deia.serve.cli.flags import LAYERS
from deia.settings import resolve
from deia.text import counted, one_line


@click.command("list", short_help="Show the triggers, and which layer each comes from.")
@click.option("--layer", type=click.Choice(LAYERS), help="Only the project's own, those of packs, or the starter's.")
@form_option("text", "json")
@commons_option
def list_triggers(*, form: str, layer: str | None) -> int:
    """Show the active triggers: the project's own, and those of packs and the starter commons, each with its layer."""
    root = commons_root()
    settings = resolve(root, environ=os.environ)
    own = PROJECT if settings.trusted else UNTRUSTED
    layers = load_layers(root, starter=settings.starter, trusted=settings.trusted)
    layers = layers if settings.starter_triggers else layers.without_starter_triggers()
    hidden: dict[str, list[str]] = {}
    for hiding in find_hidings(layers.stack):
        hidden.setdefault(hiding.winner.id, []).append(describe_hiding(hiding))
    listed = [trigger for trigger in layers.merged().triggers if layer in {None, _layer_of(trigger)}]
    triggers = sorted(listed, key=lambda trigger: (not _is_own(trigger), trigger.id))
    origins = {trigger.id: own if _is_own(trigger) else origin_of(trigger.path) for trigger in triggers}
    rows: list[Json] = [
        {
            "id": trigger.id, "origin": origins[trigger.id], "status": trigger.status, "urgency": trigger.urgency,
            "action": trigger.action, "title": one_line(trigger.title), "path": trigger.path, "line": trigger.line,
            "hides": hidden.get(trigger.id, []),
        }
        for trigger in triggers
    ]  # fmt: skip
    output.answer(rows, _list_lines(triggers, origins, hidden), as_json=form == "json")
    return output.FOUND


def _layer_of(trigger: Trigger) -> str:
    """Return the layer of a trigger, as `--layer` names it."""
    origin = origin_of(trigger.path)
    return {PROJECT: "own", "starter": "starter"}.get(origin, "packs")


def _is_own(trigger: Trigger) -> bool:
    return origin_of(trigger.path) == PROJECT


def _list_lines(
    triggers: Sequence[Trigger], origins: Mapping[str, str], hidden: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    width = max((len(trigger.id) for trigger in triggers), default=0)
    for trigger in triggers:
        about = f"{origins[trigger.id]}  {trigger.status}, {trigger.urgency}, {trigger.action}"
        yield f"{trigger.id:<{width}}  {about}: {one_line(trigger.title)}"
        yield from (f"{'':<{width}}  ! {line}" for line in hidden.get(trigger.id, ()))
    off = sum(trigger.status == "deprecated" for trigger in triggers)
    yield f"{counted(len(triggers) - off, 'trigger')}{f', and {off} deprecated' if off else ''}."
