"""The evidence for an answer: a wide net, sub-questions of what it leaves open, and a choice among what both found.

Every limit is a number that the caller sets, and what was done is kept step by step.
"""

from __future__ import annotations

from heapq import heapify, heappop, heapreplace
from itertools import chain
from typing import TYPE_CHECKING

from deia.answers.aspects import aspects_of, share
from deia.answers.evidence import net
from deia.answers.sub_questions import leads_of, reached
from deia.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from deia.answers.aspects import Aspect
    from deia.answers.evidence import Asked, Net, Passage, Place
    from deia.answers.sub_questions import Lead, SubQuestion

SEEDS = (6, 3)  # passages that are followed in the first and in each further round
ENOUGH = 0.8  # of a question: once so much is covered, no further round is needed
AGAIN = 0.6  # what the score of another passage of the same document counts
COVERAGE = 1.0  # what a passage counts that has all of the question that others lack, beside its score


class Limits(Record):
    """How far an answer may go."""

    chunks: int = 10  # passages that an answer rests on
    depth: int = 2  # rounds of sub-questions
    sub_questions: int = 24
    passages: int = 40  # that are read beside the first net
    seconds: float = 20.0
    tokens: int = 6_000  # of evidence that a model is shown at once


class Evidence(Record):
    """What was found for a question."""

    aspects: Sequence[Aspect]
    passages: Sequence[Passage]  # those that were chosen, the most telling first
    looked_at: int  # passages
    sub_questions: Sequence[SubQuestion] = ()
    belongs: float = 1.0  # the probability that a catalog is about such things at all; 0 if a search finds nothing
    answers: float = 0.0  # the probability that a document answers by itself, as a search judges it


def gather(asked: Sequence[Asked], limits: Limits, *, clock: Callable[[], float]) -> Evidence:
    """Return the passages of some catalogs that together cover the most of a question."""
    until = clock() + limits.seconds
    aspects = aspects_of((each.catalog, each.question) for each in asked)
    nets = [net(each) for each in asked]
    pool = {passage.key: passage for each in nets for passage in each.passages}
    own = {key: passage.score for key, passage in pool.items()}  # without what leads add
    catalogs = [each.catalog for each in asked]
    sub_questions: list[SubQuestion] = []
    done: set[tuple[str, int]] = set()
    for round_ in range(limits.depth):
        best = chosen(pool.values(), aspects, limits.chunks)
        ready = [seed for seed in best if seed.key not in done and (seed.seed or not round_)]
        if round_ and share(aspects, frozenset().union(*(seed.stems for seed in best))) >= ENOUGH:
            break
        places: dict[int, dict[Place, Lead]] = {at: {} for at in range(len(asked))}
        for seed in ready[: SEEDS[min(round_, 1)]]:
            if len(sub_questions) >= limits.sub_questions or clock() > until:
                break
            done.add(seed.key)
            asked_further, leads = leads_of(seed, aspects)
            sub_questions += [asked_further] if asked_further else []
            stronger = places[catalogs.index(seed.asked.catalog)]
            for place, lead in leads.items():
                if place not in stronger or lead.worth > stronger[place].worth:
                    stronger[place] = lead
        for passage in chain.from_iterable(reached(each, aspects) for each in places.values()):
            known = pool.get(passage.key)
            score = own.get(passage.key, 0.0) + passage.score
            if (known is None and len(pool) - len(own) < limits.passages) or (known and known.score < score):
                pool[passage.key] = passage.but(score=score, likeness=known.likeness if known else 0.0)
    best = chosen(pool.values(), aspects, limits.chunks)
    evidence = Evidence(
        aspects=aspects, passages=best, looked_at=len(pool), sub_questions=tuple(sub_questions), belongs=0.0
    )
    return with_verdicts(evidence, nets)


def with_verdicts(evidence: Evidence, nets: Sequence[Net]) -> Evidence:
    """Return evidence after what a search would say of some nets."""
    return evidence.but(
        belongs=max((evidence.belongs, *(each.verdict.belongs for each in nets if each.verdict.found))),
        answers=max((evidence.answers, *(each.verdict.answers for each in nets))),
    )


def chosen(pool: Iterable[Passage], aspects: Sequence[Aspect], most: int) -> list[Passage]:
    """Return the passages that are worth most together: each by its score, and by what the ones before it lack."""
    whole = sum(aspect.weight for aspect in aspects) or 1.0
    covered = [0.0] * len(aspects)
    documents: list[str] = []
    best: list[Passage] = []

    def worth(passage: Passage, coverage: Sequence[float]) -> float:
        gains = [new - old for new, old in zip(coverage, covered, strict=True) if new > old]
        return passage.score * AGAIN ** documents.count(passage.key[0]) + COVERAGE * sum(gains)

    # What a passage is worth only falls while others are chosen, so one that still leads after a second look is next.
    waiting = []
    for passage in pool:
        coverage = [aspect.weight / whole * aspect.covered(passage.stems) for aspect in aspects]
        waiting.append((-worth(passage, coverage), passage.key, passage, coverage))
    heapify(waiting)
    while waiting and len(best) < most:
        _, key, passage, coverage = waiting[0]
        now = -worth(passage, coverage)
        if len(waiting) > 1 and now > min(waiting[1:3])[0]:
            heapreplace(waiting, (now, key, passage, coverage))
            continue
        heappop(waiting)
        best.append(passage)
        documents.append(key[0])
        covered = list(map(max, covered, coverage))
    return best
