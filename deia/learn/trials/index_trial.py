"""Trying a change of the index before anybody sees it: a small copy is compiled, and what was asked is asked again.

Of the first copy only what a change touches is compiled anew, and only questions that it could touch are asked; all
together are then tried once more with every question. Refuses to write anything but its own temporary folder.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Self

from deia.commons.index.load_commons import Commons
from deia.compile.catalog.build_catalog import build_catalog
from deia.evaluate.measures import DEPTH, scores
from deia.knowledge import Query
from deia.learn.changes import ADD, CONCEPT, DROP, SET, Change, changed
from deia.learn.corpus_words import Shelf
from deia.records import Record
from deia.search.catalog import Catalog, open_catalog
from deia.search.pipeline import search

NOTICED = 0.005  # of nDCG: less is no change
TIERS = ("static",)  # what a trial searches with: made in no time
EXAMPLES = 3
FALSE_ALARM = 0.5  # of nDCG: what an answer costs to a question about something else
OUTWEIGHED = 0.25  # of what other questions gain, at most, may questions lose that nobody made golden
HIT, NDCG, UNANSWERED, REFUSED = "hit@1", "nDCG@10", "unanswered", "refused"


class Probe(Record):
    """A question that is asked with and without a change."""

    question: str
    grades: Mapping[str, int] = {}  # none where nothing may be found
    unwanted: frozenset[str] = frozenset()  # documents that people judged wrong for it
    golden: bool = False  # somebody wrote it down: it may never be answered less well


class Outcome(Record):
    """What a question came to, as somebody would see it."""

    found: tuple[str, ...]
    ndcg: float = 0.0
    hit: float = 0.0


class Comparison(Record):
    """What a change did to some questions."""

    before: Mapping[str, float]
    after: Mapping[str, float]
    asked: int
    moves: Mapping[int, float]  # of nDCG, by the numbers of the questions that are answered better or worse
    better: tuple[str, ...]
    worse: tuple[int, ...]  # numbers of the questions that are answered worse
    harmed: tuple[int, ...]  # those among them that nothing outweighs
    blamed: Mapping[str, int]  # documents that came before the right one in those answers, with how often

    @property
    def gain(self) -> float:
        """What the questions gain that are answered better, in nDCG."""
        return sum(one for one in self.moves.values() if one > 0)

    @property
    def loss(self) -> float:
        """What those lose that are answered worse."""
        return -sum(one for one in self.moves.values() if one < 0)

    @property
    def helps(self) -> bool:
        """Whether it is worth proposing: nothing harmed, no figure lower, and little lost beside what is gained."""
        lower = any(self.after[name] < self.before[name] for name in (HIT, NDCG) if name in self.before)
        return self.gain > 0 and not self.harmed and not lower and self.loss <= OUTWEIGHED * self.gain


class Trial:
    """A commons with questions, in which changes can be tried; close it, or use it as a context."""

    def __init__(self, commons: Commons, shelf: Shelf, probes: Sequence[Probe]) -> None:
        self._commons, self._shelf = commons, shelf
        self.probes = list(probes)
        self._folder = tempfile.mkdtemp(prefix="deia-learn-")
        self._made = 0
        self._base = self._compiled(commons)
        self.before = dict(enumerate(ask(self._base, probe) for probe in self.probes))
        self._by_stem: dict[str, set[int]] = {}
        self._by_document: dict[str, set[int]] = {}
        for number, probe in enumerate(self.probes):
            for stem in shelf.stems(probe.question):
                self._by_stem.setdefault(stem, set()).add(number)
            for document in self.before[number].found:
                self._by_document.setdefault(document, set()).add(number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def tried(
        self, changes: Sequence[Change], *, every: bool = False, among: Collection[int] | None = None
    ) -> Comparison:
        """Give what some changes do to the questions that they could touch, or to every question, of some or of all."""
        reached = range(len(self.probes)) if every else sorted(self.touched(changes))
        numbers = [number for number in reached if among is None or number in among]
        catalog = self._compiled(changed(self._commons, changes))
        after = {number: ask(catalog, self.probes[number]) for number in numbers}
        shutil.rmtree(catalog.folder, ignore_errors=True)
        return compared(
            [
                Asked(number=number, probe=self.probes[number], before=self.before[number], after=after[number])
                for number in numbers
            ]
        )

    def finds(self, question: str) -> tuple[str, ...]:
        """Give what a question finds today."""
        return ask(self._base, Probe(question=question)).found

    def touched(self, changes: Iterable[Change]) -> set[int]:
        """Give the questions that some changes could touch: by a word that they add, or a document that they move."""
        found: set[int] = set()
        for change in changes:
            texts = [*change.value, change.target] if change.kind == CONCEPT else []
            texts = list(change.value) if change.kind in (ADD, DROP) and change.field == "keywords" else texts
            for stem in self._shelf.stems(" | ".join(map(str, texts))):
                found |= self._by_stem.get(stem, set())
            if change.kind == SET:
                found |= self._by_document.get(change.target, set())
        return found

    def _compiled(self, commons: Commons) -> Catalog:
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
    """Ask one question, and give what it came to; who finds nothing has found nothing relevant."""
    answer = search(catalog, Query(text=probe.question, limit=DEPTH), tiers=TIERS)
    found = tuple(result.id for result in answer.documents)
    told = scores(found, probe.grades)
    return Outcome(found=found, ndcg=told.ndcg, hit=told.hit)


def is_harmed(probe: Probe, before: Outcome, after: Outcome) -> bool:
    """Say whether a question is answered less well that may not be: a golden one, or by what people judged wrong."""
    if not probe.grades:
        raised = after.found[:1] != before.found[:1] and not probe.unwanted.isdisjoint(after.found[:1])
        return raised or (probe.golden and bool(after.found) and not before.found)
    return probe.golden and (after.ndcg < before.ndcg - NOTICED or after.hit < before.hit)


class Asked(Record):
    """A question with what it came to without a change and with it."""

    number: int
    probe: Probe
    before: Outcome
    after: Outcome

    @property
    def moved(self) -> float:
        """What it gained, or lost; who finds something where there is nothing has lost."""
        if self.probe.grades or self.probe.unwanted:
            return self.after.ndcg - self.before.ndcg
        return FALSE_ALARM * (bool(self.before.found) - bool(self.after.found))


def _in_the_way(row: Asked) -> tuple[str, ...]:
    """Give what comes before the first right document of an answer."""
    found = row.after.found
    first = next((at for at, document in enumerate(found) if document in row.probe.grades), len(found))
    return found[:first]


def compared(rows: Sequence[Asked]) -> Comparison:
    """Hold what questions came to with a change against what they came to without."""
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
    """Give hit@1, nDCG@10 and the share that found nothing, of questions with an answer; the last also of others."""
    every = list(outcomes)
    wanted = [outcome for probe, outcome in every if probe.grades]
    others = [outcome for probe, outcome in every if not probe.grades and not probe.unwanted]
    told = {}
    if wanted:
        told[HIT] = sum(each.hit for each in wanted) / len(wanted)
        told[NDCG] = sum(each.ndcg for each in wanted) / len(wanted)
        told[UNANSWERED] = sum(not each.found for each in wanted) / len(wanted)
    if others:
        told[REFUSED] = sum(not each.found for each in others) / len(others)
    return {name: round(value, 4) for name, value in told.items()}
