"""Drafts for the index, made from what came of questions: small changes that might help, not yet tried.

There is one function for each kind. Few signals lead to no draft: every threshold is here, and a need that is below one
is drafted when more people ask. Whether a draft is good shows only when it is tried (`trials`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from deia.learn.changes import ADD, DOCUMENT, INDEX, PATTERN, SET, STRENGTH, Change
from deia.learn.concept_drafts import EXAMPLES, LEAST, SUPPORT, concepts, helped_pairs, tidied, typed_word
from deia.learn.corpus_words import COMMON_HERE, Vocabulary
from deia.learn.proposals import Proposal, propose
from deia.learn.signals import Evidence, Pair, Question
from deia.match.tokeniser import fold
from deia.records import Record

LEAST_WORD = 1.0  # a word becomes a document's from this total weight of its questions on
MOST_WEIGHT = 6.0  # the most weight that one question gives
SHARE = 0.5  # least share of the weight of the word's strongest document
MOST_KEYWORDS = 30  # the most that one draft adds to a document
STEP, MOST_STRENGTH = 0.25, 1.0  # step and limit of a document's strength
NEEDED, PASSED_OVER = 5.0, 5  # least weight of its questions; least times that another document was opened instead
OFTEN, BY = 3, 2  # times and people that make a question frequent
CLEAR = 0.6  # least share of a question's weight that is one document's
WORDINGS, PATTERN_WORDS = 4, 3
MOST_RELATED = 3
UNUSED_DAYS, UNUSED_ASKED = 90, 200  # days and questions after which a document that was never shown needs a review
REVIEW = "review"


class Reach(Record):
    """How far the words of a question are trusted to help other questions: how many people must have used them."""

    name: str
    new: int = 2  # people or questions needed for a word that nobody here writes; 0 for never
    known: int = 0  # the same for words that texts here have
    is_wide: bool = False  # also for documents that are not the word's strongest
    is_standing: bool = False  # also raise documents that are needed often, and lower those that are passed over


# From the least to the most that is learned from a question. What is right depends on the commons: if each document is
# asked for in several ways, other people ask with the same words; if each has a question of its own, its words are
# about other documents too. `trials/reach.py` finds out which.
CAREFUL = Reach(name="new words that two people used")
REACHES = (
    CAREFUL,
    Reach(name="new words", new=1),
    Reach(name="words that two people used, for the document they fit best", new=1, known=2),
    Reach(name="words that two people used", new=1, known=2, is_wide=True),
    Reach(name="every word", new=1, known=1, is_wide=True),
)


def draft(evidence: Evidence, vocabulary: Vocabulary, *, reach: Reach = CAREFUL) -> list[Proposal]:
    """Return every draft for the index, by kind; within a kind, the heaviest first."""
    groups = (
        concepts(evidence, vocabulary), tidied(evidence, vocabulary), keywords(evidence, vocabulary, reach),
        strengths(evidence, vocabulary, reach), related(evidence, vocabulary), patterns(evidence, vocabulary),
        refinements(evidence, vocabulary), reviews(evidence, vocabulary),
    )  # fmt: skip
    proposals = [proposal for group in groups for proposal in sorted(group, key=lambda proposal: -proposal.weight)]
    return list({proposal.id: proposal for proposal in proposals}.values())


def consistent(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return the proposals without keywords that a proposed concept explains.

    A word for a thing that several documents are about is not one document's own.
    """
    explained = {word for draft in proposals if draft.kind == "concept" for word in draft.changes[0].words}
    cleaned = [_without_words(explained, draft) if draft.kind == "keywords" else draft for draft in proposals]
    return [draft for draft in cleaned if draft.kind != "keywords" or draft.changes[0].words]


def _without_words(words: set[str], proposal: Proposal) -> Proposal:
    change = proposal.changes[0]
    if words.isdisjoint(change.words):
        return proposal
    return proposal.with_changes([change.but(value=tuple(word for word in change.words if word not in words))])


def keywords(evidence: Evidence, vocabulary: Vocabulary, reach: Reach) -> Iterator[Proposal]:
    """Draft keywords: words of the questions that a document answered, which do not name it yet."""
    judged = [pair for pair in evidence.pairs if abs(pair.weight) >= LEAST and pair.document in vocabulary.entries]
    for document, stems in _keyword_weights(judged, vocabulary, reach).items():
        best = sorted(stems, key=lambda stem: (-stems[stem], vocabulary.document_counts[stem], stem))
        chosen = [stem for stem in best if not vocabulary.is_misspelt(stem)][:MOST_KEYWORDS]
        questions = [
            pair
            for pair in judged
            if pair.document == document and not vocabulary.words_by_stem(pair.question).keys().isdisjoint(chosen)
        ]
        if chosen:
            yield _keywords(document, chosen, questions, vocabulary)


