"""Gather the evidence for an answer: a wide net, sub-questions about what it leaves open, and a choice among both.

Every limit is a number that the caller sets, and what was done is kept step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heapreplace
from itertools import chain

from deia.answers.aspects import Aspect, aspects_of, share
from deia.answers.evidence import Asked, Net, Passage, Place, net
from deia.answers.sub_questions import Lead, SubQuestion, leads_of, reached
from deia.records import Record

SEEDS = (6, 3)  # passages that are followed in the first and in each further round
ENOUGH = 0.8  # the share of a question that, once it is covered, makes further rounds unnecessary
AGAIN = 0.6  # the factor on the score of each further passage of the same document
COVERAGE = 1.0  # what a passage gains, beside its score, if it covers all of the question and the others nothing


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
    belongs: float = 1.0  # the probability that a catalog is about the subject at all; 0 if a search finds nothing
    answers: float = 0.0  # the probability that a document answers by itself, as a search judges it


def gather(questions: Sequence[Asked], limits: Limits, *, clock: Callable[[], float]) -> Evidence:
    """Return the passages of some catalogs that cover a question best together."""
    deadline = clock() + limits.seconds
    aspects = aspects_of((asked.catalog, asked.question) for asked in questions)
    nets = [net(asked) for asked in questions]
    pool = {passage.key: passage for wide_net in nets for passage in wide_net.passages}
    own = {key: passage.score for key, passage in pool.items()}  # without what leads add
    catalogs = [asked.catalog for asked in questions]
    sub_questions: list[SubQuestion] = []
    done: set[tuple[str, int]] = set()
    for round_ in range(limits.depth):
        best = chosen(pool.values(), aspects, limits.chunks)
        ready = [seed for seed in best if seed.key not in done and (seed.seed or not round_)]
        if round_ and share(aspects, frozenset().union(*(seed.stems for seed in best))) >= ENOUGH:
            break
        leads_by_catalog: dict[int, dict[Place, Lead]] = {at: {} for at in range(len(questions))}
        for seed in ready[: SEEDS[min(round_, 1)]]:
            if len(sub_questions) >= limits.sub_questions or clock() > deadline:
                break
            done.add(seed.key)
            sub_question, leads = leads_of(seed, aspects)
            sub_questions += [sub_question] if sub_question else []
            strongest = leads_by_catalog[catalogs.index(seed.asked.catalog)]
            for place, lead in leads.items():
                if place not in strongest or lead.worth > strongest[place].worth:
                    strongest[place] = lead
        for passage in chain.from_iterable(
            reached(catalog_leads, aspects) for catalog_leads in leads_by_catalog.values()
        ):
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
    """Return evidence with the verdicts that a search would give on some nets."""
    return evidence.but(
        belongs=max((evidence.belongs, *(wide_net.verdict.belongs for wide_net in nets if wide_net.verdict.found))),
        answers=max((evidence.answers, *(wide_net.verdict.answers for wide_net in nets))),
    )


def chosen(pool: Iterable[Passage], aspects: Sequence[Aspect], most: int) -> list[Passage]:
    """Return the passages that are worth most together: each by its score, and by what it adds to those before it."""
    whole = sum(aspect.weight for aspect in aspects) or 1.0
    covered = [0.0] * len(aspects)
    documents: list[str] = []
    best: list[Passage] = []

    def worth(passage: Passage, coverage: Sequence[float]) -> float:
        gains = [new - old for new, old in zip(coverage, covered, strict=True) if new > old]
        return passage.score * AGAIN ** documents.count(passage.key[0]) + COVERAGE * sum(gains)

    # A passage's worth only falls while others are chosen, so one that still leads when it is weighed again is next.
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
