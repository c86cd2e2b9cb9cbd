"""Asking golden questions and counting what came of it: how well, how fast, what was lost since the last time.

Refuses to write anything into the commons: the last run is kept among the person's own files.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from deia import fast_json, files
from deia.commons.index.golden_queries import FILE, golden_patterns, load_golden
from deia.commons.index.load_commons import load_commons
from deia.errors import CommonsError
from deia.evaluate.measures import DEPTH, Scores, mean, percentile, scores
from deia.knowledge import Golden, Query
from deia.records import Record
from deia.search.catalog import Catalog
from deia.search.pipeline import ranking, search
from deia.text import counted

NOTICED = 0.005  # of nDCG: less is no change
FOLDER = "eval"


class Asked(Record):
    """What came of one golden question."""

    query: str
    wanted: tuple[str, ...]  # none where nothing may be found
    found: tuple[str, ...]  # the ids that the answer showed
    scores: Scores
    right: bool  # a wanted document was shown, or rightly nothing
    confidence: str
    ms: float
    tier: str


class Change(Record):
    """A question whose outcome is another than at the last run."""

    query: str
    before: float
    now: float
    lost: bool = False  # right then and not now
    gained: bool = False


class Evaluation(Record):
    """Every question with its outcome."""

    every: tuple[Asked, ...]

    @property
    def answerable(self) -> tuple[Asked, ...]:
        """The questions for which something must be found."""
        return tuple(each for each in self.every if each.wanted)

    @property
    def unanswerable(self) -> tuple[Asked, ...]:
        """The questions for which nothing may be found."""
        return tuple(each for each in self.every if not each.wanted)

    @property
    def wrong(self) -> tuple[Asked, ...]:
        """The questions whose documents are missed, or that are answered though nothing fits."""
        return tuple(each for each in self.every if not each.right)

    def figures(self) -> dict[str, float]:
        """Give the means over the questions that have an answer, abstention and latency."""
        means = mean(each.scores for each in self.answerable).values()
        times = [each.ms for each in self.every]
        return {
            **{name: round(value, 4) for name, value in means.items()},
            "found": _share(each.right for each in self.answerable),
            "refused_wrongly": _share(not each.found for each in self.answerable),
            "refused_rightly": _share(each.right for each in self.unanswerable),
            "p50_ms": round(percentile(times, 0.5), 2),
            "p95_ms": round(percentile(times, 0.95), 2),
        }


def _share(values: Iterable[bool]) -> float:
    every = list(values)
    return round(sum(every) / len(every), 4) if every else 0.0


def own_questions(root: str) -> list[Golden]:
    """Give the golden questions of a commons: those of its file and of its own query patterns.

    Those of packs and of the starter are left to them: a project's own documents may well answer better.

    Raises:
        CommonsError: the file has problems.
    """
    own = load_golden(root)
    if own.problems:
        raise CommonsError(f"{FILE} has {counted(len(own.problems), 'problem')}", own.problems, where=root)
    return [*own.questions, *golden_patterns(load_commons(root).query_patterns)]


def evaluate(
    catalog: Catalog,
    questions: Sequence[Golden],
    *,
    tiers: Sequence[str],
    limit: int,
    clock: Callable[[], float] = time.perf_counter,
) -> Evaluation:
    """Ask every question; `limit` documents are shown, as they would be to a person.

    Raises:
        QueryError: a question names a filter's value that the commons does not have.
    """
    return Evaluation(every=tuple(_ask(catalog, each, tiers, limit, clock) for each in questions))


def _ask(catalog: Catalog, golden: Golden, tiers: Sequence[str], limit: int, clock: Callable[[], float]) -> Asked:
    began = clock()
    answer = search(catalog, Query(text=golden.query, limit=limit), tiers=tiers)
    taken = (clock() - began) * 1000
    found = tuple(result.id for result in answer.documents)
    order = ranking(catalog, golden.query, limit=DEPTH, tiers=tiers) if golden.grades else []
    return Asked(
        query=golden.query,
        wanted=tuple(golden.grades),
        found=found,
        scores=scores(order, golden.grades),
        right=not golden.grades.keys().isdisjoint(found) if golden.grades else not found,
        confidence=answer.confidence if answer.matched else "none",
        ms=taken,
        tier=answer.audit.tier,
    )


# --- the last run ----------------------------------------------------------------------------------------------------


def run_path(state: str, *names: str) -> str:
    """Give where the last run over some questions of some commons in some tier is kept."""
    told = hashlib.sha256("\0".join(names).encode("utf-8", "surrogateescape")).hexdigest()
    return f"{state}/{FOLDER}/{told[:24]}.json"


def read_run(path: str) -> dict[str, tuple[float, bool]]:
    """Give what the last run came to, question by question; none where there is none that can be read."""
    try:
        held = fast_json.loads((files.read(path) or b"{}").decode("utf-8", "replace"))
        return {str(query): (float(ndcg), bool(right)) for query, (ndcg, right) in held["questions"].items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        return {}


def write_run(path: str, done: Evaluation, *, at: str) -> bool:
    """Keep a run for the next to be compared with; say whether it could be."""
    kept = {key: [round(each.scores.ndcg, 6), each.right] for key, each in zip(_keys(done), done.every, strict=True)}
    data = fast_json.dumps({"at": at, "questions": kept}).encode("utf-8", "replace")
    return files.keep(path, data)


def _keys(done: Evaluation) -> list[str]:
    """Tell questions apart that are asked in the same words and want other documents."""
    met: Counter[str] = Counter()
    keys = []
    for each in done.every:
        met[each.query] += 1
        keys.append(each.query if met[each.query] == 1 else f"{each.query}\0{met[each.query]}")
    return keys


def changes(done: Evaluation, before: Mapping[str, tuple[float, bool]]) -> list[Change]:
    """Give the questions whose outcome is another than before, the worst loss first."""
    found = []
    for key, each in zip(_keys(done), done.every, strict=True):
        if key not in before:
            continue
        was, right = before[key]
        told = Change(
            query=each.query, before=was, now=each.scores.ndcg, lost=right and not each.right,
            gained=each.right and not right,
        )  # fmt: skip
        if told.lost or told.gained or abs(told.now - told.before) >= NOTICED:
            found.append(told)
    return sorted(found, key=lambda each: (not each.lost, each.now - each.before, each.query))