def _keyword_weights(pairs: Sequence[Pair], vocabulary: Vocabulary, reach: Reach) -> dict[str, dict[str, float]]:
    """Return, by document, the weights of the words that it should have as keywords."""
    support: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    people: dict[tuple[str, str], int] = defaultdict(int)
    for pair in pairs:
        for stem in vocabulary.words_by_stem(pair.question):
            support[stem][pair.document] += max(-MOST_WEIGHT, min(MOST_WEIGHT, pair.weight))
            people[stem, pair.document] += pair.people * (pair.weight > 0)
    chosen: dict[str, dict[str, float]] = defaultdict(dict)
    for stem, weights in support.items():
        least = reach.known if vocabulary.is_written(stem) else reach.new
        if not least or vocabulary.is_common(stem):
            continue
        for document, weight in _believed(weights, vocabulary, reach):
            names = vocabulary.names[document]
            lacks = document in vocabulary.own and names.isdisjoint({stem, *vocabulary.synonyms(stem)})
            if lacks and people[stem, document] >= least:
                chosen[document][stem] = weight
    return chosen


def _believed(weights: Mapping[str, float], vocabulary: Vocabulary, reach: Reach) -> list[tuple[str, float]]:
    """Return the documents, with weights, that a word stands for: few, and each nearly as strong as the first."""
    positive = [(document, weight) for document, weight in weights.items() if weight > 0]
    if not reach.is_wide and len(positive) > max(SUPPORT + 1, COMMON_HERE * len(vocabulary.entries)):
        return []
    least = LEAST_WORD if reach.is_wide else max(LEAST_WORD, SHARE * max(weights.values()))
    return [(document, weight) for document, weight in positive if weight >= least]


def _keywords(document: str, stems: Sequence[str], questions: Sequence[Pair], vocabulary: Vocabulary) -> Proposal:
    texts = [pair.question for pair in sorted(questions, key=lambda pair: -pair.weight)]
    words = tuple(typed_word(stem, texts, vocabulary) for stem in stems)
    people = sum(pair.people for pair in questions if pair.weight > 0)
    return propose(
        "keywords", [Change(kind=ADD, of=DOCUMENT, target=document, field="keywords", value=words)],
        because=f"{people} found it by asking so", evidence=texts[:EXAMPLES],
        weight=sum(max(0.0, pair.weight) for pair in questions),
    )  # fmt: skip


def strengths(evidence: Evidence, vocabulary: Vocabulary, reach: Reach) -> Iterator[Proposal]:
    """Draft a higher rank for documents that are needed often, and a lower one for those that are passed over."""
    if not reach.is_standing:
        return
    needed: dict[str, float] = defaultdict(float)
    questions: dict[str, list[str]] = defaultdict(list)
    for pair in evidence.pairs:
        needed[pair.document] += pair.weight
        questions[pair.document].append(pair.question)
    shown = {figures.document: figures for figures in evidence.shown}
    for document in sorted(vocabulary.own & vocabulary.entries.keys()):
        value = vocabulary.entries[document].extra.get(STRENGTH, 0)
        now = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
        figures = shown.get(document)
        if needed[document] >= NEEDED and now + STEP <= MOST_STRENGTH:
            why = f"needed often: its questions weigh {needed[document]:g}"
            yield _strength("promote", document, now + STEP, why, questions[document], needed[document])
        elif figures and not figures.opened and figures.passed_over >= PASSED_OVER and now - STEP >= -MOST_STRENGTH:
            why = f"was first {figures.passed_over} times when another was opened, and was never opened"
            yield _strength("demote", document, now - STEP, why, questions[document], float(figures.passed_over))


def _strength(kind: str, document: str, value: float, why: str, questions: Sequence[str], weight: float) -> Proposal:
    change = Change(kind=SET, of=DOCUMENT, target=document, field=STRENGTH, value=round(value, 2))
    return propose(kind, [change], because=why, evidence=questions[:EXAMPLES], weight=weight)


