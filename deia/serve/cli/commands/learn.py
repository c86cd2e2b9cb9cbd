"""`deia learn`: proposals that the log speaks for, each tried before it is shown; a person's yes, and the way back."""

from __future__ import annotations

import difflib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from deia import spool
from deia.commons.index.load_commons import load_commons
from deia.commons.source_files import safe_files
from deia.errors import CommonsError, QueryError
from deia.folders import events_folder
from deia.learn.apply import AppliedProposal, apply_proposal, read_changes, undo
from deia.learn.file_edits import edit_texts
from deia.learn.proposals import KINDS, Proposal
from deia.learn.signals import SIGNALS
from deia.learn.trials.proposal_store import load_proposals, store_proposals
from deia.learn.trials.propose import ProposalRun, Sources, propose_all
from deia.ledger.report_values import Grid
from deia.librarian import Librarian
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, commons_root, writable_root
from deia.serve.cli.commands.telemetry import ledger_folders, ledger_option, since_option, start_of
from deia.serve.cli.report_tables import grid_text
from deia.serve.cli.terminal import look_of
from deia.settings import resolve
from deia.text import counted, one_line, shorten

HEADINGS = {
    "concept": "Words for one thing", "keywords": "Keywords", "promote": "More standing", "demote": "Less standing",
    "related": "Related documents", "pattern": "Frequent questions", "refine": "Better questions to suggest",
    "unless": "Words that silence a trigger", "milder": "Milder triggers", "case": "New cases",
    "retire": "Triggers to retire", "review": "Documents to look at again",
}  # fmt: skip
EXCERPT = 100  # characters of a question
SHOWN = 3  # questions behind a proposal
json_option = click.option("--json", "as_json", is_flag=True, help="Give it as JSON.")


@click.group(invoke_without_command=True, short_help="Make the commons better by its log, with your yes.")
@commons_option
@click.pass_context
def learn(ctx: click.Context) -> int:
    """Make the commons better by what was asked and what came of it. Nothing is sent anywhere.

    Without a further command, what counts as a sign, and how much.
    """
    if ctx.invoked_subcommand is None:
        rows = tuple(
            (one.of, one.name, "said" if one.explicit else "seen", f"{one.weight:g}", one.means) for one in SIGNALS
        )
        look = look_of(commons_root(), colour="auto", environ=os.environ)
        grid = Grid(title="Signs", columns=("of", "sign", "how", "weight", "means"), rows=rows)
        output.show("\n".join(grid_text(grid, look)))
        output.say("\nEach counts once a person. To see what follows: deia learn propose")
    return output.FOUND


@learn.command()
@click.option("--kind", "kinds", multiple=True, type=click.Choice(list(KINDS)), help="Only this kind; may be repeated.")
@click.option("--diff", is_flag=True, help="Show the lines that would change.")
@click.option(
    "--transcripts", "transcripts", metavar="PATH", multiple=True,
    help="Conversations, or a folder of them: the turns behind what people said of triggers. May be repeated.",
)  # fmt: skip
@since_option
@json_option
@ledger_option
@commons_option
def propose(
    *, kinds: Sequence[str], diff: bool, transcripts: Sequence[str], since: str | None, as_json: bool,
    ledgers: Sequence[str],
) -> int:  # fmt: skip
    """Show small changes that would help, each with what speaks for it and what it did when it was tried.

    Each is tried with the golden questions, the questions of the log, the cases and the turns of --transcripts; what
    makes any of them worse is not shown. Exits with 1 where there is none.
    """
    root = commons_root()
    sources = Sources(ledgers=tuple(ledger_folders(ledgers)), since=start_of(since), transcripts=tuple(transcripts))
    librarian = Librarian(root, agent="learn", ledger=False)
    found = propose_all(
        root, sources, environ=os.environ, artefact=librarian.open_artefact, report=_progress(quiet=as_json)
    )
    chosen = [one for one in found.proposals if not kinds or one.kind in kinds]
    store_proposals(root, found.proposals, environ=os.environ, at=time.time())
    if as_json:
        output.say(json.dumps(_fields(found, chosen)))
    else:
        output.say("\n".join(_lines(found, chosen, diffs=root if diff else "")))
    return output.FOUND if chosen else output.NOTHING


