"""Explain a search: trace the very search that answers, and name the stage at which each expected document was lost.

The stages are those of `deia.search.pipeline`, in their order; a document that is shown was lost at none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deia.audit.quality import DEBUG, Quality, quality_of
from deia.fast_json import Json
from deia.knowledge import Query
from deia.records import Record
from deia.search.answer import Answer
from deia.search.catalog import Catalog
from deia.search.pipeline import candidates_by_meaning, find_candidates, observe_ranking, search, verdict_on
from deia.search.question.interpret import interpret
from deia.search.question.terms import Question, read_question, stem_weights, unknown_words
from deia.search.ranking.confidence import OBSERVED, SEEN, Verdict
from deia.search.ranking.rank import rank_documents
from deia.search.ranking.retrieve import choose_tier, retrieve
from deia.search.ranking.shown_order import in_order_shown

DEEP = 200  # documents that are retrieved to see where an expected one is
TOP = 5
LARGE = 4_000  # characters of a passage that says many things at once
TOO_LARGE, POOR, MISSING, OUTSIDE = CONCLUSIONS = (
    "chunks too large", "poor strategy", "source missing", "outside the domain",
)  # fmt: skip
ABSENT, UNFOUND, FILTERED, LOW, UNSURE, SHOWN = STAGES = (
    "not in the commons", "not retrieved", "filtered out", "ranked too low", "refused by the verdict", "shown",
)  # fmt: skip


class Lost(Record):
    """An expected document: the stage at which it was lost, and what would have kept it."""

    document: str
    stage: str
    rank: int = 0  # among all that was retrieved, from 1; 0 if it was not
    cure: str = ""


class Trace(Record):
    """A search, step by step."""

    query: str
    limit: int
    kind: str
    words: tuple[str, ...]  # that were searched for, after correction
    unknown: tuple[str, ...]
    by_words: tuple[str, ...]  # documents, best first
    by_meaning: tuple[str, ...]
    by_links: tuple[str, ...]
    passing: int  # documents that pass the filters
    fused: tuple[str, ...]
    shown: tuple[str, ...]
    verdict: Verdict
    observed: Mapping[str, float]
    quality: Quality
    expected: tuple[Lost, ...] = ()
    precision: float | None = None
    recall: float | None = None
    unexpected: str = ""  # the document that was shown first, if it was not expected
    conclusion: str = ""  # one of CONCLUSIONS; "" if nothing is wrong

    def to_dict(self) -> dict[str, Json]:
        """Return the trace for programs."""
        lists = ("words", "unknown", "by_words", "by_meaning", "by_links", "fused", "shown")
        plain = ("query", "kind", "passing", "precision", "recall", "unexpected", "conclusion")
        return {
            **{name: [*getattr(self, name)] for name in lists},
            **{name: getattr(self, name) for name in plain},
            "verdict": {**self.verdict.values(), "observed": {name: round(v, 4) for name, v in self.observed.items()}},
            "quality": self.quality.to_dict(),
            "expected": [lost.values() for lost in self.expected],
        }


def debug(catalog: Catalog, query: Query, *, tiers: Sequence[str], expected: Sequence[str] = ()) -> Trace:
    """Return the trace of a query; `expected` are the ids of the documents that it should find."""
    answer = search(catalog, query, tiers=tiers)
    understood = interpret(catalog, query)
    question = read_question(understood.query.text, catalog, strong=understood.strong)
    meaning = choose_tier(catalog, tiers=tiers, text=understood.query.text)
    evidence = retrieve(catalog, question, meaning=meaning, filters=understood.filters, limit=DEEP)
    fused = rank_documents(catalog, question, evidence, tier=meaning.name, limit=DEEP, alpha=query.alpha)
    if query.alpha is None:
        fused = in_order_shown(catalog, question, fused, meaning, evidence.code)
    wide = query.but(limit=max(query.limit, SEEN))
    candidates = find_candidates(catalog, question, wide, meaning=meaning, filters=understood.filters)
    by_meaning = candidates_by_meaning(catalog, candidates, wide, meaning=meaning, filters=understood.filters)
    observed = observe_ranking(catalog, candidates, meaning)
    likeness = evidence.likeness.documents if evidence.likeness else {}
    trace = Trace(
        query=query.text, limit=query.limit, kind=understood.kind,
        words=tuple(stem_weights(question)), unknown=unknown_words(question),
        by_words=_distinct(catalog, [number for number, _, _ in evidence.hits]),
        by_meaning=_distinct(catalog, sorted(likeness, key=lambda number: -likeness[number])),
        by_links=tuple(catalog.id(candidate.number) for candidate in candidates.shown if candidate.linked),
        passing=candidates.passing, fused=_distinct(catalog, [document.number for document in fused]),
        shown=tuple(result.id for result in answer.documents),
        verdict=verdict_on(catalog, candidates, meaning, by_meaning),
        observed=dict(zip(OBSERVED, observed, strict=True)), quality=quality_of(answer),
    )  # fmt: skip
    return _compared(catalog, trace, expected, answer, question)


def _distinct(catalog: Catalog, numbers: Sequence[int]) -> tuple[str, ...]:
    return tuple(catalog.id(number) for number in dict.fromkeys(numbers))


def _compared(catalog: Catalog, trace: Trace, expected: Sequence[str], answer: Answer, question: Question) -> Trace:
    """Return a trace with what became of the expected documents, and with its conclusion."""
    hits = [ident for ident in trace.shown if ident in expected]
    lost = tuple(_lost(catalog, trace, ident, answer) for ident in expected)
    trace = trace.but(expected=lost, conclusion=_conclusion(catalog, trace, lost, question))
    if not expected:
        return trace
    return trace.but(
        precision=len(hits) / len(trace.shown) if trace.shown else 0.0,
        recall=len(hits) / len(set(expected)),
        unexpected=next((ident for ident in trace.shown[:1] if ident not in expected), ""),
    )


def _lost(catalog: Catalog, trace: Trace, ident: str, answer: Answer) -> Lost:
    rank = trace.fused.index(ident) + 1 if ident in trace.fused else 0
    if ident in trace.shown:
        return Lost(document=ident, stage=SHOWN, rank=rank)
    if catalog.document(ident) is None:
        return Lost(document=ident, stage=ABSENT, cure="Add it, or take its source in: deia ingest FOLDER")
    if not rank:
        if trace.passing < len(catalog):
            return Lost(document=ident, stage=FILTERED, cure="Leave out a filter.")
        words = ", ".join((*trace.unknown, *trace.words)[:TOP])
        return Lost(document=ident, stage=UNFOUND, cure=f"Add words that people use to its keywords: {words}")
    if not answer.documents:
        cure = f"Ask with more of its words; the commons seems {trace.verdict.belongs:.2f} likely to be about this."
        return Lost(document=ident, stage=UNSURE, rank=rank, cure=cure)
    # The last place is taken by what a second try found; and places are also lost after the ranking, to other layers.
    most = max(rank, trace.limit + 1) + bool(answer.audit.second_try)
    return Lost(document=ident, stage=LOW, rank=rank, cure=f"Ask for more documents: --limit {most}, or add keywords.")


def _conclusion(catalog: Catalog, trace: Trace, lost: Sequence[Lost], question: Question) -> str:
    """Return what is wrong, or "" if what was expected is shown, or if the answer may be trusted."""
    stages = {outcome.stage for outcome in lost}
    if lost and stages == {SHOWN}:
        return ""
    if ABSENT in stages:
        return MISSING
    if not lost and trace.quality.recommendation != DEBUG:
        return ""
    known = [term for term in question.terms if term.part and term.stem]
    if not trace.shown:
        return OUTSIDE if len(known) * 2 <= len([term for term in question.terms if term.part]) else MISSING
    return TOO_LARGE if _longest(catalog, trace, lost) > LARGE else POOR


def _longest(catalog: Catalog, trace: Trace, lost: Sequence[Lost]) -> int:
    """Return the length of the longest passage of what should have been found, or of what was found first."""
    wanted = [outcome.document for outcome in lost if outcome.stage != SHOWN] or [*trace.shown[:1]]
    longest = 0
    for document in catalog.documents(wanted):
        lines = catalog.text(document).split("\n")
        for first, last in document.passages:
            size = sum(map(len, lines[first - document.first_line : last - document.first_line + 1]))
            longest = max(longest, size)
    return longest
