"""`deia learn`: proposals for the commons that follow from the log; a person applies them and can undo that."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence

import click

from deia.commons.index.load_commons import load_commons
from deia.errors import QueryError
from deia.fast_json import Json
from deia.folders import state_folder
from deia.learn.apply import apply_proposal, read_changes, undo
from deia.learn.file_edits import diff_of
from deia.learn.proposals import KINDS, Effect, Proposal, load_proposals, store_proposals
from deia.learn.signals import SIGNALS
from deia.learn.trials.index_trial import Comparison
from deia.learn.trials.propose import ProposalRun, Sources, propose_all
from deia.ledger.report_values import Grid
from deia.librarian import Librarian
from deia.problems import CommonsError
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared
from deia.serve.cli.commands.stats import ledger_folders, ledger_option
from deia.serve.cli.report_tables import grid_text
from deia.serve.cli.terminal import look_of
from deia.suggestions import did_you_mean
from deia.tables import Tables
from deia.text import counted, one_line, shorten
from deia.watch.silence.mutes import Mute, write_mute

TABLES = Tables(__file__)
HEADINGS = TABLES.pairs("headings")
EXCERPT = 100  # characters of a question
SHOWN = 3  # questions that are shown for a proposal
TO_UNDO = " To undo the last one, type: deia learn undo"


@click.group(invoke_without_command=True, short_help="Suggest improvements; you approve each.")
@click.pass_context
def learn(ctx: click.Context) -> None:
    """Suggest improvements from what the log shows; you approve each.

    Nothing is sent anywhere. Without a subcommand, this shows which events count as signals, and with which weight.
    """
    if ctx.invoked_subcommand is None:
        rows = tuple(
            (signal.of, signal.name, "said" if signal.explicit else "seen", f"{signal.weight:g}", signal.means)
            for signal in SIGNALS
        )
        look = look_of(shared.commons_root(), colour="auto", environ=os.environ)
        grid = Grid(title="Signals", columns=("of", "signal", "how", "weight", "means"), rows=rows)
        output.show("\n".join(grid_text(grid, look)))
        output.say("\nEach counts once per person. To see proposals, type: deia learn propose")


@learn.command()
@click.option("--kind", "kinds", multiple=True, type=click.Choice(list(KINDS)), help="Only this kind; may be repeated.")
@click.option("--diff", is_flag=True, help="Show the lines that would change.")
@click.option(
    "--transcripts", "transcripts", metavar="PATH", multiple=True,
    help="A transcript or a folder of them, to learn from the turns on which triggers fired; may be repeated.",
)  # fmt: skip
@click.option(
    "--labels", "labels", metavar="FILE", multiple=True,
    help="JSON lines that call firings deserved, arguable or noise; may be repeated.",
)  # fmt: skip
@shared.since_option
@shared.json_option
@ledger_option
def propose(
    *, kinds: Sequence[str], diff: bool, transcripts: Sequence[str], labels: Sequence[str], since: str,
    as_json: bool, ledgers: Sequence[str],
) -> int:  # fmt: skip
    """Suggest small changes, each with its evidence and its effect.

    Each is tested with the golden questions, the questions in the log, the cases of triggers and the turns of
    --transcripts. A change that makes any of them worse is not shown. If there are no proposals, exits 1.
    """
    root = shared.commons_root()
    sources = Sources(
        ledgers=tuple(ledger_folders(ledgers)), since=since, transcripts=tuple(transcripts), labels=tuple(labels)
    )

    def report(text: str) -> None:
        output.progress(f"{text} …" if text.startswith("trying") else text)

    librarian = Librarian(root, agent="learn", ledger=False)
    run = propose_all(root, sources, environ=os.environ, artefact=librarian.open_artefact, report=report)
    output.progress()
    chosen = [proposal for proposal in run.proposals if not kinds or proposal.kind in kinds]
    store_proposals(root, run.proposals, environ=os.environ, at=time.time())
    output.answer(_fields(run, chosen), _lines(run, chosen, diffs=root if diff else ""), as_json=as_json)
    return output.FOUND if chosen else output.NOTHING


@learn.command()
@click.argument("idents", nargs=-1, metavar="[ID…]")
@click.option("--all", "every", is_flag=True, help="Apply all proposals, except those that carry a warning.")
@click.option("--interactive", is_flag=True, help="Show each with the lines that change, and ask.")
def apply(*, idents: Sequence[str], every: bool, interactive: bool) -> int:
    """Apply proposals to the commons: those with these IDs, all of them, or those that you confirm.

    What makes a trigger from elsewhere milder is applied only at a terminal: no agent may do it for you.
    """
    root = shared.commons_root()
    proposals = load_proposals(root, environ=os.environ)
    chosen = _chosen(proposals, idents, every=every or (interactive and not idents))
    if not chosen:
        raise click.UsageError("Name the IDs of proposals, or use --all or --interactive.")
    if not all(proposal.kind == "mute" for proposal in chosen):
        root = shared.writable_root()
    active = {change.id for change in read_changes(root) if not change.undone}
    applied_count, failed = 0, 0
    for proposal in chosen:
        if proposal.id in active and not idents:
            continue
        if interactive:
            output.say("\n".join(_proposal(proposal, root)))
            if not click.confirm("Apply it?", default=False):
                continue
        try:
            _refuse_unasked(proposal, asked=bool(idents) or interactive)
            _apply(root, proposal)
        except CommonsError as error:
            if len(chosen) == 1:
                raise
            output.complain_of(error)
            failed += 1
            continue
        applied_count += 1
    undoing = "" if all(proposal.kind == "mute" for proposal in chosen) else TO_UNDO
    output.say(f"{counted(applied_count, 'proposal')} applied.{undoing}")
    return output.BROKEN if failed else output.FOUND


def _refuse_unasked(proposal: Proposal, *, asked: bool) -> None:
    """Raise a CommonsError if nobody may have meant to weaken a guard: it was not named, or this is no terminal."""
    by_name = f"deia learn apply {proposal.id}"
    if proposal.is_for_people and not shared.is_person():
        problem = f"{proposal.id} makes a guard milder; only a person at a terminal can run this."
        raise CommonsError(problem, fix=f"Type in a terminal: {by_name}")
    if proposal.warning and not asked:
        raise CommonsError(f"{proposal.id} was left out: {proposal.warning}", fix=f"If you want that, type: {by_name}")


def _apply(root: str, proposal: Proposal) -> None:
    if proposal.kind == "mute":
        trigger = proposal.changes[0].target
        write_mute(state_folder(os.environ), Mute(trigger=trigger))
        output.say(f"{proposal.id}: {trigger} is muted. To end that, type: deia mute {trigger} --off")
        return
    applied = apply_proposal(root, proposal, now=time.time())
    shared.log_change(root, f"learn apply {proposal.id}")
    paths = ", ".join(edit.path for edit in applied.files)
    output.say(f"{proposal.id}: wrote {paths or 'nothing, because the commons already has this change'}")


def _chosen(proposals: Sequence[Proposal], idents: Sequence[str], *, every: bool) -> list[Proposal]:
    by_id = {proposal.id: proposal for proposal in proposals}
    unknown = [ident for ident in idents if ident not in by_id]
    if unknown:
        fix = did_you_mean(unknown[0], by_id) or "To see all proposals, type: deia learn propose"
        raise QueryError(f"there is no proposal {unknown[0]!r}", fix=fix)
    return list(proposals) if every else [by_id[ident] for ident in dict.fromkeys(idents)]


@learn.command("undo")
@click.argument("ident", metavar="[ID]", required=False, default="")
def undo_proposal(*, ident: str) -> None:
    """Undo the proposal that was applied last, or the one with this ID: the files become exactly as they were."""
    root = shared.writable_root()
    undone = undo(root, ident, now=time.time())
    shared.log_change(root, f"learn undo {undone.id}")
    output.say(f"{undone.id}: undone in {', '.join(edit.path for edit in undone.files) or 'no file'}")


@learn.command("log")
@shared.json_option
def show_log(*, as_json: bool) -> None:
    """Show which proposals were applied, and which of them were undone."""
    changes = read_changes(shared.commons_root())
    lines = []
    for applied in changes:
        when, ident = one_line(applied.at[:16].replace("T", " ")), shorten(one_line(applied.id), EXCERPT)
        undone = " (undone)" if applied.undone else ""
        lines.append(f"{when}  {ident}{undone}  {one_line('; '.join(applied.does))}")
    fields: list[Json] = [
        {
            **{name: getattr(applied, name) for name in ("id", "at", "does", "because", "undone")},
            "files": [edit.path for edit in applied.files],
        }
        for applied in changes
    ]
    output.answer(fields, lines or ["No proposal was applied yet."], as_json=as_json)


# --- output ---


def _lines(run: ProposalRun, chosen: Sequence[Proposal], *, diffs: str) -> Iterator[str]:
    evidence = run.evidence
    yield (
        f"{counted(evidence.asked, 'question')} in the log, {counted(len(evidence.pairs), 'signal')} about answers,"
        f" {counted(len(evidence.firings), 'trigger')} that fired; of {run.drafts} drafts,"
        f" {counted(len(run.proposals), 'proposal')} would help and make nothing worse."
    )
    if evidence.asked and not evidence.worded:
        yield 'The log does not contain the words of questions (telemetry = "metadata"), so they give no proposals.'
    if evidence.pairs:
        yield _reach(run)
    if any(proposal.effect.before and proposal.kind != "unless" for proposal in run.proposals):
        yield f"All changes of answers together, with {run.together.asked} questions: {_figures(run.together)}"
    for kind in dict.fromkeys(proposal.kind for proposal in chosen):
        yield ""
        yield HEADINGS[kind]
        for proposal in chosen:
            if proposal.kind == kind:
                yield from _proposal(proposal, diffs)
    if run.advice:
        yield ""
        yield "Noise that only you can mend"
        yield from (f"  {one_line(line)}" for line in run.advice)
    if chosen:
        yield ""
        yield f"To apply one, type: deia learn apply {chosen[0].id}   (or use --interactive, or --all)"


def _reach(run: ProposalRun) -> str:
    """Return which words are learned from questions, and how that changed the answers to questions left out."""
    reach = run.reached.reach
    trial = next((trial for trial in run.reached.tried if trial.reach.name == reach.name), None)
    if trial is None or not trial.moves:
        return f"Learned from questions: {reach.name}."
    return (
        f"Learned from questions: {reach.name}; in a test with questions that were left out, {trial.better} were"
        f" answered better and {trial.worse} worse."
    )


def _proposal(proposal: Proposal, root: str) -> Iterator[str]:
    yield f"  {proposal.id}  {one_line('; '.join(change.summary() for change in proposal.changes))}"
    yield f"      because: {one_line(proposal.because)}"
    if proposal.warning:
        yield f"      but:     {one_line(proposal.warning)}"
    if proposal.evidence:
        examples = [shorten(one_line(question), EXCERPT) for question in proposal.evidence[:SHOWN]]
        yield f"      such as: {' / '.join(examples)}"
    effect = proposal.effect
    result = f"{_figures(effect)} ({effect.asked} asked)" if effect.before else effect.note
    yield f"      tried:   {result}"
    if root:
        yield from (f"      {line}" for line in _diff(root, proposal))


def _figures(effect: Effect | Comparison) -> str:
    before, after = effect.before, effect.after
    changed = [name for name in before if name in after and before[name] != after[name]]
    return ", ".join(f"{name} {before[name]:.3g} → {after[name]:.3g}" for name in changed) or "no figure changes"


def _diff(root: str, proposal: Proposal) -> Iterator[str]:
    if proposal.kind == "mute":
        return
    try:
        yield from diff_of(load_commons(root), proposal.changes)
    except CommonsError as error:
        yield f"cannot be written: {error.message} {error.fix}"


def _fields(run: ProposalRun, chosen: Sequence[Proposal]) -> dict[str, Json]:
    evidence = run.evidence
    tried: list[Json] = [
        {"name": trial.reach.name, "net": round(trial.net, 4), "better": trial.better, "worse": trial.worse}
        for trial in run.reached.tried
    ]
    return {
        "questions": evidence.asked, "days": evidence.days, "drafts": run.drafts,
        "signals": {f"{signal.of}:{signal.name}": signal.weight for signal in SIGNALS},
        "reach": {"chosen": run.reached.reach.values(), "tried": tried},
        "together": {name: getattr(run.together, name) for name in ("asked", "before", "after")},
        "proposals": [proposal.to_dict() for proposal in chosen], "advice": list(run.advice),
    }  # fmt: skip
