"""From hits on passages to documents in order, and how sure an answer may be of them.

Pure: it reads no file and no clock.
"""

from __future__ import annotations

from math import sqrt

from deia.match.fuzzy import SHORT
from deia.records import TYPE_CHECKING, Record
from deia.search.question import CORRECTED_COUNTS, CORRECTED_SHORT_COUNTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from deia.knowledge import Hit
    from deia.search.question import Question, Term

# A document is its best passage; a second adds a quarter, a third an eighth. Measured against the
# best alone: two points of nDCG@10 on long documents, nothing on short ones.
SHARES = (1.0, 0.25, 0.125, 0.0625)
NEAR_BEST = 0.7  # of the best document's score: these answer the question too
MOST_PRIMARY = 3
# How much of a question's information the best document must hold. See `confidence`.
LEVELS = ((0.75, "high"), (0.5, "medium"))
ENOUGH = 0.5  # to have answered, and not only touched the question
LEAST = 0.35


class Ranked(Record):
    """A document with its score and the passage that won it."""

    document: str
    score: float
    ordinal: int


def rank(hits: Iterable[Hit]) -> list[Ranked]:
    """Order documents by their passages, those with equal scores by id."""
    passages: dict[str, list[Hit]] = {}
    for hit in hits:
        passages.setdefault(hit.document, []).append(hit)
    ranked = [_document(found) for found in passages.values()]
    return sorted(ranked, key=lambda each: (-each.score, each.document))


def _document(found: Sequence[Hit]) -> Ranked:
    best = sorted(found, key=lambda hit: (-hit.score, hit.ordinal))[: len(SHARES)]
    score = sum(hit.score * share for hit, share in zip(best, SHARES, strict=False))
    return Ranked(document=best[0].document, score=score, ordinal=best[0].ordinal)


def primary_count(scores: Sequence[float]) -> int:
    """Count the documents at the top that are nearly as good as the first."""
    return sum(score >= NEAR_BEST * scores[0] for score in scores[:MOST_PRIMARY])


def coverage(asked: Question, passages: Mapping[int, Collection[str]]) -> float:
    """Give the share of a question's information that a document holds, from 0 to 1.

    It is the mean for the whole document and for its best passage, because a long document holds a little of
    everything. Each word weighs the root of its inverse document frequency, so that "the site is down" hangs on
    what is rare in it and one unknown word does not outweigh three known ones (measured on three sets: the root
    separates questions that belong there from others a little better than the frequency itself, and than counting).
    A corrected word counts in part.
    """
    together = {stem for held in passages.values() for stem in held}
    best = max((_share(asked, held) for held in passages.values()), default=0.0)
    return (_share(asked, together) + best) / 2


def _share(asked: Question, held: Collection[str]) -> float:
    parts = [term for term in asked.terms if term.part]
    whole = sum(sqrt(term.information) for term in parts)
    return sum(sqrt(term.information) * _trust(term) for term in parts if term.stem in held) / whole if whole else 0.0


def _trust(term: Term) -> float:
    if not term.corrected:
        return 1.0
    return CORRECTED_SHORT_COUNTS if len(term.asked) <= SHORT else CORRECTED_COUNTS


def confidence(covered: float) -> str:
    """Name how sure an answer may be.

    A rule and not a probability: high where the best document holds three quarters of the question, medium from a half,
    low below; under LEAST nothing was found. On three labelled sets LEAST loses 1 to 11 % of the questions that belong
    there, and refuses 14 to 62 % of those that belong to the other two.
    """
    return next((name for least, name in LEVELS if covered >= least), "low")
