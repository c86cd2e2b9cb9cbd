"""`deia eval`: measure how well golden questions find their documents, compared with the last run."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence

import click

from deia import spool
from deia.audit import golden_run
from deia.commons.index.golden_queries import FILE, golden_patterns, load_golden, read_golden
from deia.commons.index.load_commons import load_commons
from deia.fast_json import Json
from deia.folders import state_folder
from deia.knowledge import Golden
from deia.match.tiers import KEYWORD_TIER, TIERS, TRANSFORMER, kind_of, tiers_of
from deia.problems import CommonsError
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import json_option, open_librarian
from deia.text import counted, one_line, shorten

NAMED = 20  # questions that a list names
EXCERPT = 90  # characters of a question
FIGURES = (("ndcg", "nDCG@10"), ("recall", "recall@5"), ("mrr", "MRR"), ("hit", "hit@1"), ("found", "found"))
TIER_NAMES = (*TIERS, KEYWORD_TIER, TRANSFORMER)


@click.command("eval", short_help="Measure how well golden questions find their documents.")
@click.argument("golden", metavar="[GOLDEN]", required=False)
@click.option(
    "--tier", type=click.Choice(TIER_NAMES), help="Use only this embedding model; by default that of the settings."
)
@json_option
def evaluation(*, golden: str | None, tier: str | None, as_json: bool) -> int:
    """Measure how well golden questions find their documents, and compare with the last run.

    A golden question is one whose right answers are known. GOLDEN is a file of them, or the folder of another commons.
    By default they are those in the query_patterns of the index and in golden.yaml beside it. Exits 1 if a question no
    longer finds the documents that it found in the last run.
    """
    librarian = open_librarian("eval")
    tiers = tiers_of(tier or librarian.settings.tier, model=librarian.settings.model)
    tiers = tiers[:1] if tier else tiers
    questions = read_file(golden) if golden is not None else golden_run.own_questions(librarian.root)
    catalog = librarian.open_catalog()
    if not questions:
        fix = f"Write some into {FILE} beside the index, such as: - {{query: …, documents: [id]}}"
        raise CommonsError("there are no golden questions", fix=fix)
    if tier and tier != KEYWORD_TIER and kind_of(tier) not in catalog.tiers:
        raise CommonsError(f"the commons was compiled without the {tier} tier", fix="Type: deia compile")
    evaluated = golden_run.evaluate(catalog, questions, tiers=tiers, limit=librarian.settings.limit)
    wanted = dict.fromkeys(document for question in questions for document in question.grades)
    missing = [document for document in wanted if catalog.keyword.number(document) is None]
    source = os.path.abspath(golden) if golden is not None else ""
    used_tier = tier or librarian.settings.tier.removeprefix("auto")
    path = golden_run.run_path(state_folder(os.environ), librarian.root, source, used_tier)
    before = golden_run.read_run(path)
    changed = golden_run.changes(evaluated, before)
    golden_run.write_run(path, evaluated, at=spool.timestamp(time.time()))
    lines = _lines(evaluated, changed, missing, compared=bool(before))
    output.answer(_fields(evaluated, changed, missing), lines, as_json=as_json)
    return int(any(change.lost for change in changed))


def read_file(path: str) -> Sequence[Golden]:
    """Return the golden questions of a file, or of the commons in a folder.

    Raise CommonsError if the file cannot be read, or has problems.
    """
    if os.path.isdir(path):
        commons = load_commons(path)
        return [*load_golden(path).questions, *golden_patterns(commons.query_patterns)]
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            golden = read_golden(file.read(), path=os.path.basename(path))
    except OSError as error:
        raise CommonsError(f"{path} cannot be read: {error.strerror}", fix="Name a file or a folder.") from error
    if golden.problems:
        raise CommonsError(f"{path} has {counted(len(golden.problems), 'problem')}", golden.problems)
    return golden.questions


# --- the report ------------------------------------------------------------------------------------------------------


def _lines(
    run: golden_run.Evaluation, changed: Sequence[golden_run.Change], missing: Sequence[str], *, compared: bool
) -> Iterator[str]:
    figures = run.figures()
    tiers = " and ".join(sorted({outcome.tier for outcome in run.outcomes}))
    yield f"{counted(len(run.outcomes), 'question')}, {tiers} tier"
    if run.answerable:
        yield "   ".join(f"{name} {figures[key]:.3f}" for key, name in FIGURES)
        yield f"not answered although there is an answer: {_count(figures['refused_wrongly'], len(run.answerable))}"
    if run.unanswerable:
        yield f"rightly not answered: {_count(figures['refused_rightly'], len(run.unanswerable))}"
    yield f"latency p50 {figures['p50_ms']:.1f} ms, p95 {figures['p95_ms']:.1f} ms"
    if missing:
        yield f"expected but missing documents: {', '.join(missing[:NAMED])}{' …' if len(missing) > NAMED else ''}"
    missed = []
    for outcome in run.wrong:
        wanted = ", ".join(outcome.wanted[:3]) or "nothing"
        missed.append(f"{_excerpt(outcome.query)} (expected {wanted}, found {next(iter(outcome.found), 'nothing')})")
    yield from _named("missed", missed)
    if not compared:
        yield "This is the first run; the next will be compared with it."
        return
    for name, group in (
        ("lost since the last run", [change for change in changed if change.lost]),
        ("worse", [change for change in changed if not change.lost and change.now < change.before]),
        ("better", [change for change in changed if change.gained or change.now > change.before]),
    ):
        lines = [f"{change.before:.2f} → {change.now:.2f}  {_excerpt(change.query)}" for change in group]
        yield from _named(name, lines)
    if not changed:
        yield "Nothing changed since the last run."


def _count(share: float, of: int) -> str:
    return f"{round(share * of)} of {of} ({share:.1%})"


def _named(name: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"{name} ({len(lines)}):"
        yield from output.first([f"  {line}" for line in lines], NAMED)


def _excerpt(query: str) -> str:
    return shorten(one_line(query), EXCERPT)


def _fields(
    run: golden_run.Evaluation, changed: Sequence[golden_run.Change], missing: Sequence[str]
) -> dict[str, Json]:
    return {
        "questions": len(run.outcomes),
        "answerable": len(run.answerable),
        "unanswerable": len(run.unanswerable),
        "tiers": sorted({outcome.tier for outcome in run.outcomes}),
        "figures": run.figures(),
        "missing_documents": list(missing),
        "changes": [change.values() for change in changed],
        "results": [
            {
                "query": outcome.query, "wanted": list(outcome.wanted), "found": list(outcome.found),
                "right": outcome.right, "confidence": outcome.confidence, "ndcg": round(outcome.scores.ndcg, 4),
                "ms": round(outcome.ms, 2),
            }
            for outcome in run.outcomes
        ],
    }  # fmt: skip
