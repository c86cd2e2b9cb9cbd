"""Exact names in a query, such as `ERR_PNPM_OUTDATED_LOCKFILE` or `KubePodCrashLooping`.

Documents that contain such a name come first, whatever their words and meaning score. Only rare names count, because
one that half the commons mentions distinguishes nothing. Parts of names are ordinary words and not considered here.
"""

from __future__ import annotations

from deia.match.tokeniser import question_words, spelled_out, words
from deia.records import TYPE_CHECKING
from deia.search.catalog import Catalog
from deia.search.question.error_text import is_error_code
from deia.search.question.terms import Question
from deia.search.ranking.rank import Ranked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deia.match.keyword import Filters

LOOKED_AT = 4_000  # characters of a query
MOST_NAMES = 8
RARE = 5  # passages that may contain a rare name
RARE_SHARE = 0.01  # of all passages, if there are many
HOLDERS = 50  # passages that are looked up for a name
DEEP = 50  # documents that are ranked for a query with a name, so that those with the name are among them
SHORTEST = 4
BESIDE = 1  # words beside a name that is the subject of the query


def put_first(ranked: Sequence[Ranked], holders: Mapping[int, Ranked]) -> list[Ranked]:
    """Return the documents with names first, those with more names before, with scores that never increase."""
    present = {document.number for document in ranked}
    both = [*ranked, *(document for number, document in holders.items() if number not in present)]
    # Of a document that is ranked passage by passage, only the best passage comes first.
    left = {number: document.score for number, document in holders.items()}
    names = [left.pop(document.number, 0.0) for document in both]
    ordered = sorted(zip(names, both, strict=True), key=lambda pair: -pair[0])
    top = max(document.score for document in ranked) if ranked else 1.0
    lifted: list[Ranked] = []
    for count, document in ordered:
        score = max(document.score, top) if count else document.score
        lifted.append(document.but(score=min(score, lifted[-1].score) if lifted else score))
    return lifted


def documents_with_names(catalog: Catalog, question: Question, filters: Filters) -> dict[int, Ranked]:
    """Return the documents that contain names, scored by the number of names, each with a passage that contains one."""
    holders: dict[int, Ranked] = {}
    for name in _rare_names(question, catalog):
        passages = catalog.keyword.passages({name: 1.0}, filters=filters, limit=HOLDERS)
        documents: dict[int, Ranked] = {}
        for number, ordinal, score in passages:
            documents.setdefault(number, Ranked(number=number, score=1.0, ordinal=ordinal, words=score))
        for number, document in documents.items():
            earlier = holders.get(number)
            holders[number] = earlier.but(score=earlier.score + 1.0) if earlier else document
    return holders


def _rare_names(question: Question, catalog: Catalog) -> list[str]:
    """Return the stems of the names in a query that few passages contain."""
    # An error code counts anywhere. Another name counts only if it is the subject of the query: alone, or with one more
    # word. Within a sentence it is an ordinary noun. (Measured: otherwise, questions such as "PersistentVolume is
    # filling up" lost .02 of nDCG@10 to documents that mention a PersistentVolume.)
    tokens = [token.strip("\"'`()[]{}<>,;:!?.") for token in question.text[:LOOKED_AT].split()]
    names = [token for token in dict.fromkeys(tokens) if is_name(token)]
    if len([word for word in question_words(question.text[:LOOKED_AT]) if len(word[0]) > 1]) > len(names) + BESIDE:
        names = [token for token in names if is_error_code(token)]
    whole = [words(token)[0][0] for token in names[:MOST_NAMES]]
    return [stem for stem in catalog.keyword.stems(whole) if is_rare(catalog, stem)]


def is_rare(catalog: Catalog, stem: str) -> bool:
    """Return whether a few passages contain a stem."""
    return 0 < catalog.keyword.frequency(stem) <= max(RARE, RARE_SHARE * catalog.keyword.worded)


def is_name(token: str) -> bool:
    """Return whether a word is an identifier: in CamelCase, with underscores, or a code of letters and digits."""
    parsed = words(token)
    if len(parsed) != 1 or len(parsed[0][0]) < SHORTEST:
        return False
    return (
        is_error_code(token)
        or _is_numbered(token)
        or (token[0] != "$" and ("_" in token.strip("_") or " " in spelled_out(token)))
    )


def _is_numbered(token: str) -> bool:
    """Return whether a word is a code of capitals and digits, such as SHA-256 or M1014."""
    coded = token[:1].isalpha() and token.upper() == token and token.replace("-", "").isalnum()
    return coded and any(character.isdigit() for character in token)
