"""What somebody typed, as terms to look for: stop words dropped, misspelt words corrected, unknown words named.

A word is corrected only where the commons has never seen it, and the correction is told. It refuses nothing: any text
is a question, an empty one included.
"""

from __future__ import annotations

from itertools import pairwise
from math import log

from deia.match.spelling import edits_allowed, worth_keeping
from deia.match.tokeniser import distinct, question_words, spelled_out
from deia.records import TYPE_CHECKING, Record
from deia.search.question.concept_words import ADDED, MOST_CHARACTERS, instead, others

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from deia.search.catalog import Catalog

MOST_WORDS = 400  # of a question: a pasted log says what it is about well before
MOST_STEMS = 64  # the rarest ones rank
MOST_CORRECTIONS = 16
CORRECTED_COUNTS = 0.8  # a word that we changed is weaker evidence than one that was typed
CORRECTED_SHORT_COUNTS = 0.3  # and a short one may have meant anything
STRONG = 2.0  # a command's program and sub-command beside its options and names
CALLED_COUNTS = 0.9  # another word for the thing, in place of one that nobody here uses
SHORTEST_HALF = 4
COMMON_HALF = 3  # passages that must hold each half of a word that is split
MOST_MEANT = 4_000  # characters of a question whose words are corrected for a model
TOLD = 500  # characters of a corrected question that are shown


class Term(Record):
    """One thing to look for: what was typed, the stem it became, and how much finding it says."""

    asked: str
    stem: str  # "" where the commons knows no such word
    information: float  # the stem's inverse document frequency, in nats
    corrected: str = ""  # what was looked for instead
    part: bool = True  # False for the whole of a name whose parts are terms too
    concept: str = ""  # the other word for it that the commons uses
    weight: float = 1.0


class Question(Record):
    """A question, understood."""

    text: str
    terms: tuple[Term, ...]


def unknown(asked: Question) -> tuple[str, ...]:
    """Give the words that nobody in the commons ever used."""
    return tuple(dict.fromkeys(term.asked for term in asked.terms if not term.stem))


def weights(asked: Question) -> dict[str, float]:
    """Give the stems to rank by: the rarest, if there are very many."""
    known = sorted((term for term in asked.terms if term.stem), key=lambda term: -term.information)
    found: dict[str, float] = {}
    for term in known[:MOST_STEMS]:
        found[term.stem] = max(term.weight, found.get(term.stem, 0.0))
    return found


def searched_for(asked: Question) -> str:
    """Give the question as it was asked of the index, or nothing where no word was changed."""
    return meant(asked)[:TOLD] if _replaced(asked) else ""


def meant(asked: Question) -> str:
    """Give the question with its misspelt words corrected, where a model reads it: at the beginning."""
    changed = _replaced(asked)
    return " ".join(_mended(token, changed) for token in asked.text[:MOST_MEANT].split()) if changed else asked.text


def named_share(asked: Question) -> float:
    """Give how much of what is asked lies in names that are known, such as `KubePodCrashLooping`, from 0 to 1."""
    known = {term.asked for term in asked.terms if not term.part and not term.concept}
    tokens = [token for token in asked.text[:MOST_MEANT].split() if _is_code(token)] if known else []
    inside = {part for token in tokens for word in question_words(token) if word[0] in known for part in word[1:]}
    every = sum(term.information for term in asked.terms if term.part)
    return sum(term.information for term in asked.terms if term.part and term.asked in inside) / every if every else 0.0


def _replaced(asked: Question) -> dict[str, str]:
    """Give what was looked for in place of words: corrections, and what the commons calls a thing."""
    return {term.asked: term.corrected or term.concept for term in asked.terms if term.part and _is_other(term)}


def _is_other(term: Term) -> bool:
    return bool(term.corrected or term.concept)


def _is_code(token: str) -> bool:
    """Tell whether a word is written as code is: with humps, or with `_`, `.` or `:` inside; prose has `-` and `/`."""
    inside = token.strip("_.,:;!?()[]{}'\"`")
    return any(mark in inside for mark in "_.:") or spelled_out(inside) != inside


def _mended(token: str, changed: Mapping[str, str]) -> str:
    found = distinct(question_words(token))
    new = [changed.get(term, term) for term in found]
    return token if new == found else " ".join(dict.fromkeys(part for part in new if part))


def read_question(text: str, catalog: Catalog, *, strong: Collection[str] = ()) -> Question:
    """Understand a question against the words that the catalog knows; `strong` words weigh more than the others."""
    found = question_words(text)[:MOST_WORDS]
    stems = dict(zip(listed := distinct(found), catalog.keyword.stems(listed), strict=True))
    seen = {term: catalog.keyword.frequency(stem) for term, stem in stems.items()}
    named = {term: other for term in listed if not seen[term] and (other := instead(stems[term], catalog))}
    changes = _corrections(found, {**seen, **dict.fromkeys(named, 1)}, catalog)
    terms = [term for word in found for term in _terms(word, stems, seen, changes, named, catalog)]
    if strong:
        terms = [term.but(weight=STRONG) if term.asked in strong else term for term in terms]
    if len(text) <= MOST_CHARACTERS:
        terms += _added(found, stems, terms, catalog)
    return Question(text=text, terms=tuple({(term.asked, term.stem): term for term in terms}.values()))