def related(evidence: Evidence, vocabulary: Vocabulary) -> Iterator[Proposal]:
    """Draft relations between documents that the same people opened one after the other."""
    beside: dict[str, dict[str, int]] = defaultdict(dict)
    for pair in evidence.together:
        entry = vocabulary.entries.get(pair.first)
        is_new = entry and pair.then in vocabulary.entries and pair.then not in entry.related_docs
        if is_new and pair.first in vocabulary.own:
            beside[pair.first][pair.then] = pair.people
    for document, others in beside.items():
        best = sorted(others, key=lambda ident: (-others[ident], ident))[:MOST_RELATED]
        yield propose(
            "related", [Change(kind=ADD, of=DOCUMENT, target=document, field="related_docs", value=tuple(best))],
            because=f"opened together by {others[best[0]]} people", evidence=best, weight=float(others[best[0]]),
        )  # fmt: skip


def patterns(evidence: Evidence, vocabulary: Vocabulary) -> Iterator[Proposal]:
    """Draft golden queries: questions that are asked often and that one document answers."""
    frequent = {
        question.text: question for question in evidence.questions if question.times >= OFTEN and question.people >= BY
    }
    weights: dict[str, dict[str, float]] = defaultdict(dict)
    for pair in helped_pairs(evidence, vocabulary):
        weights[pair.question][pair.document] = pair.weight
    answered: dict[str, list[Question]] = defaultdict(list)
    for text, by_document in weights.items():
        best = max(by_document, key=lambda document: (by_document[document], document))
        is_clear = by_document[best] >= CLEAR * sum(by_document.values())
        if text in frequent and is_clear and not _is_pattern(text, vocabulary):
            answered[best].append(frequent[text])
    for document, questions in answered.items():
        questions.sort(key=lambda question: -question.times)
        texts = [question.text for question in questions][:WORDINGS]
        times, people = sum(question.times for question in questions), max(question.people for question in questions)
        because = f"asked {times} times by {people} people or more, and answered by it"
        yield _pattern("pattern", texts, document, because, float(times), vocabulary)


def refinements(evidence: Evidence, vocabulary: Vocabulary) -> Iterator[Proposal]:
    """Draft questions to suggest: how people asked in the end, beside how they began."""
    drafted = {
        line for proposal in patterns(evidence, vocabulary) for line in proposal.changes[0].pattern.natural_language
    }
    for attempt in evidence.rephrased:
        first, then, document = attempt.first, attempt.then, attempt.document
        is_known = then in drafted or _is_pattern(then, vocabulary)
        fits = attempt.people >= BY and document in vocabulary.entries and not is_known
        if fits and vocabulary.words_by_stem(then):
            because = f"{attempt.people} people began with the second and found it by the first"
            yield _pattern("refine", [then, first], document, because, float(attempt.people), vocabulary)


def _is_pattern(text: str, vocabulary: Vocabulary) -> bool:
    """Return whether the index already has a question as a query pattern."""
    patterns = vocabulary.commons.query_patterns
    return any(fold(text) == fold(line) for pattern in patterns for line in pattern.natural_language)


def _pattern(
    kind: str, texts: Sequence[str], document: str, because: str, weight: float, vocabulary: Vocabulary
) -> Proposal:  # fmt: skip
    words = vocabulary.words_by_stem(texts[0])
    names, counts = vocabulary.names[document], vocabulary.document_counts
    chosen = sorted(words, key=lambda stem: (stem not in names, counts[stem]))[:PATTERN_WORDS]
    clusters = vocabulary.entries[document].clusters
    value = {
        "query_keywords": [word for stem, word in words.items() if stem in chosen], "natural_language": list(texts),
        **({"primary_cluster": clusters[0]} if clusters else {}), "common_docs": [document],
    }  # fmt: skip
    change = Change(kind=PATTERN, of=INDEX, target=document, value=value)
    return propose(kind, [change], because=because, evidence=texts, weight=weight)


def reviews(evidence: Evidence, vocabulary: Vocabulary) -> Iterator[Proposal]:
    """Draft a mark for documents that were in no answer, if the ledger is long enough."""
    if evidence.days < UNUSED_DAYS or evidence.asked < UNUSED_ASKED:
        return
    used = {figures.document for figures in evidence.shown} | {pair.document for pair in evidence.pairs}
    used |= {reference.id for trigger in vocabulary.commons.triggers for reference in trigger.documents}
    for document in sorted(vocabulary.own & vocabulary.entries.keys() - used):
        if not vocabulary.entries[document].status:
            yield propose(
                "review", [Change(kind=SET, of=DOCUMENT, target=document, field="status", value=REVIEW)],
                because=f"in no answer of {evidence.asked} in {evidence.days} days", evidence=(), weight=0.0,
            )  # fmt: skip
