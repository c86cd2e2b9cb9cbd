"""Judge whether the best document answers a query.

Two logistic regressions over the same observations give two probabilities: that the query belongs to this commons at
all (otherwise the answer is "nothing here fits"), and that the best document answers it, which sets the confidence.
"""

from __future__ import annotations

from math import exp, log, sqrt

from deia.match.spelling import SHORT
from deia.records import TYPE_CHECKING, Record
from deia.search.question.literals import literal_terms
from deia.search.question.terms import CORRECTED_COUNTS, CORRECTED_SHORT_COUNTS, Question, Term
from deia.search.ranking.rank import Ranked
from deia.search.ranking.weights import VerdictWeights, verdict_weights

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

SEEN = 20  # documents of the ranking that are observed
HALF = 0.5  # of a query's information: enough for a document of the few that somebody asked for
ALL = 0.95  # of a query's information: counts as everything
MOST_A_WORD = 2.2  # times a word's information: the highest BM25 score of a word (k1 + 1)
LITERAL_COUNTS = 0.15  # weight of one of the asker's own words that a document lacks; 0 and .15 measured alike
MOST_AT_HOME = 6.0  # nats; limits the influence of a single word
FILTER_WEIGHT = 1.7  # a filter counts as a word in every document: the root of 3 nats, the information of 1 in 20
OBSERVED = (
    "covered", "whole", "touched", "unknown", "corrected", "words", "length", "likeness", "nearest", "contrast",
    "margin", "both", "size", "long_likeness", "long_covered", "akin", "akin_squared", "long_akin",
    "at_home", "at_home_among_many", "at_home_squared", "likeness_squared", "covered_squared", "long_unknown",
)  # fmt: skip


class Verdict(Record):
    """The verdict on a ranking."""

    belongs: float  # the probability that the commons is about such things
    answers: float  # the probability that the best document is the one
    found: bool
    confidence: str = "low"


def judge(observed: Sequence[float], learned: VerdictWeights, belonging: Sequence[float] = ()) -> Verdict:
    """Return the verdict on a ranking; a best document that contains everything in the query is always accepted.

    `belonging` are the observations on another ranking for the same query, if that tells better what it is about; its
    best document counts then.
    """
    belonging = belonging or observed
    belongs, answers = _probability(belonging, learned.belongs), _probability(observed, learned.answers)
    high, medium = learned.levels
    confidence = "high" if answers >= high else "medium" if answers >= medium else "low"
    accepted = any(observed) and (belongs >= learned.least or belonging[0] >= ALL)
    return Verdict(belongs=belongs, answers=answers, found=accepted, confidence=confidence)


def judged(observed: Sequence[float], tier: str, *, code: bool, belonging: Sequence[float] = ()) -> Verdict:
    """Return the verdict on a ranking by the weights that were learned for a tier.

    Code in the best place is accepted if either verdict accepts it: the one on code was trained on whole sentences
    asked of large libraries, and knows neither small libraries nor single words.
    """
    plain = judge(observed, verdict_weights(tier), belonging)
    of_code = judge(observed, verdict_weights(tier, code=True)) if code and not plain.found else plain
    return of_code if of_code.found else plain


def _probability(observed: Sequence[float], weights: Sequence[float]) -> float:
    total = weights[0] + sum([weight * value for weight, value in zip(weights[1:], observed, strict=True)])
    return 1 / (1 + exp(-max(-60.0, min(60.0, total))))


