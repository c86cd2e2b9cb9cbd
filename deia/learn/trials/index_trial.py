"""Trying changes of the index: a small copy is compiled with them, and the questions are asked again.

Only what a change touches is compiled anew, and only questions that it could touch are asked; all changes together are
tried once more with every question. Nothing is written but a temporary folder.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Self

from deia.audit.golden_run import DEPTH, scores
from deia.commons.index.load_commons import Commons
from deia.compile.catalog.build_catalog import build_catalog
from deia.knowledge import Query
from deia.learn.changes import ADD, CONCEPT, DROP, SET, Change, change_commons
from deia.learn.corpus_words import Vocabulary
from deia.records import Record
from deia.search.catalog import Catalog, open_catalog
from deia.search.pipeline import search

NOTICED = 0.005  # of nDCG; a smaller difference does not count
TIERS = ("static",)  # the tiers that a trial compiles, as it takes almost no time
EXAMPLES = 3
FALSE_ALARM = 0.5  # of nDCG: the cost of an answer to a question about something else
OUTWEIGHED = 0.25  # most loss of questions that are not golden, as a share of the others' gain
HIT, NDCG, UNANSWERED, REFUSED = "hit@1", "nDCG@10", "unanswered", "refused"


class Probe(Record):
    """A question that is asked with and without a change."""

    question: str
    grades: Mapping[str, int] = {}  # empty if nothing may be found
    unwanted: frozenset[str] = frozenset()  # documents that people judged wrong for it
    golden: bool = False  # a person wrote it down, and it may never be answered worse


class Outcome(Record):
    """The answer to a question, as its documents and its measures."""

    documents: tuple[str, ...]
    ndcg: float = 0.0
    hit: float = 0.0


class Comparison(Record):
    """What a change did to some questions."""

    before: Mapping[str, float]
    after: Mapping[str, float]
    asked: int
    moves: Mapping[int, float]  # differences of nDCG, by the question's number
    better: tuple[str, ...]
    worse: tuple[int, ...]  # numbers of the questions that are answered worse
    harmed: tuple[int, ...]  # those among them that must not be
    blamed: Mapping[str, int]  # documents before the right one in those answers, with how often

    @property
    def gain(self) -> float:
        """The nDCG that the better answered questions gain."""
        return sum(move for move in self.moves.values() if move > 0)

    @property
    def loss(self) -> float:
        """The nDCG that the worse answered questions lose."""
        return -sum(move for move in self.moves.values() if move < 0)

    @property
    def helps(self) -> bool:
        """Whether the change is worth proposing: it harms nothing, lowers no figure, and gains more than it loses."""
        lower = any(self.after[name] < self.before[name] for name in (HIT, NDCG) if name in self.before)
        return self.gain > 0 and not self.harmed and not lower and self.loss <= OUTWEIGHED * self.gain


class IndexTrial:
    """A commons with questions on which changes can be tried; use it as a context manager."""

    def __init__(self, commons: Commons, vocabulary: Vocabulary, probes: Sequence[Probe]) -> None:
        self._commons, self._vocabulary = commons, vocabulary
        self.probes = list(probes)
        self._folder = tempfile.mkdtemp(prefix="deia-learn-")
        self._made = 0
        self._base = self._compiled(commons)
        self.before = dict(enumerate(ask(self._base, probe) for probe in self.probes))
        self._by_stem: dict[str, set[int]] = {}
        self._by_document: dict[str, set[int]] = {}
        for number, probe in enumerate(self.probes):
            for stem in vocabulary.stems(probe.question):
                self._by_stem.setdefault(stem, set()).add(number)
            for document in self.before[number].documents:
                self._by_document.setdefault(document, set()).add(number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def try_changes(
        self, changes: Sequence[Change], *, every: bool = False, among: Collection[int] | None = None
    ) -> Comparison:
        """Return what some changes do to the questions that they could touch.

        With `every`, all questions are asked; with `among`, only those of these numbers.
        """
        reached = range(len(self.probes)) if every else sorted(self.probes_touched(changes))
        numbers = [number for number in reached if among is None or number in among]
        after = self._answers(changes, numbers) if changes else self.before
        return compare(
            [
                ProbeResult(number=number, probe=self.probes[number], before=self.before[number], after=after[number])
                for number in numbers
            ]
        )

    def _answers(self, changes: Sequence[Change], numbers: Iterable[int]) -> dict[int, Outcome]:
        """Return the outcomes of the questions of these numbers with some changes."""
        catalog = self._compiled(change_commons(self._commons, changes))
        try:
            return {number: ask(catalog, self.probes[number]) for number in numbers}
        finally:
            shutil.rmtree(catalog.folder, ignore_errors=True)

    def documents_found(self, question: str) -> tuple[str, ...]:
        """Return the documents that a question finds today."""
        return ask(self._base, Probe(question=question)).documents

    def probes_touched(self, changes: Iterable[Change]) -> set[int]:
        """Return the numbers of the questions that have a word of the changes or find a document that they move."""
        numbers: set[int] = set()
        for change in changes:
            words: Sequence[str] = ()
            if change.kind == CONCEPT:
                words = (*change.words, change.target)
            elif change.kind in (ADD, DROP) and change.field == "keywords":
                words = change.words
            for stem in self._vocabulary.stems(" | ".join(words)):
                numbers |= self._by_stem.get(stem, set())
            if change.kind == SET:
                numbers |= self._by_document.get(change.target, set())
        return numbers

    def _compiled(self, commons: Commons) -> Catalog:
        """Return the search catalog of a commons, compiled into a folder of its own."""
        folder = os.path.join(self._folder, str(self._made))
        first = os.path.join(self._folder, "0") if self._made else None
        os.mkdir(folder)
        self._made += 1
        build_catalog(
            commons.entries, commons.documents, commons.clusters, commons.query_patterns, folder,
            concepts=commons.concepts, tiers=TIERS, previous=first, incremental_from=0,
        )  # fmt: skip
        return open_catalog(folder)


def ask(catalog: Catalog, probe: Probe) -> Outcome:
    """Return the outcome of one question."""
    answer = search(catalog, Query(text=probe.question, limit=DEPTH), tiers=TIERS, recorded=False)
    documents = tuple(result.id for result in answer.documents)
    measures = scores(documents, probe.grades)
    return Outcome(documents=documents, ndcg=measures.ndcg, hit=measures.hit)


def is_harmed(probe: Probe, before: Outcome, after: Outcome) -> bool:
    """Return whether a question that must not be is answered worse.

    That is a golden question, or one that now gets a document first that people judged wrong for it.
    """
    if not probe.grades:
        raised = after.documents[:1] != before.documents[:1] and not probe.unwanted.isdisjoint(after.documents[:1])
        return raised or (probe.golden and bool(after.documents) and not before.documents)
    return probe.golden and (after.ndcg < before.ndcg - NOTICED or after.hit < before.hit)


class ProbeResult(Record):
    """A question with its outcome without a change and with it."""

    number: int
    probe: Probe
    before: Outcome
    after: Outcome

    @property
    def moved(self) -> float:
        """What the question gained or lost; to find something when there is nothing is a loss."""
        if self.probe.grades or self.probe.unwanted:
            return self.after.ndcg - self.before.ndcg
        return FALSE_ALARM * (bool(self.before.documents) - bool(self.after.documents))


def _in_the_way(row: ProbeResult) -> tuple[str, ...]:
    """Return the documents before the first right one in an answer."""
    documents = row.after.documents
    first = next((at for at, document in enumerate(documents) if document in row.probe.grades), len(documents))
    return documents[:first]


def compare(rows: Sequence[ProbeResult]) -> Comparison:
    """Return the comparison of the outcomes with a change to those without."""
    worse = [row for row in rows if row.moved < -NOTICED or row.after.hit < row.before.hit]
    better = sorted((row for row in rows if row.moved > NOTICED), key=lambda row: -row.moved)
    return Comparison(
        before=figures((row.probe, row.before) for row in rows),
        after=figures((row.probe, row.after) for row in rows),
        asked=len(rows),
        moves={row.number: row.moved for row in rows if row.moved},
        better=tuple(row.probe.question for row in better[:EXAMPLES]),
        worse=tuple(row.number for row in worse),
        blamed=Counter(document for row in worse for document in _in_the_way(row)),
        harmed=tuple(row.number for row in rows if is_harmed(row.probe, row.before, row.after)),
    )


def figures(outcomes: Iterable[tuple[Probe, Outcome]]) -> dict[str, float]:
    """Return hit@1, nDCG@10 and the share that found nothing, of the questions with an answer.

    Of the questions without one, the share that found nothing is returned too.
    """
    pairs = list(outcomes)
    answerable = [outcome for probe, outcome in pairs if probe.grades]
    unanswerable = [outcome for probe, outcome in pairs if not probe.grades and not probe.unwanted]
    values = {}
    if answerable:
        values[HIT] = sum(outcome.hit for outcome in answerable) / len(answerable)
        values[NDCG] = sum(outcome.ndcg for outcome in answerable) / len(answerable)
        values[UNANSWERED] = sum(not outcome.documents for outcome in answerable) / len(answerable)
    if unanswerable:
        values[REFUSED] = sum(not outcome.documents for outcome in unanswerable) / len(unanswerable)
    return {name: round(value, 4) for name, value in values.items()}
