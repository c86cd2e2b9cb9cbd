"""An answer without a model: sentences of the evidence word for word, each with its document and lines.

Sentences are chosen together: each for what it says of the question that the others do not, for how rare that is, and
for how many documents agree. One that names what leads to another belongs to it. They are ordered by document.
"""

from __future__ import annotations

from collections import Counter
from operator import mul
from typing import TYPE_CHECKING

from deia.answers.aspects import stems_in
from deia.answers.quotations import quotations
from deia.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from deia.answers.evidence import Passage
    from deia.answers.gathering import Evidence
    from deia.answers.quotations import Quotation

MOST_SENTENCES = 8
LEAST = 0.05  # of a question, that a further sentence has to add
CONTEXT = 0.6  # how well a word in a heading covers what its sentences are asked
PASSAGE = 0.25  # the weight of how well the passage of a sentence fits
AGREED = 0.1  # of how many documents say the same
LEADS = 0.2  # of being the sentence that names what leads on, or the one that it leads to
SHORTEST = 4  # words of a sentence


class Cited(Record):
    """A sentence of the evidence, with its place and its part in the answer."""

    quotation: Quotation
    passage: Passage
    stems: frozenset[str]  # of the question
    coverage: tuple[float, ...]  # what it says of each of the question's words, its heading counted in part
    relevance: float  # how much it adds to the answer

    @property
    def place(self) -> str:
        """Its path and lines, as answers write them."""
        first, last = self.quotation.first, self.quotation.last
        return f"{self.passage.path}:{first}" + (f"-{last}" if last > first else "")


def cited(evidence: Evidence, *, most: int = MOST_SENTENCES) -> list[Cited]:
    """Return the sentences that answer a question together, in the order of their documents and lines."""
    sentences = [sentence for passage in evidence.passages for sentence in _sentences(passage, evidence)]
    agreed = _agreement(sentences)
    waiting = [(AGREED * agreed[one.stems] * sum(one.coverage) + one.relevance, one) for one in sentences]
    covered = [0.0] * len(evidence.aspects)
    best: list[Cited] = []
    while waiting and len(best) < most:
        gains = [_gain(one, covered) + (_leading(one, best) if best else 0.0) for _, one in waiting]
        at = max(range(len(waiting)), key=lambda at: gains[at] + waiting[at][0])
        if gains[at] < LEAST:
            break
        fit, leading = waiting.pop(at)
        best.append(leading.but(relevance=round(min(1.0, gains[at] + fit), 3)))
        covered = list(map(max, covered, leading.coverage))
    order = {key: at for at, key in enumerate(dict.fromkeys(one.passage.key[0] for one in best))}
    return sorted(best, key=lambda one: (order[one.passage.key[0]], one.quotation.first, one.quotation.last))


def _sentences(passage: Passage, evidence: Evidence) -> list[Cited]:
    """Return the sentences of a passage that say something of the question."""
    weigh = _weighing(passage, evidence)
    spans = quotations(passage.text, passage.lines[0], is_code=passage.document.type == "code")
    found = [weigh(one) for one in spans if one.text.count(" ") >= SHORTEST - 1]
    telling = [one for one in found if one.stems]
    return [one for one in telling if not one.quotation.is_heading] or telling  # it counts with what is below it


def sentence_of(quotation: Quotation, passage: Passage, evidence: Evidence) -> Cited:
    """Return what a quotation of a passage says of the question."""
    return _weighing(passage, evidence)(quotation)


def _weighing(passage: Passage, evidence: Evidence) -> Callable[[Quotation], Cited]:
    """Return what tells of each sentence of a passage what it says of the question."""
    keyword, aspects = passage.asked.catalog.keyword, evidence.aspects
    whole = sum(aspect.weight for aspect in aspects) or 1.0
    weights = [aspect.weight / whole for aspect in aspects]
    asked = {stem for aspect in aspects for stem in aspect.stems}
    context = asked.intersection(stems_in(keyword, passage.heading))
    inherited = [CONTEXT * aspect.covered(context) for aspect in aspects]
    fit = PASSAGE * passage.score / max(1.0, *(one.score for one in evidence.passages))

    def weighed(quotation: Quotation) -> Cited:
        stems = frozenset(asked.intersection(stems_in(keyword, quotation.text)))
        own = [aspect.covered(stems) for aspect in aspects]
        coverage = [weight * max(pair) for weight, *pair in zip(weights, own, inherited, strict=True)]
        said = fit * sum(map(mul, weights, own))
        return Cited(quotation=quotation, passage=passage, stems=stems, coverage=tuple(coverage), relevance=said)

    return weighed


def _agreement(sentences: Sequence[Cited]) -> Mapping[frozenset[str], float]:
    """Return in what share of the documents a sentence says the same of the question."""
    documents = {one.passage.key[0] for one in sentences}
    pairs = {(one.stems, one.passage.key[0]) for one in sentences}
    counts = Counter(stems for stems, _ in pairs)
    return {stems: count / len(documents) for stems, count in counts.items()}


def _gain(one: Cited, covered: Sequence[float]) -> float:
    return sum([new - old for new, old in zip(one.coverage, covered, strict=True) if new > old])


def _leading(one: Cited, best: Sequence[Cited]) -> float:
    """Return what a sentence counts for naming what led to a chosen one, or for being led to by a chosen one."""
    if not one.stems or any(other.passage.key == one.passage.key for other in best):
        return 0.0
    names = any(_leads(one, other) for other in best)
    return LEADS if names or any(_leads(other, one) for other in best) else 0.0


def _leads(one: Cited, other: Cited) -> bool:
    """Return whether a sentence names what led to the passage of another."""
    seed = other.passage.seed
    is_there = seed is not None and seed.key == one.passage.key
    return is_there and one.quotation.first <= other.passage.at <= one.quotation.last
