"""An answer without a model: sentences of the evidence word for word, each with its document and lines.

Sentences are chosen together: each for what it says of the question that the others do not, for how rare that is, and
for how many documents agree. One that names what led to another is chosen with it. They are ordered by document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import mul

from deia.answers.aspects import stems_in
from deia.answers.evidence import Passage
from deia.answers.gathering import Evidence
from deia.answers.quotations import Quotation, quotations
from deia.records import Record
from deia.search.lifetimes import outdated
from deia.search.ranking.layer_preference import STARTER, layer_of
from deia.text import front_matter_lines

MOST_SENTENCES = 8
LEAST = 0.05  # the share of a question that a further sentence has to add
CONTEXT = 0.6  # how well a word in a heading covers the question for the sentences below it
PASSAGE = 0.25  # the weight of the score of a sentence's passage
AGREED = 0.1  # the weight of the share of documents that say the same
LEADS = 0.2  # the weight of being the sentence that names what leads on, or the one that it leads to
ALSO_ANSWERS = 0.5  # of a question: what a sentence of the starter must say beside an answer of the project's own
SHORTEST = 4  # words of a sentence


class Cited(Record):
    """A sentence of the evidence, with its place and its part in the answer."""

    quotation: Quotation
    passage: Passage
    stems: frozenset[str]  # those of the question that it contains
    coverage: tuple[float, ...]  # how much it says of each word of the question; its heading counts in part
    relevance: float  # how much it adds to the answer

    @property
    def place(self) -> str:
        """Its path and lines, as answers write them."""
        first, last = self.quotation.first, self.quotation.last
        return f"{self.passage.path}:{first}" + (f"-{last}" if last > first else "")


def cited(evidence: Evidence, *, most: int = MOST_SENTENCES) -> list[Cited]:
    """Return the sentences that answer a question together, in the order of their documents and lines.

    What a document says that no longer holds counts only as far as no other says anything.
    """
    sentences = [sentence for passage in evidence.passages for sentence in _sentences(passage, evidence)]
    agreed = _agreement(sentences)
    waiting = [
        (AGREED * agreed[sentence.stems] * sum(sentence.coverage) + sentence.relevance, sentence)
        for sentence in sentences
    ]
    covered = [0.0] * len(evidence.aspects)
    best: list[Cited] = []
    holds = {passage.key: not outdated(passage.document.entry, passage.asked.today) for passage in evidence.passages}
    while waiting and len(best) < most:
        beside = [_is_beside(sentence, best) for _, sentence in waiting]
        gains = [
            0.0 if too_little else _gain(sentence, covered) + (_leading(sentence, best) if best else 0.0)
            for too_little, (_, sentence) in zip(beside, waiting, strict=True)
        ]
        position = max(
            range(len(waiting)),
            key=lambda at: (gains[at] >= LEAST, holds[waiting[at][1].passage.key], gains[at] + waiting[at][0]),
        )
        if gains[position] < LEAST:
            break
        fit, sentence = waiting.pop(position)
        best.append(sentence.but(relevance=round(min(1.0, gains[position] + fit), 3)))
        covered = list(map(max, covered, sentence.coverage))
    order = {
        document: position
        for position, document in enumerate(dict.fromkeys(sentence.passage.key[0] for sentence in best))
    }
    return sorted(
        best, key=lambda sentence: (order[sentence.passage.key[0]], sentence.quotation.first, sentence.quotation.last)
    )


def _sentences(passage: Passage, evidence: Evidence) -> list[Cited]:
    """Return the sentences of a passage that say something of the question, or the first if only its heading does."""
    weigh = _weighing(passage, evidence)
    rows, first, kind = passage.text, passage.lines[0], passage.document.type
    above = front_matter_lines(rows) if kind == "markdown" and first == 1 else 0
    spans = quotations(rows[above:], first + above, is_code=kind == "code")
    weighed = [weigh(quotation) for quotation in spans if quotation.text.count(" ") >= SHORTEST - 1]
    # A heading counts with what is below it.
    below = [sentence for sentence in weighed if not sentence.quotation.is_heading]
    telling = [sentence for sentence in below if sentence.stems] or [one for one in weighed if one.stems]
    return telling or [sentence for sentence in below if any(sentence.coverage)][:1]


def sentence_of(quotation: Quotation, passage: Passage, evidence: Evidence) -> Cited:
    """Return a quotation of a passage with what it says about the question."""
    return _weighing(passage, evidence)(quotation)


def _weighing(passage: Passage, evidence: Evidence) -> Callable[[Quotation], Cited]:
    """Return a function that weighs a sentence of a passage by what it says about the question."""
    keyword, aspects = passage.asked.catalog.keyword, evidence.aspects
    whole = sum(aspect.weight for aspect in aspects) or 1.0
    weights = [aspect.weight / whole for aspect in aspects]
    asked = {stem for aspect in aspects for stem in aspect.stems}
    context = asked.intersection(stems_in(keyword, passage.heading))
    inherited = [CONTEXT * aspect.covered(context) for aspect in aspects]
    fit = PASSAGE * passage.score / max(1.0, *(other.score for other in evidence.passages))

    def weighed(quotation: Quotation) -> Cited:
        stems = frozenset(asked.intersection(stems_in(keyword, quotation.text)))
        own = [aspect.covered(stems) for aspect in aspects]
        coverage = [weight * max(pair) for weight, *pair in zip(weights, own, inherited, strict=True)]
        relevance = fit * sum(map(mul, weights, own))
        return Cited(quotation=quotation, passage=passage, stems=stems, coverage=tuple(coverage), relevance=relevance)

    return weighed


def _agreement(sentences: Sequence[Cited]) -> Mapping[frozenset[str], float]:
    """Return the share of documents with a sentence that has the same words of the question, by their stems."""
    documents = {sentence.passage.key[0] for sentence in sentences}
    pairs = {(sentence.stems, sentence.passage.key[0]) for sentence in sentences}
    counts = Counter(stems for stems, _ in pairs)
    return {stems: count / len(documents) for stems, count in counts.items()}


def _gain(sentence: Cited, covered: Sequence[float]) -> float:
    return sum([new - old for new, old in zip(sentence.coverage, covered, strict=True) if new > old])


def _is_beside(sentence: Cited, best: Sequence[Cited]) -> bool:
    """Return whether a sentence of the starter has too little of a question to stand beside what is one's own."""
    if layer_of(sentence.passage.path) != STARTER or sum(sentence.coverage) >= ALSO_ANSWERS:
        return False
    return any(layer_of(other.passage.path) != STARTER for other in best)


def _leading(sentence: Cited, best: Sequence[Cited]) -> float:
    """Return what a sentence gains if it names what led to a chosen one, or if a chosen one names what led to it."""
    if not sentence.stems or any(other.passage.key == sentence.passage.key for other in best):
        return 0.0
    names = any(_leads(sentence, other) for other in best)
    return LEADS if names or any(_leads(other, sentence) for other in best) else 0.0


def _leads(sentence: Cited, other: Cited) -> bool:
    """Return whether a sentence names what led to the passage of another."""
    seed = other.passage.seed
    is_there = seed is not None and seed.key == sentence.passage.key
    return is_there and sentence.quotation.first <= other.passage.at <= sentence.quotation.last
