"""Turn a query into search terms: drop stop words, correct misspelt words, add synonyms, and note unknown ones.

A word is corrected only if the commons has never seen it, and answers show the correction. One that it uses gets
synonyms beside it, which weigh less than what was typed; one that it never uses is replaced by a synonym. Names of
several words are found as a whole. Any text is a valid query, even an empty one.
"""

from __future__ import annotations

from itertools import pairwise
from math import log

from deia.match.spelling import edits_allowed, worth_keeping
from deia.match.tokeniser import distinct, question_words, spelled_out, words
from deia.records import TYPE_CHECKING, Record
from deia.search.catalog import Catalog
from deia.search.question.symptoms import Complaint, complaint

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

MOST_NAME_WORDS = 4  # of a name
MOST_CHARACTERS = 2_000  # of a query; a longer, pasted text needs no synonyms
SYNONYM_WEIGHT = 0.3  # relative to a typed word
MOST_CAUSES = 2  # causes of a complaint that an answer has to be about
MOST_SYNONYMS = 3  # per word


def replacement(stem: str, catalog: Catalog) -> str:
    """Return the commons' most frequent word for the same thing, or ""."""
    candidates = [(_rarest(stems, catalog), word) for word, stems in catalog.concepts(stem)]
    return max(candidates, default=(0, ""))[1] if any(count for count, _ in candidates) else ""


def synonyms(stems: Sequence[str], catalog: Catalog) -> dict[str, dict[str, str]]:
    """Return synonyms for each stem or run of stems in a query, each synonym with its own stems."""
    by_run: dict[str, dict[str, str]] = {}
    query = " ".join(stems)
    for size in range(min(MOST_NAME_WORDS, len(stems)), 0, -1):
        for at in range(len(stems) - size + 1):
            run = " ".join(stems[at : at + size])
            if run in by_run:
                continue
            words = {
                word: word_stems
                for word, word_stems in catalog.concepts(run)
                if f" {word_stems} " not in f" {query} " and _rarest(word_stems, catalog)
            }
            if words:
                by_run[run] = dict(sorted(words.items(), key=lambda pair: -_rarest(pair[1], catalog))[:MOST_SYNONYMS])
    return by_run


def _rarest(stems: str, catalog: Catalog) -> int:
    """Return the number of passages that contain the rarest of some stems; 0 if one is unknown."""
    return min((catalog.keyword.frequency(stem) for stem in stems.split()), default=0)


MOST_WORDS = 400  # of a query; a pasted log states its subject well before
MOST_STEMS = 64  # used for ranking, the rarest first
MOST_CORRECTIONS = 16
CORRECTED_COUNTS = 0.8  # a corrected word is weaker evidence than a typed one
CORRECTED_SHORT_COUNTS = 0.3  # a corrected short word may have meant anything
STRONG = 2.0  # a command's program and sub-command, relative to its options and names
RENAMED_COUNTS = 0.9  # a synonym in place of a word that the commons does not use
SHORTEST_HALF = 4
COMMON_HALF = 3  # passages that must contain each half of a split word
MOST_CORRECTED = 4_000  # characters of a query that are corrected for a model
MOST_SHOWN = 500  # characters of a corrected query that are shown


class Term(Record):
    """One search term: what was typed, the stem it became, and how informative a match is."""

    typed: str
    stem: str  # "" if the commons does not know the word
    information: float  # the stem's inverse document frequency, in nats
    corrected: str = ""  # what was searched for instead
    part: bool = True  # False for the whole of a name whose parts are terms too
    concept: str = ""  # the synonym that the commons uses
    weight: float = 1.0


class Question(Record):
    """A query as search terms."""

    text: str
    terms: tuple[Term, ...]


def unknown_words(question: Question) -> tuple[str, ...]:
    """Return the words that no document of the commons contains."""
    return tuple(dict.fromkeys(term.typed for term in question.terms if not term.stem))


def stem_weights(question: Question) -> dict[str, float]:
    """Return the stems to rank by, with their weights: the rarest ones if there are very many."""
    known = sorted((term for term in question.terms if term.stem), key=lambda term: -term.information)
    weights: dict[str, float] = {}
    for term in known[:MOST_STEMS]:
        weights[term.stem] = max(term.weight, weights.get(term.stem, 0.0))
    return weights


def searched_for(question: Question) -> str:
    """Return the query as it was searched for, or "" if no word was changed."""
    return corrected_text(question)[:MOST_SHOWN] if _replacements(question) else ""


