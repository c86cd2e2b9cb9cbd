"""`deia trigger explain`: what the acts of a trigger ask for, and what a text lacks of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from deia.librarian import Librarian
from deia.problems import CommonsError
from deia.records import Turn
from deia.serve.cli import output
from deia.serve.cli.commands.check import act_lines
from deia.serve.cli.commands.shared_options import commons_option, named_commons
from deia.serve.cli.shell_completion import complete_triggers
from deia.suggestions import nearest
from deia.watch.authoring.act_explanation import explain_acts, requirements
from deia.watch.compiled_trigger import CompiledTrigger
from deia.watch.gate.artefact import Artefact


@click.command(short_help="Show what the acts of a trigger ask for.")
@click.argument("ident", metavar="ID", shell_complete=complete_triggers)
@click.argument("text", nargs=-1)
@commons_option
def explain(*, ident: str, text: Sequence[str]) -> int:
    """Show what the `act` and `meaning` clauses of the trigger ID ask for, in words.

    With a TEXT, this also shows how each act in it was read, and what it lacks. If the trigger has no such
    clause, exits 1.
    """
    artefact = Librarian(named_commons() or None, agent="cli", ledger=False).open_artefact()
    asked = requirements(artefact, _trigger(artefact, ident))
    if not asked:
        output.say(f"{ident} has no `act` or `meaning` clause.")
        return output.NOTHING
    output.say("\n".join(_lines(asked)))
    if text:
        acts = explain_acts(artefact, Turn(role="user", text=" ".join(text)), triggers=[ident])
        output.say("\n".join([line for act in acts for line in act_lines(act)] or ["The text names no act."]))
    return output.FOUND


def _trigger(artefact: Artefact, ident: str) -> CompiledTrigger:
    """Return the compiled trigger with this id; CommonsError if there is none, or if it has errors or is deprecated."""
    compiled = {trigger.id: trigger for trigger in map(artefact.trigger, range(artefact.meta.triggers))}
    if ident not in compiled:
        raise CommonsError(f"there is no trigger {ident!r} that can fire", fix=nearest(ident, compiled))
    return compiled[ident]


def _lines(asked: dict[str, list[str]]) -> Iterator[str]:
    for source, conditions in asked.items():
        yield source
        yield from (f"  {condition}" for condition in conditions or ["names no act on a thing, and matches nothing"])