def _progress(*, quiet: bool) -> Any:
    """Give what tells a person who waits at a terminal how far it is."""
    if quiet or not (sys.stderr and sys.stderr.isatty()):
        return lambda _: None
    return lambda text: sys.stderr.write(f"\r\033[K{text}" if not text.startswith("trying") else f"\r\033[K{text} …")


@learn.command()
@click.argument("idents", nargs=-1, metavar="[ID…]")
@click.option("--all", "every", is_flag=True, help="Apply all proposals.")
@click.option("--interactive", is_flag=True, help="Show each with its lines, and ask.")
@commons_option
def apply(*, idents: Sequence[str], every: bool, interactive: bool) -> int:
    """Write proposals into the commons: those of these IDs, all, or those that you say yes to."""
    root = writable_root()
    proposals = load_proposals(root, environ=os.environ)
    chosen = _chosen(proposals, idents, every=every or (interactive and not idents))
    if not chosen:
        raise click.UsageError("Which? Name proposals by their ids, or give --all or --interactive.")
    standing = {one.id for one in read_changes(root) if not one.undone}
    done, failed = 0, 0
    for proposal in chosen:
        if proposal.id in standing and not idents:
            continue
        if interactive and not _asked(root, proposal):
            continue
        try:
            applied = apply_proposal(root, proposal, now=time.time())
        except CommonsError as error:
            if len(chosen) == 1:
                raise
            output.complain_of(error)
            failed += 1
            continue
        _spool(root, f"learn apply {proposal.id}")
        output.say(
            f"{proposal.id}: wrote {', '.join(each.path for each in applied.files) or 'nothing: it is so already'}"
        )
        done += 1
    output.say(f"{counted(done, 'proposal')} applied. To take the last back: deia learn undo")
    return output.BROKEN if failed else output.FOUND


def _chosen(proposals: Sequence[Proposal], idents: Sequence[str], *, every: bool) -> list[Proposal]:
    by_id = {one.id: one for one in proposals}
    unknown = [ident for ident in idents if ident not in by_id]
    if unknown:
        near = difflib.get_close_matches(unknown[0], by_id, n=1)
        fix = f"Did you mean {near[0]}?" if near else "To see them: deia learn propose"
        raise QueryError(f"there is no proposal {unknown[0]!r}", fix=fix)
    return list(proposals) if every else [by_id[ident] for ident in dict.fromkeys(idents)]


def _asked(root: str, proposal: Proposal) -> bool:
    """Show a proposal with its lines, and ask; what cannot be written any more is told and passed over."""
    output.say("\n".join(_proposal(proposal, root)))
    return click.confirm("Apply it?", default=False)


@learn.command("undo")
@click.argument("ident", metavar="[ID]", required=False, default="")
@commons_option
def take_back(*, ident: str) -> int:
    """Take back the proposal that was applied last, or that of an ID: the files are as they were, byte for byte."""
    root = writable_root()
    back = undo(root, ident, now=time.time())
    _spool(root, f"learn undo {back.id}")
    output.say(f"{back.id}: taken back in {', '.join(each.path for each in back.files) or 'no file'}")
    return output.FOUND


@learn.command("log")
@json_option
@commons_option
def show_log(*, as_json: bool) -> int:
    """Show what was applied, and what of it was taken back."""
    changes = read_changes(commons_root())
    if as_json:
        output.say(json.dumps([_applied(one) for one in changes]))
        return output.FOUND
    for one in changes:
        undone = " (taken back)" if one.undone else ""
        when, ident = one_line(one.at[:16].replace("T", " ")), shorten(one_line(one.id), EXCERPT)
        output.say(f"{when}  {ident}{undone}  {one_line('; '.join(one.does))}")
    if not changes:
        output.say("Nothing was applied yet.")
    return output.FOUND


def _spool(root: str, change: str) -> None:
    telemetry = resolve(root, environ=os.environ).telemetry
    spool.append(events_folder(root, os.environ), "index", {"actor": "cli", "change": change}, telemetry=telemetry)


