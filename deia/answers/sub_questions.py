"""Focused sub-questions: what a passage leaves open, asked of what it names or links to.

A question of two steps is seldom answered in one place: one passage has the name, and the passage that the name leads
to has the rest. So each of the best passages is asked what of the question it lacks, and the documents to which its
links lead, or whose titles are names that it contains, are searched for that alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log2
from typing import TYPE_CHECKING

from deia.answers.aspects import Aspect, names_in, share, stems_in
from deia.answers.evidence import Passage, Place, read
from deia.match.keyword import ALSO, NUMBERS, TITLE
from deia.records import Record
from deia.search.question.terms import information
from deia.search.ranking.links import FAN, LINKS, MOST_FAN, MOST_LINKS, passage_at

if TYPE_CHECKING:
    from deia.match.keyword import Filters  # exists only for type checkers

LINE = 2.0  # what a link counts whose line has all of the question
NAME = 0.3  # likewise a name that is the title of something
REST = 0.3  # what a passage counts that has all that the linking one lacks
MOST_TARGETS = 6  # passages that one passage leads to
MOST_NAMES = 4  # of a passage that are followed
SHORTEST = 3  # characters of a name


class Lead(Record):
    """Where a passage leads: to a place, by a name on one of its lines, with how many leads there are to it."""

    seed: Passage
    at: int  # the line of it that leads
    name: str
    document: int
    line: int = 0  # in the document
    fan: int = 1
    strength: float = 0.0

    @property
    def worth(self) -> float:
        """How much the best of what is led to counts by this lead alone."""
        return min(1.0, self.seed.score) * self.strength


class SubQuestion(Record):
    """What was asked of the passages to which one leads."""

    words: tuple[str, ...]  # of the question, that it lacks
    names: tuple[str, ...]  # that lead on
    path: str
    line: int

    @property
    def text(self) -> str:
        """The sub-question as a person would put it."""
        return f"What of {', '.join(self.words)} is said about {', '.join(self.names)} ({self.path}:{self.line})?"


def leads_of(seed: Passage, aspects: Sequence[Aspect]) -> tuple[SubQuestion | None, dict[Place, Lead]]:
    """Return what to ask further after a passage, and the places where the answer may be; None if it leads nowhere.

    A passage without any of the question's words leads nowhere.
    """
    if not seed.stems:
        return None, {}
    lacking = [aspect for aspect in aspects if aspect.stems and aspect.covered(seed.stems) < 1 / 2]
    leads = [*_links(seed)] or ([*_named(seed, aspects)] if lacking else [])
    if not leads:
        return None, {}
    lines = {lead.at for lead in leads}
    keyword, text, first = seed.asked.catalog.keyword, seed.text, seed.lines[0]
    shares = {line: share(aspects, set(stems_in(keyword, text[line - first]))) for line in lines}
    weigh = LINE if leads[0].line else NAME
    leads = [lead.but(strength=weigh * shares[lead.at] / (1 + FAN * log2(max(1, lead.fan)))) for lead in leads]
    leads.sort(key=lambda lead: -lead.strength)
    places = {_place(seed, lead): lead for lead in reversed(leads[:MOST_TARGETS])}
    words = tuple(aspect.word for aspect in sorted(lacking, key=lambda aspect: -aspect.weight))
    names = tuple(dict.fromkeys(lead.name for lead in leads[:MOST_NAMES]))
    asked = SubQuestion(words=words or ("it",), names=names, path=seed.path, line=leads[0].at)
    return asked, {**_answering(seed, lacking, leads), **places}


def reached(places: Mapping[Place, Lead], aspects: Sequence[Aspect]) -> list[Passage]:
    """Return the passages of one catalog to which leads lead, each with what that is worth."""
    passages = []
    for passage in read(next(iter(places.values())).seed.asked, dict.fromkeys(places, 0.0)) if places else ():
        lead = places[passage.place]
        rest = share(aspects, passage.stems - lead.seed.stems)
        score = min(1.0, lead.seed.score) * (lead.strength + REST * rest)
        why = f"{lead.name} is named in {lead.seed.path}, line {lead.at}"
        passages.append(passage.but(score=score, why=why, seed=lead.seed, at=lead.at))
    return passages


def _links(seed: Passage) -> Iterator[Lead]:
    """Yield the links of a passage to other documents, as the graph has them."""
    catalog = seed.asked.catalog
    if catalog.links is None:
        return
    rows = catalog.links.execute(LINKS, (MOST_FAN, seed.document.entry.id, *seed.lines, MOST_LINKS)).fetchall()
    numbers = {name: catalog.keyword.number(name) for name in dict.fromkeys(row[1] for row in rows)}
    passing = _passing(seed, {number for number in numbers.values() if number is not None})
    for at, name, line, target, fan in rows:
        number = numbers[name]
        if number in passing:
            label = target.rpartition("#")[2].rpartition("/")[2]
            yield Lead(seed=seed, at=at, name=label, document=number, line=line, fan=fan)


def _named(seed: Passage, aspects: Sequence[Aspect]) -> Iterator[Lead]:
    """Yield leads to the documents whose titles are names that a passage contains and the question does not."""
    keyword = seed.asked.catalog.keyword
    known = {stem for aspect in aspects for stem in aspect.stems}
    text, context = "\n".join(seed.text), set(stems_in(keyword, seed.heading))
    rare: dict[str, float] = {}
    for name in names_in(text):
        stems = set(stems_in(keyword, name))
        new = stems - known - context
        if new and len(name) >= SHORTEST and all(map(keyword.has_in_title, stems)):
            rare[name] = max(information(keyword.frequency(stem), keyword.worded) for stem in new)
    for name in sorted(rare, key=lambda name: -rare[name])[:MOST_NAMES]:
        at = seed.lines[0] + text.count("\n", 0, text.find(name))
        titled = map(keyword.number, keyword.listed(filters={TITLE: name}, limit=MOST_TARGETS))
        for number in _passing(seed, {number for number in titled if number is not None}):
            yield Lead(seed=seed, at=at, name=name, document=number)


def _passing(seed: Passage, numbers: set[int]) -> list[int]:
    """Return those of some documents that pass the filters, without that of the passage itself."""
    among = numbers - {seed.place[0]}
    if seed.asked.filters and among:
        among &= seed.asked.catalog.keyword.numbers(filters=_among(seed, among))
    return sorted(among)


def _among(seed: Passage, numbers: Iterable[int]) -> Filters:
    filters = seed.asked.filters
    return {**filters, ALSO * (1 + len(filters)) + NUMBERS: frozenset(numbers)}


def _place(seed: Passage, lead: Lead) -> Place:
    """Return the innermost passage to which a lead leads."""
    document = seed.asked.catalog.document_at(lead.document)
    return lead.document, passage_at(document, lead.line)


def _answering(seed: Passage, lacking: Sequence[Aspect], leads: Sequence[Lead]) -> dict[Place, Lead]:
    """Return the passages of the documents led to that have the most of what a passage lacks."""
    by_document = {lead.document: lead for lead in reversed(leads)}
    weights = {stem: trust for aspect in lacking for stem, trust in aspect.stems.items()}
    hits = seed.asked.catalog.keyword.passages(weights, filters=_among(seed, by_document), limit=MOST_TARGETS)
    return {(number, ordinal): by_document[number] for number, ordinal, _ in hits}
