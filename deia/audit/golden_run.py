"""Run golden queries and measure the answers: quality, speed, and changes since the last run.

The results of the last run are kept among the person's own files; nothing is written into the commons.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import ceil, log2

from deia import fast_json, files
from deia.commons.index.golden_queries import FILE, golden_patterns, load_golden
from deia.commons.index.load_commons import load_commons
from deia.knowledge import Golden, Query
from deia.problems import CommonsError
from deia.records import Record
from deia.search.catalog import Catalog
from deia.search.pipeline import ranking, search
from deia.text import counted

LEAST_CHANGE = 0.005  # of nDCG; smaller differences are not reported
FOLDER = "eval"
DEPTH = 10  # results that nDCG considers
RECALL_DEPTH = 5


class Scores(Record):
    """The measures of one ranking, or the means of several; each is between 0 and 1."""

    ndcg: float = 0.0
    recall: float = 0.0
    mrr: float = 0.0
    hit: float = 0.0


def scores(ranking: Sequence[str], relevant: Mapping[str, int]) -> Scores:
    """Return the measures of a ranking, best first, by the grades of the relevant documents."""
    grades = {document: grade for document, grade in relevant.items() if grade > 0}
    ranks = [rank for rank, document in enumerate(ranking, 1) if document in grades]
    if not ranks:
        return Scores()
    return Scores(
        ndcg=ndcg(ranking, grades),
        recall=sum(rank <= RECALL_DEPTH for rank in ranks) / min(RECALL_DEPTH, len(grades)),
        mrr=1 / ranks[0],
        hit=float(ranks[0] == 1),
    )


def ndcg(ranking: Sequence[str], relevant: Mapping[str, int]) -> float:
    """Return nDCG@10: the discounted gain divided by that of the best order (Järvelin and Kekäläinen, TOIS 2002).

    The gain is 2^grade - 1 (Burges et al., ICML 2005), divided by the binary logarithm of the rank plus one.
    """
    ideal = gain(sorted(relevant.values(), reverse=True))
    return gain([relevant.get(document, 0) for document in ranking]) / ideal if ideal else 0.0


def gain(grades: Sequence[int]) -> float:
    """Return the sum of the discounted gains of the first ten documents."""
    return sum((2.0 ** min(grade, 30) - 1) / log2(position + 2) for position, grade in enumerate(grades[:DEPTH]))


def mean(rankings: Iterable[Scores]) -> Scores:
    """Return the mean of each measure.

    The mean reciprocal rank is that of the question answering track of TREC-8 (Voorhees, 1999); recall@5 is relative to
    at most five documents.
    """
    rows = list(rankings)
    if not rows:
        return Scores()
    return Scores(**{name: sum(getattr(row, name) for row in rows) / len(rows) for name in Scores().values()})


def percentile(values: Iterable[float], share: float) -> float:
    """Return the value that a share of all values does not exceed, by the nearest rank; 0 if there are none."""
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else 0.0


class QueryOutcome(Record):
    """The outcome of one golden query."""

    query: str
    wanted: tuple[str, ...]  # ids; empty if nothing may be found
    found: tuple[str, ...]  # the ids that the answer showed
    scores: Scores
    right: bool  # whether a wanted document was shown, or nothing if nothing was wanted
    confidence: str
    ms: float
    tier: str


class Change(Record):
    """A query whose outcome differs from that of the last run."""

    query: str
    before: float
    now: float
    lost: bool = False  # right before, but not now
    gained: bool = False  # right now, but not before


class Evaluation(Record):
    """The outcomes of all queries."""

    outcomes: tuple[QueryOutcome, ...]

    @property
    def answerable(self) -> tuple[QueryOutcome, ...]:
        """The queries for which something must be found."""
        return tuple(outcome for outcome in self.outcomes if outcome.wanted)

    @property
    def unanswerable(self) -> tuple[QueryOutcome, ...]:
        """The queries for which nothing may be found."""
        return tuple(outcome for outcome in self.outcomes if not outcome.wanted)

    @property
    def wrong(self) -> tuple[QueryOutcome, ...]:
        """The queries whose documents were missed, or that were answered although nothing fits."""
        return tuple(outcome for outcome in self.outcomes if not outcome.right)

    def figures(self) -> dict[str, float]:
        """Return the mean scores of the answerable queries, the shares of right refusals, and latencies in ms."""
        means = mean(outcome.scores for outcome in self.answerable).values()
        times = [outcome.ms for outcome in self.outcomes]
        return {
            **{name: round(value, 4) for name, value in means.items()},
            "found": _share(outcome.right for outcome in self.answerable),
            "refused_wrongly": _share(not outcome.found for outcome in self.answerable),
            "refused_rightly": _share(outcome.right for outcome in self.unanswerable),
            "p50_ms": round(percentile(times, 0.5), 2),
            "p95_ms": round(percentile(times, 0.95), 2),
        }


def _share(values: Iterable[bool]) -> float:
    flags = list(values)
    return round(sum(flags) / len(flags), 4) if flags else 0.0


def own_questions(root: str) -> list[Golden]:
    """Return the golden queries of a commons: those in its file and in its own query patterns.

    Those of packs and of the starter are left out, because a project's own documents may well answer them better. Raise
    CommonsError if the file has problems.
    """
    own = load_golden(root)
    if own.problems:
        raise CommonsError(f"{FILE} has {counted(len(own.problems), 'problem')}", own.problems, where=root)
    return [*own.questions, *golden_patterns(load_commons(root).query_patterns)]


def evaluate(catalog: Catalog, questions: Sequence[Golden], *, tiers: Sequence[str], limit: int) -> Evaluation:
    """Return the outcomes of all queries; each answer shows `limit` documents, as it would to a person."""
    return Evaluation(outcomes=tuple(_ask(catalog, golden, tiers, limit) for golden in questions))


def _ask(catalog: Catalog, golden: Golden, tiers: Sequence[str], limit: int) -> QueryOutcome:
    began = time.perf_counter()
    # What stands in the index is asked to see whether the search finds it, too: for other wordings of the same.
    answer = search(catalog, Query(text=golden.query, limit=limit), tiers=tiers, recorded=False)
    elapsed_ms = (time.perf_counter() - began) * 1000
    shown = tuple(result.id for result in answer.documents)
    ranked = ranking(catalog, golden.query, limit=DEPTH, tiers=tiers) if golden.grades else []
    return QueryOutcome(
        query=golden.query,
        wanted=tuple(golden.grades),
        found=shown,
        scores=scores(ranked, golden.grades),
        right=not golden.grades.keys().isdisjoint(shown) if golden.grades else not shown,
        confidence=answer.confidence if answer.matched else "none",
        ms=elapsed_ms,
        tier=answer.audit.tier,
    )


def run_path(state: str, *names: str) -> str:
    """Return the file for the last run with these names: the queries, the commons and the tier."""
    digest = hashlib.sha256("\0".join(names).encode("utf-8", "surrogateescape")).hexdigest()
    return f"{state}/{FOLDER}/{digest[:24]}.json"


def read_run(path: str) -> dict[str, tuple[float, bool]]:
    """Return the results of the last run by query, or an empty mapping if there is none that can be read."""
    try:
        run = fast_json.loads((files.read(path) or b"{}").decode("utf-8", "replace"))
        return {str(query): (float(ndcg), bool(right)) for query, (ndcg, right) in run["questions"].items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        return {}


def write_run(path: str, evaluation: Evaluation, *, at: str) -> bool:
    """Save a run for comparison with the next; return whether it worked."""
    results = {
        key: [round(outcome.scores.ndcg, 6), outcome.right] for key, outcome in _outcomes_by_key(evaluation).items()
    }
    data = fast_json.dumps({"at": at, "questions": results}).encode("utf-8", "replace")
    return files.keep(path, data)


def _outcomes_by_key(evaluation: Evaluation) -> dict[str, QueryOutcome]:
    """Return each outcome by its query, which is numbered if the same words occur again."""
    counts: Counter[str] = Counter()
    outcomes: dict[str, QueryOutcome] = {}
    for outcome in evaluation.outcomes:
        counts[outcome.query] += 1
        number = counts[outcome.query]
        outcomes[outcome.query if number == 1 else f"{outcome.query}\0{number}"] = outcome
    return outcomes


def changes(evaluation: Evaluation, before: Mapping[str, tuple[float, bool]]) -> list[Change]:
    """Return the queries whose outcome differs from the last run's, the worst loss first."""
    outcomes, changed = _outcomes_by_key(evaluation), []
    for key in filter(before.__contains__, outcomes):
        (ndcg, was_right), now, query = before[key], outcomes[key].scores.ndcg, outcomes[key].query
        lost, gained = was_right and not outcomes[key].right, outcomes[key].right and not was_right
        if lost or gained or abs(now - ndcg) >= LEAST_CHANGE:
            changed.append(Change(query=query, before=ndcg, now=now, lost=lost, gained=gained))
    return sorted(changed, key=lambda change: (not change.lost, change.now - change.before, change.query))
