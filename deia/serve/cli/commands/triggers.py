"""`deia trigger`: run the cases of triggers, explain them, lint them, list them, draft one from a sentence."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence

import click

from deia import fast_json
from deia.commons.index.load_commons import Commons, load_commons
from deia.commons.layers.merge_layers import PROJECT, load_layered, load_layers, origin_of
from deia.commons.layers.shadowing import hidden_triggers
from deia.commons.triggers.read_triggers import own_act_words
from deia.commons.write.add_lesson import cases_text, drafted_effect, trigger_text, write_draft
from deia.compile.manifest import read_manifest
from deia.compile.triggers.linting import lint_triggers
from deia.evaluate.trigger_drafting import proposed, proven
from deia.fast_json import Json
from deia.knowledge import Trigger
from deia.librarian import Librarian
from deia.problems import CommonsError, Problem
from deia.records import UNTRUSTED, Turn
from deia.serve.cli import colours, output
from deia.serve.cli.ci_reports import CI_FORMS, Checked, from_here, print_problems, print_report
from deia.serve.cli.commands import shared_options as shared
from deia.serve.cli.commands.check import act_lines
from deia.serve.cli.commands.commons import compile_and_say
from deia.serve.cli.commands.triggers_replay import replay
from deia.serve.cli.commands.watch_option import watch_option
from deia.serve.cli.flags import LAYERS
from deia.serve.cli.shell_completion import complete_triggers
from deia.settings import resolve
from deia.suggestions import nearest
from deia.text import counted, one_line, shorten
from deia.watch.authoring.act_explanation import explain_acts, requirements
from deia.watch.authoring.replay import CaseResult, run_cases

EXCERPT = 100  # characters of a turn that are shown
NO_DOCUMENT = "name-a-document"  # the placeholder if no document fits
LAYER_OF = {PROJECT: "own", "starter": "starter"}  # of triggers, by their origin; all others are those of packs


@click.group(short_help="Work on triggers: new, list, test, lint, explain, replay.")
def trigger() -> None:
    """Work on the triggers: list them, run their cases, try them on past conversations.

    To see what they did, type: deia stats triggers
    """


trigger.add_command(replay)


@trigger.command()
@click.argument("ids", nargs=-1, metavar="[ID]…", shell_complete=complete_triggers)
@shared.form_option("text", "json", *CI_FORMS)
@watch_option
def test(*, ids: Sequence[str], form: str) -> int:
    """Run the cases of triggers: examples on which a trigger must fire, or must not fire.

    Without an ID, all cases are run. If a case fails, exits 1.
    """
    librarian = shared.open_librarian()
    commons = load_commons(librarian.root)
    for ident in ids:
        shared.check_trigger(ident, [trigger.id for trigger in commons.triggers])
    cases = [case for case in commons.cases if not ids or case.trigger in ids]
    results = run_cases(librarian.open_artefact(), cases, now=time.time())
    failures = [result for result in results if not result.holds]
    if form in CI_FORMS:
        print_report(form, "deia trigger test", [_checked(librarian.root, result) for result in results])
    elif form == "json":
        output.say(fast_json.dumps([_fields(result) for result in results]))
    else:
        lines = [line for result in failures for line in _failure(result)]
        colours.say("\n".join((*lines, *_summary(commons, ids, results))), colours.CASES)
    return int(bool(failures))


def _fields(result: CaseResult) -> Json:
    case = result.case
    return {
        "trigger": case.trigger, "path": case.path, "line": case.line, "fires": case.fires, "holds": result.holds,
        "turn": result.turn, "stage": result.stage, "detail": result.detail,
    }  # fmt: skip


def _checked(root: str, result: CaseResult) -> Checked:
    case, (title, *more) = result.case, _failure(result)
    path = from_here(root, case.path)
    description = f"{title.partition(': ')[2]};{' '.join(more)}"
    failure = Problem(path=path, line=case.line, found=description, code="failed-case")
    return Checked(
        group=case.trigger, name=f"{'fires' if case.fires else 'silent'}, {path}:{case.line}",
        problem=None if result.holds else failure,
    )  # fmt: skip


def _failure(result: CaseResult) -> Iterator[str]:
    case = result.case
    wanted = "should fire" if case.fires else "should not fire"
    turn = case.turns[result.turn - 1] if case.turns else None
    yield f"{case.path}:{case.line}: {case.trigger} {wanted}, but {'does not' if case.fires else 'fires'}"
    if turn is not None:
        yield f"  turn {result.turn}, {turn.role}: {shorten(one_line(turn.text or str(turn.tool_input)), EXCERPT)}"
    yield f"  {'stopped at ' + result.stage if case.fires else 'because'}: {result.detail}"


def _summary(commons: Commons, ids: Sequence[str], results: Sequence[CaseResult]) -> Iterator[str]:
    covered = {result.case.trigger for result in results}
    tested = [trigger.id for trigger in commons.triggers if not ids or trigger.id in ids]
    failed = sum(not result.holds for result in results)
    yield f"{counted(len(tested), 'trigger')}, {counted(len(results), 'case')}, {failed} failed."
    without_cases = [ident for ident in tested if ident not in covered]
    if without_cases:
        yield f"Without cases: {', '.join(without_cases)}."
    broken = [
        problem for problem in commons.problems if problem.path.startswith("triggers/") and problem.severity == "error"
    ]
    if broken:
        yield f"{counted(len(broken), 'error')} in the trigger files; these triggers are not tested. Type: deia lint"


@trigger.command(short_help="Show what the acts of a trigger ask for.")
@click.argument("ident", metavar="ID", shell_complete=complete_triggers)
@click.argument("text", nargs=-1)
def explain(*, ident: str, text: Sequence[str]) -> int:
    """Show what the `act` and `meaning` clauses of the trigger ID ask for, in words.

    With a TEXT, this also shows how each act in it was read, and what it lacks. If the trigger has no such
    clause, exits 1.
    """
    artefact = shared.open_librarian().open_artefact()
    compiled = {trigger.id: trigger for trigger in artefact.triggers()}
    if ident not in compiled:  # it does not exist, has errors or is deprecated
        raise CommonsError(f"there is no trigger {ident!r} that can fire", fix=nearest(ident, compiled))
    needs = requirements(artefact, compiled[ident])
    if not needs:
        output.say(f"{ident} has no `act` or `meaning` clause.")
        return output.NOTHING
    for source, conditions in needs.items():
        shown = conditions or ["names no act on a thing, and matches nothing"]
        output.say("\n  ".join((source, *shown)))
    if text:
        acts = explain_acts(artefact, Turn(role="user", text=" ".join(text)), triggers=[ident])
        output.say("\n".join([line for act in acts for line in act_lines(act)] or ["The text names no act."]))
    return output.FOUND


@trigger.command("lint", short_help="Show triggers that never fire, overlap, are slow, or have weak cases.")
@shared.form_option("text", "json", *CI_FORMS)
def lint(*, form: str) -> int:
    """Show triggers that can never fire, overlap, slow down every turn, have slow patterns, or have weak cases.

    This checks the project's own triggers, also against those of the layers below. Errors in the files are shown by
    `deia lint`. If a trigger can never fire, exits 1.
    """
    librarian = shared.open_librarian()
    artefact = librarian.open_artefact()
    layers = load_layers(librarian.root, starter=librarian.settings.starter, trusted=librarian.settings.trusted)
    layers = layers if librarian.settings.starter_triggers else layers.without_starter_triggers()
    own, layered = layers.stack[0], layers.merged()
    manifest = read_manifest(librarian.derived)
    problems = lint_triggers(artefact, own.triggers, layered.cases, ungated=manifest.ungated, clock=time.perf_counter)
    problems = [
        *(hidden_trigger.problem for hidden_trigger in hidden_triggers(layers.stack) if not hidden_trigger.meant),
        *problems,
    ]
    scope = f"{counted(len(own.triggers), 'trigger')}, "
    return int(print_problems(form, "deia trigger lint", problems, root=librarian.root, scope=scope) > 0)


@trigger.command("list", short_help="Show the triggers, and which layer each comes from.")
@click.option("--layer", type=click.Choice(LAYERS), help="Only the project's own, those of packs, or the starter's.")
@shared.json_option
def list_triggers(*, as_json: bool, layer: str | None) -> None:
    """Show the active triggers: the project's own, and those of packs and the starter commons, each with its layer."""
    root = shared.commons_root()
    settings = resolve(root, environ=os.environ)
    own = PROJECT if settings.trusted else UNTRUSTED
    layers = load_layers(root, starter=settings.starter, trusted=settings.trusted)
    layers = layers if settings.starter_triggers else layers.without_starter_triggers()
    hidden: dict[str, list[str]] = {}
    for hidden_trigger in hidden_triggers(layers.stack):
        hidden.setdefault(hidden_trigger.id, []).append(hidden_trigger.what)
    merged = layers.merged().triggers
    origins = {trigger.id: origin_of(trigger.path) for trigger in merged}
    listed = [trigger for trigger in merged if layer in {None, LAYER_OF.get(origins[trigger.id], "packs")}]
    triggers = sorted(listed, key=lambda trigger: (origins[trigger.id] != PROJECT, trigger.id))
    origins = {ident: own if origin == PROJECT else origin for ident, origin in origins.items()}
    rows: list[Json] = [
        {
            "id": trigger.id, "origin": origins[trigger.id], "status": trigger.status, "urgency": trigger.urgency,
            "action": trigger.action, "title": one_line(trigger.title), "path": trigger.path, "line": trigger.line,
            "hides": hidden.get(trigger.id, []),
        }
        for trigger in triggers
    ]  # fmt: skip
    output.answer(rows, _list_lines(triggers, origins, hidden), as_json=as_json)


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


