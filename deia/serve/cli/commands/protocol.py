"""The steps of the librarian's protocol as separate commands: `deia audit` and others."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from deia import files
from deia.audit.debugging import SHOWN, Trace
from deia.librarian import Librarian
from deia.serve.cli import output
from deia.serve.cli.commands import shared_options as shared
from deia.text import counted

MOST_NAMED = 5
TO_REPAIR = "To do it, type: deia repair --yes"
NOTHING_TO_REPAIR = "There is nothing to repair."


@click.command(short_help="Check the state that answers come from.")
@shared.json_option
def audit(*, as_json: bool) -> int:
    """Check the state that answers come from: the index, the compiled files and the library.

    Every answer is audited so. Exits 1 if answers cannot be relied on.
    """
    state = shared.open_librarian().audit()
    sources = counted(sum(state.by_status.values()), "source")
    stats = f"{state.index or 'no index'}: {counted(state.entries, 'entry')}, {sources}"
    lines = [f"{stats}, {counted(state.chunks, 'passage')}, {counted(state.vectors, 'vector')}."]
    lines += [f"A server runs at {state.server}."] if state.server else []
    lines += [f"{'error' if issue.is_error else 'note'}: {issue.text}\n  {issue.fix}" for issue in state.findings]
    output.answer(state.to_dict(), [*lines, *([] if state.findings else ["All is well."])], as_json=as_json)
    return output.FOUND if state.is_valid else output.NOTHING


@click.command(short_help="Say what kind of question a text is.")
@click.argument("words", nargs=-1, required=True, metavar="QUESTION…")
@shared.json_option
def classify(*, words: tuple[str, ...], as_json: bool) -> None:
    """Say what kind of question QUESTION is, whether anything has to be looked up, and how to look for it.

    What announces an act always needs retrieval, also after words such as "ok" or "yes".
    """
    classification = shared.open_librarian().classify(" ".join(words))
    needs = "needs retrieval" if classification.needs_retrieval else "needs no retrieval"
    lines = [f"{classification.type}, {needs}, confidence {classification.confidence:.2f}: {classification.reasoning}."]
    lines += (
        [f"Look for {classification.top_k} documents, --mode {classification.mode}."]
        if classification.needs_retrieval
        else []
    )
    output.answer(classification.to_dict(), [*lines, *filter(None, (classification.clarify,))], as_json=as_json)


@click.command(short_help="Explain a search, step by step.")
@click.argument("words", nargs=-1, required=True, metavar="QUESTION…")
@click.option("--expect", multiple=True, metavar="ID", help="A document that should be found; may be repeated.")
@shared.json_option
def debug(*, words: tuple[str, ...], expect: tuple[str, ...], as_json: bool) -> int:
    """Search for QUESTION and say what happened at each step.

    For each expected document it says at which stage it was lost, and what would have kept it. Exits 1 if one was.
    """
    trace = shared.open_librarian().debug(" ".join(words), expect=expect)
    output.answer(trace.to_dict(), _trace_lines(trace), as_json=as_json)
    return output.NOTHING if any(lost.stage != SHOWN for lost in trace.expected) else output.FOUND


def _trace_lines(trace: Trace) -> list[str]:
    steps = {
        "searched for": ", ".join(trace.words), "unknown words": ", ".join(trace.unknown),
        "by words": _first(trace.by_words), "by meaning": _first(trace.by_meaning), "by links": _first(trace.by_links),
        "fused": _first(trace.fused), "shown": ", ".join(trace.shown) or "nothing",
    }  # fmt: skip
    verdict, quality = trace.verdict, trace.quality
    lines = [f"{name}: {value}" for name, value in steps.items() if value]
    lines.append(f"verdict: belongs here {verdict.belongs:.2f}, answers {verdict.answers:.2f}, {verdict.confidence}")
    lines.append(f"quality: {'; '.join((quality.recommendation, *quality.issues))}")
    for lost in trace.expected:
        rank = f", rank {lost.rank}" if lost.rank else ""
        lines += [f"expected {lost.document}: {lost.stage}{rank}", *([f"  {lost.cure}"] if lost.cure else [])]
    if trace.recall is not None:
        lines.append(f"precision {trace.precision:.2f}, recall {trace.recall:.2f}")
    return [*lines, *([f"conclusion: {trace.conclusion}"] if trace.conclusion else [])]


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


@click.command(short_help="Repair what can be repaired.")
@click.option("--question", metavar="QUESTION", help="A question that should find the documents of --expect.")
@click.option("--expect", multiple=True, metavar="ID", help="A document that it should find; may be repeated.")
@click.option("--yes", is_flag=True, help="Repair, instead of saying what would be done.")
@click.option("--undo", is_flag=True, help="Cut the sources of the last repair as they were cut before.")
@shared.json_option
def repair(*, question: str | None, expect: tuple[str, ...], yes: bool, undo: bool, as_json: bool) -> int:
    """Take stale and failed sources in again, and cut sources anew if questions then find more.

    Other chunks are tried on a copy, and kept only if the golden questions and QUESTION find their documents better.
    Exits 1 if something remains that deia cannot repair.
    """
    librarian = Librarian(shared.named_commons() or None, agent="cli")
    if undo:
        output.say(librarian.undo_repair())
        return output.FOUND
    failing = {question: expect} if question else {}
    done = librarian.repair(failing=failing, dry_run=not yes)
    if yes:
        lines = [*done.steps, f"{done.reason[:1].upper()}{done.reason[1:]}."]
    else:
        lines = [*(f"would {step}" for step in done.steps), TO_REPAIR] if done.steps else []
        lines = lines or ([] if done.escalation else [NOTHING_TO_REPAIR])
    if done.escalation:
        escalation = done.escalation
        lines += [f"{escalation.severity}: {escalation.description}", *(f"  {action}" for action in escalation.actions)]
    output.answer(done.to_dict(), lines, as_json=as_json)
    return output.FOUND if done.success else output.NOTHING


@click.command(short_help="Check a commons before it is served to others.")
@shared.json_option
def preflight(*, as_json: bool) -> int:
    """Check the commons before it is served to others: its state, its sources, its model and its golden questions.

    Exits 1 if a check fails.
    """
    checked = Librarian(shared.named_commons() or None, agent="cli").preflight()
    lines = [
        line for check in checked.checks
        for line in (f"{check.status}  {check.name}: {check.details}", *([f"  {check.fix}"] if check.fix else []))
    ]  # fmt: skip
    output.answer(checked.to_dict(), lines, as_json=as_json)
    return output.FOUND if checked.can_deploy else output.NOTHING


@click.command(short_help="Write the files that another machine serves.")
@click.argument("folder")
def export(*, folder: str) -> None:
    """Check the commons as `deia preflight` does, and write the files that another machine serves into FOLDER.

    These are what people wrote, the chunks of the library, and deployment.json with the state and the checks. There,
    type deia trust FOLDER, deia ingest FOLDER/library --type chunks, and deia serve --commons FOLDER.
    """
    place = files.forward(os.path.abspath(folder))
    written = Librarian(shared.named_commons() or None, agent="cli").export(place)
    output.say(f"Wrote {counted(len(written), 'file')} into {place}.")