def _added(
    found: Sequence[Sequence[str]], stems: Mapping[str, str], terms: Sequence[Term], catalog: Catalog
) -> list[Term]:
    """Give terms for other words that the commons uses for what was asked."""
    have = {term.stem for term in terms}
    parts = [part for word in found for part in (word[1:] or word)]
    near = others([stems[part] for part in parts], catalog)
    typed = {stems[part]: part for part in parts}
    return [
        Term(
            asked=" ".join(typed[each] for each in run.split()),
            stem=stem,
            information=_information(stem, catalog),
            part=False,
            concept=word,
            weight=ADDED / len(other.split()),
        )
        for run, words in near.items()
        for word, other in words.items()
        for stem in other.split()
        if stem not in have
    ]


def _information(stem: str, catalog: Catalog) -> float:
    return information(catalog.keyword.frequency(stem), catalog.keyword.chunks)


def information(frequency: int, chunks: int) -> float:
    """Give how much a word says: the inverse document frequency of BM25 (Robertson and Spärck Jones)."""
    return log(1 + (max(chunks - frequency, 0) + 0.5) / (frequency + 0.5))


def _terms(
    word: Sequence[str],
    stems: Mapping[str, str],
    seen: Mapping[str, int],
    changes: Mapping[str, Sequence[str]],
    named: Mapping[str, str],
    catalog: Catalog,
) -> list[Term]:
    """Give a word's terms; the unknown whole of a name is left out, since its parts stand for it."""
    chunks = catalog.keyword.chunks
    made: list[Term] = []
    for at, term in enumerate(word):
        part = len(word) == 1 or at > 0
        if seen[term]:
            made.append(Term(asked=term, stem=stems[term], information=information(seen[term], chunks), part=part))
        elif term in named:
            made.extend(_called(term, named[term], catalog))
        elif term in changes:
            made.extend(_changed(term, changes[term], catalog))
        elif part:
            made.append(Term(asked=term, stem="", information=information(0, chunks)))
    return made


def _called(term: str, other: str, catalog: Catalog) -> list[Term]:
    """Give the terms of what the commons calls a thing in place of what was typed."""
    parts = [part for word in question_words(other) for part in (word[1:] or word)]
    return [
        Term(asked=term, stem=stem, information=_information(stem, catalog), concept=other, weight=CALLED_COUNTS)
        for stem in catalog.keyword.stems(parts)
    ]


def _changed(term: str, instead: Sequence[str], catalog: Catalog) -> list[Term]:
    told = " ".join(instead)
    return [
        Term(
            asked=term,
            stem=stem,
            information=_information(stem, catalog),
            corrected=told,
        )
        for stem in catalog.keyword.stems(instead)
    ]


def _corrections(found: Sequence[Sequence[str]], seen: Mapping[str, int], catalog: Catalog) -> dict[str, Sequence[str]]:
    """Give what to look for instead of the words that nobody used, where something near is known."""
    changes: dict[str, Sequence[str]] = dict(_joined(found, seen, catalog))
    lost = [term for word in found for term in (word[1:] or word) if not seen[term] and term not in changes]
    for term in dict.fromkeys(lost[:MOST_CORRECTIONS]):
        if instead := _nearest(term, catalog) or _halves(term, catalog):
            changes[term] = instead
    return changes


def _nearest(term: str, catalog: Catalog) -> list[str]:
    if not worth_keeping(term) or not edits_allowed(len(term)):
        return []
    for vocabulary in catalog.vocabularies():
        for known in vocabulary.corrections(term):
            if _frequency(known, catalog):  # the word may have left the commons since the vocabulary was written
                return [known]
    return []


def _halves(term: str, catalog: Catalog) -> list[str]:
    """Split two words written as one, at the place where the rarer of them is most frequent."""
    if not worth_keeping(term):
        return []
    best = (0, "", "")
    for at in range(SHORTEST_HALF, len(term) - SHORTEST_HALF + 1):
        left, right = term[:at], term[at:]
        common = min(_exactly(left, catalog), _exactly(right, catalog))
        best = max(best, (common, left, right))
    return list(best[1:]) if best[0] >= COMMON_HALF else []


def _joined(found: Sequence[Sequence[str]], seen: Mapping[str, int], catalog: Catalog) -> dict[str, Sequence[str]]:
    """Join one word written as two, where at least one of the two is unknown and the whole is known."""
    joined: dict[str, Sequence[str]] = {}
    for left, right in pairwise(found):
        if len(left) > 1 or len(right) > 1 or (seen[left[0]] and seen[right[0]]):
            continue
        whole = left[0] + right[0]
        if worth_keeping(whole) and _exactly(whole, catalog):
            joined.update({part: (whole,) for part in (left[0], right[0]) if not seen[part]})
    return joined


def _exactly(word: str, catalog: Catalog) -> int:
    return sum(vocabulary.count(word) for vocabulary in catalog.vocabularies())


def _frequency(word: str, catalog: Catalog) -> int:
    return catalog.keyword.frequency(catalog.keyword.stems([word])[0])
