"""The words of a question, and how much of them a text covers.

A question is asked of several catalogs, and each corrects and renames its words by itself. The weight of a word is the
information that it carries in all of them together.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from deia.match.keyword import KeywordIndex
from deia.match.tokeniser import terms
from deia.records import Record
from deia.search.catalog import Catalog
from deia.search.question.terms import CORRECTED_COUNTS, RENAMED_COUNTS, Question, Term, information

SYNONYM_COUNTS = 0.6  # the part of a word that is covered if only a synonym of it is there
MOST_STEMS = 200_000  # words whose stems are kept
NAME = re.compile(
    r"[A-Za-z_]\w*(?:[._/:-]+\w+)+|\w*[a-z]\w*[A-Z]\w*|[A-Z][A-Z0-9]+\b"
    r"|[A-Z][\w'-]+(?:[ ](?:of[ ]|the[ ]|van[ ]|von[ ]|de[ ]|[A-Z][.][ ])?[A-Z][\w'-]+)*"
)
_STEMS: dict[str, str] = {}


class Aspect(Record):
    """A word of a question: the stems that stand for it, each with how well it does so, and the word's weight."""

    word: str
    stems: Mapping[str, float]
    weight: float

    def covered(self, stems: Collection[str]) -> float:
        """Return how well some stems cover this word, from 0 to 1."""
        best = 0.0
        for stem, trust in self.stems.items():
            if trust > best and stem in stems:
                best = trust
        return best


def aspects_of(asked: Iterable[tuple[Catalog, Question]]) -> tuple[Aspect, ...]:
    """Return the words of a question with the stems that stand for them in some catalogs."""
    pairs = list(asked)
    keywords = [catalog.keyword for catalog, _ in pairs]
    stems: dict[str, dict[str, float]] = {}
    for _, question in pairs:
        for term in question.terms:
            if term.part or term.stem:  # the whole of a name only if a document has it
                trusts = stems.setdefault(term.typed, {})
                if term.stem:
                    trusts[term.stem] = max(_trust(term), trusts.get(term.stem, 0.0))
    single = [word for word in stems if " " not in word]
    return tuple(Aspect(word=word, stems=stems[word], weight=_weight(stems[word], keywords)) for word in single)


def _trust(term: Term) -> float:
    if term.concept and not term.part:
        return SYNONYM_COUNTS
    return CORRECTED_COUNTS if term.corrected else RENAMED_COUNTS if term.concept else 1.0


def _weight(stems: Mapping[str, float], keywords: Sequence[KeywordIndex]) -> float:
    """Return the information of a word in nats: that of its best stem, or that of a word which nobody uses."""
    best = max(stems, key=lambda stem: stems[stem], default="")
    frequency = sum(keyword.frequency(best) for keyword in keywords) if best else 0
    return information(frequency, sum(keyword.worded for keyword in keywords))


def share(aspects: Iterable[Aspect], stems: Collection[str]) -> float:
    """Return how much of a question some stems cover, from 0 to 1."""
    pairs = [(aspect.weight, aspect.covered(stems)) for aspect in aspects]
    return sum(weight * covered for weight, covered in pairs) / (sum(weight for weight, _ in pairs) or 1.0)


def stems_in(keyword: KeywordIndex, text: str) -> list[str]:
    """Return the stem of each term of a text, which is the same in every index."""
    words = terms(text)
    new = [term for term in dict.fromkeys(words) if term not in _STEMS]
    if new:
        if len(_STEMS) > MOST_STEMS:
            _STEMS.clear()
            new = list(dict.fromkeys(words))
        _STEMS.update(zip(new, keyword.stems(new), strict=True))
    return [_STEMS[term] for term in words]


def names_in(text: str) -> list[str]:
    """Return the names in a text, in order: runs of capitalised words, and words with capitals or signs inside."""
    return list(dict.fromkeys(match[0] for match in NAME.finditer(text)))