# --- what is shown ---


def _lines(found: ProposalRun, chosen: Sequence[Proposal], *, diffs: str) -> Iterator[str]:
    evidence = found.evidence
    if sys.stderr and sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
    yield (
        f"{counted(evidence.asked, 'question')} in the log, {counted(len(evidence.pairs), 'sign')} of what answered"
        f" them, {counted(len(evidence.firings), 'trigger')} that fired; {found.drafts} drafts,"
        f" {counted(len(found.proposals), 'proposal')} that help and harm nothing."
    )
    if evidence.asked and not evidence.worded:
        yield 'Questions are kept without their words (telemetry = "metadata"), so nothing follows from them.'
    if evidence.pairs:
        yield _reach(found)
    if any(one.effect.before and one.kind != "unless" for one in found.proposals):
        yield f"All that move answers, together, on {found.together.asked} questions: {_figures(found.together)}"
    for kind in dict.fromkeys(one.kind for one in chosen):
        yield ""
        yield HEADINGS[kind]
        for one in chosen:
            if one.kind == kind:
                yield from _proposal(one, diffs)
    if chosen:
        yield ""
        yield f"To take them: deia learn apply {chosen[0].id}   or --interactive, or --all"


def _reach(found: ProposalRun) -> str:
    """Say which words are taken from questions, and what that was worth to questions that were left out."""
    reach = found.reached.reach
    held = next((one for one in found.reached.tried if one.reach.name == reach.name), None)
    if held is None or not held.moves:
        return f"Taken from questions: {reach.name}."
    told = f"asked with what follows from the others alone, {held.better} were answered better and {held.worse} worse"
    return f"Taken from questions: {reach.name}; {told}."


def _proposal(proposal: Proposal, root: str) -> Iterator[str]:
    yield f"  {proposal.id}  {one_line('; '.join(change.summary() for change in proposal.changes))}"
    yield f"      because: {one_line(proposal.because)}"
    if proposal.evidence:
        yield f"      such as: {' / '.join(shorten(one_line(one), EXCERPT) for one in proposal.evidence[:SHOWN])}"
    effect = proposal.effect
    told = _figures(effect) if effect.before else effect.note
    yield f"      tried:   {told}" + (f" ({effect.asked} asked)" if effect.before else "")
    if root:
        yield from (f"      {line}" for line in _diff(root, proposal))


def _figures(effect: Any) -> str:
    before, after = effect.before, effect.after
    told = [f"{name} {before[name]:.3g} → {after[name]:.3g}" for name in before if name in after]
    moved = [one for name, one in zip(before, told, strict=False) if before[name] != after.get(name)]
    return ", ".join(moved) or "no figure changes"


def _diff(root: str, proposal: Proposal) -> Iterator[str]:
    try:
        texts = edit_texts(load_commons(root), proposal.changes)
    except CommonsError as error:
        yield f"cannot be written: {error.message} {error.fix}"
        return
    for path, text in texts.items():
        old = (safe_files.read_bytes(root, path) or b"").decode("utf-8", "replace").replace("\r\n", "\n")
        lines = difflib.unified_diff(old.split("\n"), text.split("\n"), path, path, lineterm="", n=1)
        yield from lines


def _fields(found: ProposalRun, chosen: Sequence[Proposal]) -> dict[str, Any]:
    evidence = found.evidence
    return {
        "questions": evidence.asked,
        "days": evidence.days,
        "signals": {f"{one.of}:{one.name}": one.weight for one in SIGNALS},
        "drafts": found.drafts,
        "reach": {
            "chosen": found.reached.reach.values(),
            "tried": [
                {"name": one.reach.name, "net": round(one.net, 4), "better": one.better, "worse": one.worse}
                for one in found.reached.tried
            ],
        },
        "together": {name: getattr(found.together, name) for name in ("asked", "before", "after")},
        "proposals": [one.to_dict() for one in chosen],
    }


def _applied(one: AppliedProposal) -> Mapping[str, Any]:
    paths = [each.path for each in one.files]
    return {"id": one.id, "at": one.at, "does": one.does, "because": one.because, "files": paths, "undone": one.undone}
