"""Drafts of concepts: other words for a thing, found in what people typed and what they opened.

A concept stands for what several documents share; a word for one document is a keyword, see `index_drafts`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from deia.learn.changes import CONCEPT, DOCUMENT, DROP, INDEX, Change
from deia.learn.corpus_words import Vocabulary
from deia.learn.proposals import Proposal, propose
from deia.learn.signals import Evidence, Pair, Rephrased

LEAST = 0.75  # a question counts for a document from this weight on, such as one opening after another try
MOST_TURNED = 9  # most pairs of a word that was replaced and one that replaced it, in a question asked again
SUPPORT = 2  # documents or people that must agree on a word for a thing
MEANT = 0.3  # least share of the word that a new one is taken to mean, among those that replaced it
AGREE = 0.8  # least share of the documents for a new word that must have the old one
WIDE = 0.3  # of the documents; a word that names more of them is not taken for a new word's meaning
EXAMPLES = 5


def helped_pairs(evidence: Evidence, vocabulary: Vocabulary) -> list[Pair]:
    """Return the pairs in which the document answered the question."""
    return [pair for pair in evidence.pairs if pair.weight >= LEAST and pair.document in vocabulary.entries]


def typed_word(stem: str, questions: Sequence[str], vocabulary: Vocabulary) -> str:
    """Return a stem as people typed it in one of the questions."""
    typed = map(vocabulary.words_by_stem, questions)
    return next((words[stem] for words in typed if stem in words), stem)


def concepts(evidence: Evidence, vocabulary: Vocabulary) -> Iterator[Proposal]:
    """Draft other words for a thing: a word that nobody here writes, in questions whose documents share a name.

    If the word became a keyword of some of these documents before more was known, it is dropped there.
    """
    weights: dict[tuple[str, str], float] = defaultdict(float)
    questions: dict[tuple[str, str], list[str]] = defaultdict(list)
    for votes in (_by_documents(evidence, vocabulary), _by_rephrasing(evidence.rephrased, vocabulary)):
        for words, (weight, texts) in votes.items():
            weights[words] += weight
            questions[words] += texts
    best: dict[str, tuple[str, str]] = {}
    for new, old in sorted(weights, key=lambda words: (weights[words], -vocabulary.name_counts[words[1]], words)):
        best[new] = (new, old)
    for words in best.values():
        if weights[words] >= SUPPORT:
            new, old = words
            typed = typed_word(new, questions[words], vocabulary)
            concept = Change(kind=CONCEPT, of=INDEX, target=vocabulary.spelling(old), value=(typed,))
            yield propose(
                "concept", [concept, *_moved(new, vocabulary)],
                because=f"asked for as {typed!r}, which nobody here writes",
                evidence=list(dict.fromkeys(questions[words]))[:EXAMPLES], weight=weights[words],
            )  # fmt: skip


def tidied(_evidence: Evidence, vocabulary: Vocabulary) -> Iterator[Proposal]:
    """Draft dropping keywords of one document that have become other words for something that several have."""
    for word in sorted(vocabulary.synonyms_by_stem):
        synonyms = vocabulary.synonyms(word)
        changes = [
            change for change in _moved(word, vocabulary) if not synonyms.isdisjoint(vocabulary.names[change.target])
        ]
        if changes and not vocabulary.is_written(word):
            typed = changes[0].words[0]
            because = f"{typed!r} is in `concepts`; as a keyword it stands for these documents alone"
            yield propose("concept", changes, because=because, evidence=(), weight=float(len(changes)))


def _moved(word: str, vocabulary: Vocabulary) -> Iterator[Change]:
    """Yield the changes that drop a word from the keywords of documents, if they keep others."""
    for document, spellings in vocabulary.documents_with_keyword(word).items():
        if document in vocabulary.own and len(vocabulary.entries[document].keywords) > len(spellings):
            yield Change(kind=DROP, of=DOCUMENT, target=document, field="keywords", value=spellings)


def _is_open(stem: str, vocabulary: Vocabulary) -> bool:
    """Return whether a word could be another word for something: nobody writes it, and it is distinctive."""
    return not vocabulary.is_written(stem) and not vocabulary.is_common(stem)


def _unexplained(asked: Iterable[str], document: str, vocabulary: Vocabulary) -> frozenset[str]:
    """Return the names of a document that a question expresses neither directly nor by a synonym."""
    explained = {word for stem in asked for word in (stem, *vocabulary.synonyms(stem))}
    return vocabulary.names.get(document, frozenset()) - explained


Votes = dict[tuple[str, str], tuple[float, list[str]]]  # (new word, old word) → weight and questions


def _by_documents(evidence: Evidence, vocabulary: Vocabulary) -> Votes:
    """Return what the documents that answer questions with a new word have in common, with one vote each."""
    questions: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))  # by new word and document
    open_names: dict[tuple[str, str], frozenset[str]] = {}
    for pair in helped_pairs(evidence, vocabulary):
        asked = vocabulary.words_by_stem(pair.question)
        names = _unexplained(asked, pair.document, vocabulary)
        for stem in asked:
            if _is_open(stem, vocabulary) and vocabulary.synonyms(stem).isdisjoint(vocabulary.names[pair.document]):
                questions[stem][pair.document].append(pair.question)
                key = (stem, pair.document)
                open_names[key] = open_names.get(key, names) & names
    votes: Votes = {}
    for new, by_document in questions.items():
        if vocabulary.is_misspelt(new):
            continue
        texts = [text for document in by_document.values() for text in document]
        counts = Counter(old for document in by_document for old in open_names[new, document] - {new})
        for old, count in counts.items():
            if count >= max(SUPPORT, AGREE * len(by_document)) and _is_name(old, new, vocabulary):
                votes[new, old] = (count + count / (1 + vocabulary.name_counts[old]), texts)
    return votes


def _is_name(old: str, new: str, vocabulary: Vocabulary) -> bool:
    """Return whether a word names few documents, among them all that have the new word as a keyword."""
    narrow = vocabulary.name_counts[old] <= max(SUPPORT, WIDE * len(vocabulary.entries))
    return (
        narrow
        and vocabulary.is_written(old)
        and all(old in vocabulary.names[document] for document in vocabulary.documents_with_keyword(new))
    )


def _by_rephrasing(rephrased: Sequence[Rephrased], vocabulary: Vocabulary) -> Votes:
    """Return the words that replaced new ones when the same person asked again.

    Each person has one vote, which is divided among the possible pairs of words.
    """
    votes: Votes = {}
    for attempt in rephrased:
        first, then = vocabulary.words_by_stem(attempt.first), vocabulary.words_by_stem(attempt.then)
        names = _unexplained(first, attempt.document, vocabulary)
        new = [
            stem for stem in first
            if stem not in then and _is_open(stem, vocabulary) and not vocabulary.is_misspelt(stem)
            and vocabulary.synonyms(stem).isdisjoint(then)
        ]  # fmt: skip
        old = [stem for stem in then if stem in names]
        if 0 < len(new) * len(old) <= MOST_TURNED:
            for words in product(new, old):
                if _is_name(words[1], words[0], vocabulary):
                    weight, questions = votes.get(words, (0.0, []))
                    votes[words] = (weight + attempt.people / (len(new) * len(old)), [*questions, attempt.first])
    totals: dict[str, float] = defaultdict(float)
    for words, (weight, _) in votes.items():
        totals[words[0]] += weight
    return {words: vote for words, vote in votes.items() if vote[0] >= MEANT * totals[words[0]]}