def corrected_text(question: Question, respelled: Mapping[str, str] = {}) -> str:
    """Return the query with its words replaced as in `searched_for`, for a model, and others as they are `respelled`.

    If a word was replaced, only the first MOST_CORRECTED characters of a long text are returned.
    """
    changed = {**_replacements(question), **respelled}
    if not changed:
        return question.text
    return " ".join(_corrected_token(token, changed) for token in question.text[:MOST_CORRECTED].split())


def named_share(question: Question) -> float:
    """Return the share (0 to 1) of a query's information in known names such as `KubePodCrashLooping`."""
    known = {term.typed for term in question.terms if not term.part and not term.concept}
    tokens = [token for token in question.text[:MOST_CORRECTED].split() if _is_code(token)] if known else []
    inside = {part for token in tokens for word in question_words(token) if word[0] in known for part in word[1:]}
    parts = [term for term in question.terms if term.part]
    total = sum(term.information for term in parts)
    return sum(term.information for term in parts if term.typed in inside) / total if total else 0.0


def _replacements(question: Question) -> dict[str, str]:
    """Return the replacements of words: corrections, and what the commons calls a thing."""
    replaced = (term for term in question.terms if term.part and term.typed and (term.corrected or term.concept))
    return {term.typed: term.corrected or term.concept for term in replaced}


def _is_code(token: str) -> bool:
    """Return whether a word looks like code: CamelCase, or `_`, `.` or `:` inside; prose has `-` and `/` too."""
    inside = token.strip("_.,:;!?()[]{}'\"`")
    return any(mark in inside for mark in "_.:") or spelled_out(inside) != inside


def _corrected_token(token: str, changed: Mapping[str, str]) -> str:
    old = distinct(question_words(token))
    new = [changed.get(term, term) for term in old]
    return token if new == old else " ".join(dict.fromkeys(part for part in new if part))


def read_question(text: str, catalog: Catalog, *, strong: Collection[str] = ()) -> Question:
    """Return a query as terms, matched against the catalog's words; `strong` words weigh more than the others."""
    parsed = question_words(text)[:MOST_WORDS]
    distinct_terms = distinct(parsed)
    stems = dict(zip(distinct_terms, catalog.keyword.stems(distinct_terms), strict=True))
    seen = {term: catalog.keyword.frequency(stem) for term, stem in stems.items()}
    named = {term: name for term in distinct_terms if not seen[term] and (name := replacement(stems[term], catalog))}
    changes = _corrections(parsed, {**seen, **dict.fromkeys(named, 1)}, catalog)
    terms = [term for word in parsed for term in _word_terms(word, stems, seen, changes, named, catalog)]
    if strong:
        terms = [term.but(weight=STRONG) if term.typed in strong else term for term in terms]
    if len(text) <= MOST_CHARACTERS:
        terms += _synonym_terms(parsed, stems, terms, catalog)
    if (broken := complaint(distinct(words(text[:MOST_CHARACTERS])))).causes:
        terms = _with_causes(terms, broken, catalog)
    return Question(text=text, terms=tuple({(term.typed, term.stem): term for term in terms}.values()))


def _synonym_terms(
    parsed: Sequence[Sequence[str]], stems: Mapping[str, str], terms: Sequence[Term], catalog: Catalog
) -> list[Term]:
    """Return terms for the synonyms that the commons uses for what was asked."""
    known_stems = {term.stem for term in terms}
    parts = [part for word in parsed for part in (word[1:] or word)]
    by_run = synonyms([stems[part] for part in parts], catalog)
    typed_words = {stems[part]: part for part in parts}
    return [
        Term(
            typed=" ".join(typed_words[part_stem] for part_stem in run.split()),
            stem=stem,
            information=_information(stem, catalog),
            part=False,
            concept=word,
            weight=SYNONYM_WEIGHT / len(word_stems.split()),
        )
        for run, words in by_run.items()
        for word, word_stems in words.items()
        for stem in word_stems.split()
        if stem not in known_stems
    ]


def _with_causes(terms: Sequence[Term], broken: Complaint, catalog: Catalog) -> list[Term]:
    """Return the terms of a complaint, in which the words of lessons count in place of the everyday ones.

    If the commons has none of these words, the terms stay as they are.
    """
    stems = dict(zip(broken.causes, catalog.keyword.stems(list(broken.causes)), strict=True))
    seen = {word: count for word, stem in stems.items() if (count := catalog.keyword.frequency(stem))}
    chunks = catalog.keyword.worded
    added = [
        Term(
            typed="", stem=stems[word], information=information(seen[word], chunks), part=at < MOST_CAUSES, concept=word
        )
        for at, word in enumerate(sorted(seen, key=lambda word: -seen[word]))
    ]
    typed = [
        term.but(part=False, weight=SYNONYM_WEIGHT) if term.typed in broken.everyday else term
        for term in terms
        if not added or term.stem not in stems.values()
    ]
    return [*typed, *added]


