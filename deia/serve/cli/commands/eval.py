"""`deia eval`: golden questions asked, measured, and held against the last run."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

import click

from deia import fast_json, spool
from deia.commons.index.golden_queries import FILE, golden_patterns, load_golden, read_golden
from deia.commons.index.load_commons import load_commons
from deia.errors import CommonsError
from deia.evaluate.golden_run import (
    Change,
    Evaluation,
    QueryOutcome,
    changes,
    evaluate,
    own_questions,
    read_run,
    run_path,
    write_run,
)
from deia.evaluate.labelled_sets import compile_labelled, is_labelled, read_questions
from deia.folders import state_folder
from deia.knowledge import Golden
from deia.librarian import Librarian
from deia.match.tiers import KEYWORD_TIER, TIERS, TRANSFORMER, kind_of, tiers_of
from deia.search.catalog import Catalog
from deia.serve.cli import output
from deia.serve.cli.commands.shared_options import commons_option, form_option, given_commons
from deia.text import counted, one_line, shorten

NAMED = 20  # questions that a list names
EXCERPT = 90  # characters of a question
FIGURES = (("ndcg", "nDCG@10"), ("recall", "recall@5"), ("mrr", "MRR"), ("hit", "hit@1"), ("found", "found"))
TIER_NAMES = (*TIERS, KEYWORD_TIER, TRANSFORMER)


@click.command("eval", short_help="Measure how well golden questions find their documents.")
@click.argument("golden", metavar="[GOLDEN]", required=False)
@click.option("--tier", type=click.Choice(TIER_NAMES), help="Search with this tier alone, else as the setting says.")
@form_option("text", "json")
@commons_option
def evaluation(*, golden: str | None, tier: str | None, form: str) -> int:
    """Measure how well golden questions find their documents, and what was lost since the last run.

    GOLDEN is a file of questions, or a folder in BEIR's layout, whose corpus is compiled for it; without it, they are
    those of the index's query_patterns and of golden.yaml beside it. Exits with 1 where a question that found its
    documents at the last run no longer does.
    """
    librarian = Librarian(given_commons() or None, agent="eval", ledger=False)
    every = tiers_of(tier or librarian.settings.tier, model=librarian.settings.model)
    tiers = every[:1] if tier else every
    with tempfile.TemporaryDirectory() as place:
        if golden is not None and is_labelled(golden):
            questions: Sequence[Golden] = read_questions(golden)
            catalog = compile_labelled(
                golden, os.path.join(place, "catalog"), tiers=tuple(dict.fromkeys((*tiers, TIERS[-1])))
            )
        else:
            questions = read_file(golden) if golden is not None else own_questions(librarian.root)
            catalog = librarian.open_catalog()
        if not questions:
            fix = f"Write some into {FILE} beside the index: - {{query: …, documents: [id]}}"
            raise CommonsError("there are no golden questions", fix=fix)
        if tier and tier != KEYWORD_TIER and kind_of(tier) not in catalog.tiers:
            raise CommonsError(f"the commons was compiled without the {tier} tier", fix="Type: deia compile")
        done = evaluate(catalog, questions, tiers=tiers, limit=librarian.settings.limit)
        missing = unknown_documents(catalog, questions)
    source = os.path.abspath(golden) if golden is not None else ""
    went_by = tier or librarian.settings.tier.removeprefix("auto")
    kept = run_path(state_folder(os.environ), librarian.root, source, went_by)
    before = read_run(kept)
    changed = changes(done, before)
    write_run(kept, done, at=spool.timestamp(time.time()))
    if form == "json":
        output.say(fast_json.dumps(_fields(done, changed, missing)))
    else:
        output.say("\n".join(_lines(done, changed, missing, compared=bool(before))))
    return int(any(each.lost for each in changed))


def read_file(path: str) -> Sequence[Golden]:
    """Give the golden questions of a file, or of the commons in a folder.

    Raises:
        CommonsError: it cannot be read, or has problems.
    """
    if os.path.isdir(path):
        commons = load_commons(path)
        return [*load_golden(path).questions, *golden_patterns(commons.query_patterns)]
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            found = read_golden(file.read(), path=os.path.basename(path))
    except OSError as error:
        raise CommonsError(f"{path} cannot be read: {error.strerror}", fix="Name a file or a folder.") from error
    if found.problems:
        raise CommonsError(f"{path} has {counted(len(found.problems), 'problem')}", found.problems)
    return found.questions


def unknown_documents(catalog: Catalog, questions: Sequence[Golden]) -> list[str]:
    """Give the ids that questions want and nobody has."""
    wanted = dict.fromkeys(document for each in questions for document in each.grades)
    return [document for document in wanted if catalog.keyword.number(document) is None]


# --- the report ------------------------------------------------------------------------------------------------------


def _lines(done: Evaluation, changed: Sequence[Change], missing: Sequence[str], *, compared: bool) -> Iterator[str]:
    figures = done.figures()
    tiers = " and ".join(sorted({each.tier for each in done.outcomes}))
    yield f"{counted(len(done.outcomes), 'question')}, {tiers} tier"
    if done.answerable:
        yield "   ".join(f"{name} {figures[key]:.3f}" for key, name in FIGURES)
        yield f"refused though there is an answer: {_count(figures['refused_wrongly'], len(done.answerable))}"
    if done.unanswerable:
        yield f"refused where there is none: {_count(figures['refused_rightly'], len(done.unanswerable))}"
    yield f"latency p50 {figures['p50_ms']:.1f} ms, p95 {figures['p95_ms']:.1f} ms"
    if missing:
        yield f"documents that are not here: {', '.join(missing[:NAMED])}{' …' if len(missing) > NAMED else ''}"
    yield from _named("missed", [_missed(each) for each in done.wrong])
    if not compared:
        yield "This is the first run; the next is compared with it."
        return
    for name, told in (
        ("lost since the last run", [each for each in changed if each.lost]),
        ("worse", [each for each in changed if not each.lost and each.now < each.before]),
        ("better", [each for each in changed if each.gained or each.now > each.before]),
    ):
        yield from _named(name, [f"{each.before:.2f} → {each.now:.2f}  {_excerpt(each.query)}" for each in told])
    if not changed:
        yield "Nothing changed since the last run."


def _count(share: float, of: int) -> str:
    return f"{round(share * of)} of {of} ({share:.1%})"


def _missed(each: QueryOutcome) -> str:
    wanted = f"wants {', '.join(each.wanted[:3])}" if each.wanted else "wants nothing"
    return f"{_excerpt(each.query)} ({wanted}, got {each.found[0] if each.found else 'nothing'})"


def _named(name: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"{name} ({len(lines)}):"
        yield from (f"  {line}" for line in lines[:NAMED])
        yield from [f"  and {len(lines) - NAMED} more"] if len(lines) > NAMED else []


def _excerpt(query: str) -> str:
    return shorten(one_line(query), EXCERPT)


def _fields(done: Evaluation, changed: Sequence[Change], missing: Sequence[str]) -> dict[str, Any]:
    return {
        "questions": len(done.outcomes),
        "answerable": len(done.answerable),
        "unanswerable": len(done.unanswerable),
        "tiers": sorted({each.tier for each in done.outcomes}),
        "figures": done.figures(),
        "missing_documents": list(missing),
        "changes": [each.values() for each in changed],
        "results": [
            {
                "query": each.query, "wanted": list(each.wanted), "found": list(each.found), "right": each.right,
                "confidence": each.confidence, "ndcg": round(each.scores.ndcg, 4), "ms": round(each.ms, 2),
            }
            for each in done.outcomes
        ],
    }  # fmt: skip
