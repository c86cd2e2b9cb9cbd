"""`deia graph`: what belongs to what in the commons and the library, each relation with the line that shows it."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

import click

from deia.compile.graph_merges import applied_merges, apply_merges, undo_merge
from deia.compile.graph_update import propose_for
from deia.errors import QueryError
from deia.graph import exports
from deia.graph.drawing import neighbourhood, tree
from deia.graph.graph_answers import GraphAnswer
from deia.graph.graph_questions import named
from deia.graph.merging import proposed_merges
from deia.graph.picture import picture
from deia.graph.schema import fields_of
from deia.graph.traversal import BOTH, DIRECTIONS, DOWNSTREAM, FLOWS, MAX_DEPTH
from deia.language_model import endpoint_of
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared
from deia.serve.cli.shell_completion import complete_entities
from deia.text import counted

MOST = click.IntRange(1, 1_000)
DEPTH = click.IntRange(1, 20)
MOST_DEPTH_DRAWN = 3
entity_argument = click.argument("entity", shell_complete=complete_entities)
type_option = click.option("--type", "kind", default="", metavar="TYPE", help="Only entities of this type.")
limit_option = click.option("--limit", type=MOST, default=20, show_default=True, help="How many to show.")
depth_option = click.option(
    "--max-depth", type=DEPTH, default=MAX_DEPTH, show_default=True, help="How many relations away to look."
)
to_option = click.option("--to", "target", default="", metavar="FILE", help="Write it into this new file.")


@click.group(short_help="Ask what belongs to what.")
def graph() -> None:
    """The graph of the commons and the library: entities and relations, each with the line that shows it.

    A name may be misspelt or abbreviated. If it may mean several things, these are listed, and the command exits 1;
    type one of them as it is written there, such as "METHOD Cart.add in shop.py".
    """


def _show(answer: GraphAnswer, *, is_found: object, as_json: bool) -> int:
    """Print an answer and return the exit code."""
    text = answer.text.replace(" → ", output.mark(" → ", " -> "))
    output.answer(answer.to_dict(), [text], as_json=as_json)
    return output.FOUND if is_found else output.NOTHING


def _give(text: str, target: str) -> None:
    """Write a text into a new file, or print it if none is named."""
    if target:
        output.write_new(target, text)
        output.say(f"Wrote {target}")
    else:
        output.say(text.rstrip("\n"))


@graph.command("entities", short_help="List entities.")
@click.option("--query", default="", metavar="NAME", help="Only those that this name may mean.")
@type_option
@click.option(
    "--field", "fields", multiple=True, metavar="NAME=VALUE", help="Only with this value of a field; may be repeated."
)
@limit_option
@shared.json_option
def graph_entities(*, query: str, kind: str, fields: Sequence[str], limit: int, as_json: bool) -> int:
    """List entities, each with its type and the line that defines or names it."""
    answer = shared.open_librarian().entities(query, type=kind, fields=fields_of(fields), limit=limit)
    return _show(answer, is_found=answer.entities, as_json=as_json)


@graph.command("relations", short_help="Show what an entity has to do with others.")
@entity_argument
@click.option("--direction", type=click.Choice(DIRECTIONS), default=BOTH, help="Those that lead in, out, or both.")
@type_option
@limit_option
@shared.json_option
def graph_relations(*, entity: str, direction: str, kind: str, limit: int, as_json: bool) -> int:
    """Show the relations of ENTITY, each with the line that shows it."""
    answer = shared.open_librarian().relations(entity, direction=direction, type=kind, limit=limit)
    return _show(answer, is_found=answer.relations, as_json=as_json)


@graph.command("trace", short_help="Follow what flows to or from an entity.")
@entity_argument
@click.option(
    "--direction", type=click.Choice(FLOWS), default=DOWNSTREAM, show_default=True, help="Where to go from there."
)
@type_option
@depth_option
@shared.json_option
def graph_trace(*, entity: str, direction: str, kind: str, max_depth: int, as_json: bool) -> int:
    """Show what is downstream of ENTITY, or upstream, as chains.

    Downstream is what takes from it or rests on it: consumers, callers, importers, what it produces. Upstream is what
    it takes from or rests on itself.
    """
    answer = shared.open_librarian().trace(entity, direction=direction, type=kind, max_depth=max_depth)
    return _show(answer, is_found=answer.chains, as_json=as_json)


@graph.command("path", short_help="Show how two entities are connected.")
@click.argument("start", metavar="FROM", shell_complete=complete_entities)
@click.argument("end", metavar="TO", shell_complete=complete_entities)
@depth_option
@shared.json_option
def graph_path(*, start: str, end: str, max_depth: int, as_json: bool) -> int:
    """Show the shortest path between FROM and TO, whichever way the relations point."""
    answer = shared.open_librarian().path(start, end, max_depth=max_depth)
    return _show(answer, is_found=answer.entities, as_json=as_json)


@graph.command("dependents", short_help="Show what may break if an entity changes.")
@entity_argument
@type_option
@depth_option
@limit_option
@shared.json_option
def graph_dependents(*, entity: str, kind: str, max_depth: int, limit: int, as_json: bool) -> int:
    """Show what imports, calls, inherits from or otherwise rests on ENTITY, or on what belongs to it."""
    answer = shared.open_librarian().dependents(entity, type=kind, max_depth=max_depth, limit=limit)
    return _show(answer, is_found=answer.total, as_json=as_json)


@graph.command("stats", short_help="Show how much there is.")
@shared.json_option
def graph_stats(*, as_json: bool) -> int:
    """Show how many documents, chunks, entities, relations and vectors there are."""
    return _show(shared.open_librarian().graph_stats(), is_found=True, as_json=as_json)


@graph.command("export", short_help="Give the graph to other programs.")
@click.option(
    "--format", "form", type=click.Choice(list(exports.FORMATS)), default="json", show_default=True,
    help="The form of the output; csv has the relations.",
)  # fmt: skip
@type_option
@click.option("--limit", type=click.IntRange(1), default=exports.MOST_EXPORTED, help="How many entities and relations.")
@to_option
def graph_export(*, form: str, kind: str, limit: int, target: str) -> None:
    """Write all entities and relations, or those of a type and the relations between them."""
    with shared.open_librarian().open_graph() as opened:
        exported = exports.export(opened, form, kind=kind, most=limit)
        _give("\n".join([*exported.lines, ""]), target)
    if exported.is_cut:
        output.complain(f"deia: there is more than {limit} entities or relations; the rest was left out")


@graph.command("draw", short_help="Draw what is around an entity.")
@entity_argument
@click.option(
    "--depth", type=click.IntRange(1, MOST_DEPTH_DRAWN), default=1, show_default=True, help="How many steps around it."
)
@click.option("--format", "form", type=click.Choice(["text", "svg"]), default="text", help="A tree, or a picture.")
@type_option
@to_option
def graph_draw(*, entity: str, depth: int, form: str, kind: str, target: str) -> int:
    """Draw what is around ENTITY: as a tree, or as a picture that a browser shows."""
    with shared.open_librarian().open_graph() as opened:
        about = named(opened, entity, kind)
        if about.note:
            choices = (f"  {choice.described(choice.typed)}" for choice in about.choices)
            output.complain("\n".join((about.note, *choices)))
        if about.choices:
            return output.NOTHING
        drawn = neighbourhood(opened, about.entity, depth=depth)
    text = picture(drawn) if form == "svg" else tree(drawn, ascii_only=not output.mark("├└│─", "")) + "\n"
    _give(text, target)
    if drawn.is_cut:
        output.complain("deia: there is more around it than is drawn")
    return output.FOUND


@graph.command("merge", short_help="Say which entities are one.")
@click.argument("idents", nargs=-1, metavar="[ID...]")
@click.option("--undo", is_flag=True, help="Take back the merge ID, or the last one.")
@shared.json_option
def graph_merge(*, idents: Sequence[str], undo: bool, as_json: bool) -> int:
    """Show which entities may be one and what speaks for it, or accept the proposals ID.

    One then is another name of the other, everywhere in the graph, until it is taken back. What you accept is kept
    among your own files. If there are no proposals, exits 1.
    """
    root = shared.commons_root()
    if undo or idents:
        shared.trust_typed(root)
    if undo:
        done = [undo_merge(root, os.environ, ident, now=time.time()) for ident in idents or [""]]
        output.answer(
            [merge.values() for merge in done], [f"{merge.id} is taken back" for merge in done], as_json=as_json
        )
        return output.FOUND
    stand = applied_merges(root, os.environ)
    with shared.open_librarian().open_graph() as opened:
        proposed = {merge.id: merge for merge in proposed_merges(opened)}
    if wrong := [ident for ident in idents if ident not in proposed]:
        raise QueryError(f"nothing is proposed as {wrong[0]!r}", fix="To see the proposals, type: deia graph merge")
    chosen = [merge for ident, merge in proposed.items() if ident in idents or not idents]
    lines = [output.printable(str(merge)) for merge in chosen]
    if idents:
        apply_merges(root, os.environ, chosen, now=time.time())
        lines.append("To take the last one back, type: deia graph merge --undo")
    else:
        lines += [f"merged: {output.printable(str(merge))}" for merge in stand]
    output.answer([{"id": merge.id, **merge.values()} for merge in chosen], lines, as_json=as_json)
    return output.FOUND if chosen else output.NOTHING


@graph.command("propose", short_help="Ask a language model for more.")
@click.argument("documents", nargs=-1, metavar="[DOCUMENT...]")
@shared.json_option
def graph_propose(*, documents: tuple[str, ...], as_json: bool) -> None:
    """Ask a language model for entities and relations of DOCUMENTS, or of all that it was not asked about before.

    The variables DEIA_LLM_URL, DEIA_LLM_MODEL and DEIA_LLM_KEY name an endpoint with OpenAI's interface, to which the
    texts are sent. What a document does not say word for word is dropped; the rest is marked as proposed.
    """
    endpoint = endpoint_of(os.environ)
    if endpoint is None:
        raise QueryError("no language model is set", fix="Set DEIA_LLM_URL, such as http://127.0.0.1:11434/v1")
    root = shared.writable_root()
    shared.trust_typed(root)
    total = propose_for(
        root,
        os.environ,
        endpoint,
        documents,
        lambda name, number: output.complain(f"{name}: {counted(number, 'proposal')}"),
    )
    kept = f"{counted(total.entities, 'entity')} and {counted(total.relations, 'relation')}"
    line = f"Proposed for {counted(total.documents, 'document')}: {kept}; {total.dropped} dropped"
    output.answer(total.values(), [line], as_json=as_json)