def _information(stem: str, catalog: Catalog) -> float:
    return information(catalog.keyword.frequency(stem), catalog.keyword.worded)


def information(frequency: int, chunks: int) -> float:
    """Return how informative a word is, in nats: BM25's inverse document frequency (Robertson and Spärck Jones)."""
    return log(1 + (max(chunks - frequency, 0) + 0.5) / (frequency + 0.5))


def _word_terms(
    word: Sequence[str],
    stems: Mapping[str, str],
    seen: Mapping[str, int],
    changes: Mapping[str, Sequence[str]],
    named: Mapping[str, str],
    catalog: Catalog,
) -> list[Term]:
    """Return a word's terms; the whole of a name is left out if it is unknown, as its parts represent it."""
    chunks = catalog.keyword.worded
    made_terms: list[Term] = []
    for at, term in enumerate(word):
        part = len(word) == 1 or at > 0
        if seen[term]:
            made_terms.append(
                Term(typed=term, stem=stems[term], information=information(seen[term], chunks), part=part)
            )
        elif term in named:
            made_terms.extend(_renamed_terms(term, named[term], catalog))
        elif term in changes:
            made_terms.extend(_corrected_terms(term, changes[term], catalog))
        elif part:
            made_terms.append(Term(typed=term, stem="", information=information(0, chunks)))
    return made_terms


def _renamed_terms(term: str, name: str, catalog: Catalog) -> list[Term]:
    """Return the terms of the commons' own word for what was typed."""
    parts = [part for word in question_words(name) for part in (word[1:] or word)]
    return [
        Term(typed=term, stem=stem, information=_information(stem, catalog), concept=name, weight=RENAMED_COUNTS)
        for stem in catalog.keyword.stems(parts)
    ]


def _corrected_terms(term: str, correction: Sequence[str], catalog: Catalog) -> list[Term]:
    """Return the terms of a corrected word."""
    shown = " ".join(correction)
    return [
        Term(typed=term, stem=stem, information=_information(stem, catalog), corrected=shown)
        for stem in catalog.keyword.stems(correction)
    ]


def _corrections(
    parsed: Sequence[Sequence[str]], seen: Mapping[str, int], catalog: Catalog
) -> dict[str, Sequence[str]]:
    """Return what to search for instead of unknown words that have a similar known word."""
    changes: dict[str, Sequence[str]] = dict(_joined(parsed, seen, catalog))
    unknown = [term for word in parsed for term in (word[1:] or word) if not seen[term] and term not in changes]
    for term in dict.fromkeys(unknown[:MOST_CORRECTIONS]):
        if correction := _nearest(term, catalog) or _halves(term, catalog):
            changes[term] = correction
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
    """Split two words written as one, at the position where the rarer half is most frequent."""
    if not worth_keeping(term):
        return []
    best = (0, "", "")
    for at in range(SHORTEST_HALF, len(term) - SHORTEST_HALF + 1):
        left, right = term[:at], term[at:]
        common = min(_count(left, catalog), _count(right, catalog))
        best = max(best, (common, left, right))
    return list(best[1:]) if best[0] >= COMMON_HALF else []


def _joined(parsed: Sequence[Sequence[str]], seen: Mapping[str, int], catalog: Catalog) -> dict[str, Sequence[str]]:
    """Join one word written as two, if at least one part is unknown and the whole is known."""
    joined: dict[str, Sequence[str]] = {}
    for left, right in pairwise(parsed):
        if len(left) > 1 or len(right) > 1 or (seen[left[0]] and seen[right[0]]):
            continue
        whole = left[0] + right[0]
        if worth_keeping(whole) and _count(whole, catalog):
            joined.update({part: (whole,) for part in (left[0], right[0]) if not seen[part]})
    return joined


def _count(word: str, catalog: Catalog) -> int:
    return sum(vocabulary.count(word) for vocabulary in catalog.vocabularies())


def _frequency(word: str, catalog: Catalog) -> int:
    return catalog.keyword.frequency(catalog.keyword.stems([word])[0])