def observe(
    question: Question,
    ranked: Sequence[Ranked],
    stems_by_passage: Mapping[int, Mapping[int, Collection[str]]],
    *,
    passages: int,
    filters: int = 0,
    akin: float = 0.0,
    usual: Mapping[str, float] | None = None,
) -> list[float]:
    """Return the observations, in the order of OBSERVED.

    `stems_by_passage` is by document number; `akin` is the query's `affinity`, and `usual` its `word_usage`.
    """
    parts = [term for term in question.terms if term.part]
    if not ranked or not parts:
        return [0.0] * len(OBSERVED)
    first, *others = ranked[:SEEN]
    own = literal_terms(question.text)
    best = stems_by_passage.get(first.number, {})
    stems = _union(best)
    counts = [LITERAL_COUNTS if term.typed in own and term.stem not in stems else 1.0 for term in parts]
    weights = [count * sqrt(term.information) for count, term in zip(counts, parts, strict=True)]
    whole, words = sum(weights) or 1.0, max(1.0, sum(counts) + filters)
    covered = coverage(question, best, own=own, filters=filters)
    home = _at_home(zip(counts, parts, strict=True), usual or {})
    unknown = sum(weight for weight, term in zip(weights, parts, strict=True) if not term.stem) / whole
    most = MOST_A_WORD * sum(count * term.information for count, term in zip(counts, parts, strict=True) if term.stem)
    return [
        covered,
        covered / sqrt(words),
        max([covered, *(coverage(question, stems, own=own, filters=filters) for stems in stems_by_passage.values())]),
        unknown,
        sum(weight for weight, term in zip(weights, parts, strict=True) if term.corrected) / whole,
        min(1.0, first.words / most) if most else 0.0,
        log(words),
        *_ahead(first, others),
        covered * first.likeness,
        log(1 + passages),
        log(words) * first.likeness,
        log(words) * covered,
        akin,
        akin * akin,
        log(words) * akin,
        home,
        log(1 + passages) * home,
        *(value * value for value in (home, first.likeness, covered)),
        log(words) * unknown,
    ]


def _ahead(first: Ranked, others: Sequence[Ranked]) -> Iterator[float]:
    """Yield how similar the best document is, and the most similar one, and how far the best one is ahead."""
    likely = [document.likeness for document in others] or [0.0]
    yield first.likeness
    yield max(first.likeness, *likely)
    yield first.likeness - sum(likely) / len(likely)
    yield first.score - (others[0].score if others else 0.0)


def _at_home(counted: Iterable[tuple[float, Term]], usual: Mapping[str, float]) -> float:
    """Return how much more often the commons uses a query's words than general software text does, in nats.

    It is relative to the square root of the number of words; numbers belong to no subject and do not count.
    """
    # A word's information is the negative logarithm of the share of passages that contain it, so the difference between
    # two texts is the logarithm of a likelihood ratio. Words that the commons does not know add nothing; the
    # observation `unknown` covers them.
    subjects = [(count, term) for count, term in counted if not term.typed.isdigit()]
    nats = sum(
        count * max(-MOST_AT_HOME, min(MOST_AT_HOME, usual[term.stem] - term.information))
        for count, term in subjects
        if term.stem in usual
    )
    return nats / sqrt(sum(count for count, _ in subjects) or 1.0)


def coverage(
    question: Question, passages: Mapping[int, Collection[str]], *, own: Collection[str] = (), filters: int = 0
) -> float:
    """Return the share (0 to 1) of a query's information that a document contains.

    It is the mean of the shares for the whole document and for its best passage, because a long document contains a
    little of everything. Each word weighs the square root of its inverse document frequency, so that "the site is down"
    depends on its rare words, and one unknown word does not outweigh three known ones. (Measured on three sets: the
    root separates questions that belong to a commons from others a little better than the frequency itself, or than
    counting words.) A corrected word counts in part, and the asker's `own` words count little if the document lacks
    them.
    """
    stems = _union(passages)
    parts = [
        (sqrt(term.information) * (LITERAL_COUNTS if term.typed in own and term.stem not in stems else 1.0), term)
        for term in question.terms
        if term.part
    ]
    whole = sum(weight for weight, _ in parts)
    if not whole:
        return 0.0
    in_document = _weight_of(parts, stems)
    in_passage = max((_weight_of(parts, passage_stems) for passage_stems in passages.values()), default=0.0)
    return ((in_document + in_passage) / 2 + FILTER_WEIGHT * filters) / (whole + FILTER_WEIGHT * filters)


def are_few(filters: Collection[str], passing: int) -> bool:
    """Return whether filters leave so few documents that none of them is hidden for a weak match."""
    return bool(filters) and passing <= SEEN


def _union(passages: Mapping[int, Collection[str]]) -> set[str]:
    return {stem for stems in passages.values() for stem in stems}


def _weight_of(parts: Sequence[tuple[float, Term]], stems: Collection[str]) -> float:
    return sum(weight * _trust(term) for weight, term in parts if term.stem in stems)


def _trust(term: Term) -> float:
    if not term.corrected:
        return 1.0
    return CORRECTED_SHORT_COUNTS if len(term.typed) <= SHORT else CORRECTED_COUNTS