@trigger.command(short_help="Draft a trigger from a sentence.")
@click.argument("sentence", nargs=-1, required=True)
@click.option(
    "--document", "documents", multiple=True, metavar="ID", help="The document to show; by default the best match."
)
@click.option("--topic", default="", help="The file in triggers/; by default named after the command or object.")
@shared.action_option
@click.option("--dry-run", is_flag=True, help="Only show the draft, ready to paste.")
def new(*, sentence: Sequence[str], documents: Sequence[str], topic: str, action: str | None, dry_run: bool) -> None:
    """Draft a trigger from a SENTENCE, such as "Never run prisma migrate reset on production", with cases.

    It is written to the end of the topic's file in triggers/.
    """
    root = shared.commons_root() if dry_run else shared.writable_root()
    text = " ".join(sentence)
    shown = tuple(documents)
    if not shown:  # the document that answers the sentence best, if the answer is certain enough
        answer = Librarian(root, agent="cli", ledger=False).query(text, limit=1)
        shown = tuple(result.id for result in answer.primary[:1])
    own, _ = own_act_words(root)
    proposal = proposed(text, documents=shown or (NO_DOCUMENT,), today=shared.today(), own=own)
    if proposal is None:
        fix = 'Name an action and its object, or put a command in backticks: "Never `git push --force`".'
        raise CommonsError("This sentence contains neither a command nor a verb with an object.", fix=fix)
    proposal = proven(proposal.but(trigger={**proposal.trigger, **({"action": action} if action else {})}), own=own)
    ident = proposal.trigger["id"]
    texts = trigger_text(proposal.trigger), cases_text(ident, fires=proposal.fires, silent=proposal.silent)
    name = topic or proposal.topic
    if dry_run:
        output.say(f"# triggers/{name}.yaml\n{texts[0]}\n# triggers/{name}.cases.yaml\n{texts[1].rstrip()}")
        if not shown:
            output.complain("No document of the commons matches. Name one with --document, or write one: deia add")
        return
    _check_draft(root, ident, shown)
    for path in write_draft(root, name, ident=ident, trigger=texts[0], cases=texts[1]):
        output.say(f"wrote {path}")
    compile_and_say(root)
    output.say(f"{drafted_effect(texts[0])}\nNext: review and edit the draft, then type: deia trigger test {ident}")


def _check_draft(root: str, ident: str, documents: Sequence[str]) -> None:
    settings = resolve(root, environ=os.environ)
    commons = load_layered(root, starter=settings.starter, trusted=settings.trusted)
    existing = next((trigger for trigger in commons.triggers if trigger.id == ident), None)
    if existing:
        message = f"There is already a trigger {ident} ({existing.path}:{existing.line})."
        raise CommonsError(message, fix="Edit that one, or use another sentence.")
    known = {entry.id for entry in commons.entries}
    missing = [document for document in documents if document not in known]
    if missing or not documents:
        message = f"There is no document {missing[0]!r}." if missing else "No document of the commons matches."
        raise CommonsError(message, fix="Name one with --document ID, or write it first: deia add")
