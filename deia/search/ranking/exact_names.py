"""Names that somebody typed exactly, such as `ERR_PNPM_OUTDATED_LOCKFILE` or `KubePodCrashLooping`: found first.

Whatever words and meaning say of the other documents, those that hold the name stand before them. Only rare names
count: what half the commons mentions tells nothing apart. It refuses to look at names in part; those are words.
"""

from __future__ import annotations

from deia.match.tokeniser import question_words, spelled_out, words
from deia.records import TYPE_CHECKING
from deia.search.question.error_text import is_error_code
from deia.search.ranking.rank import Ranked
from deia.search.ranking.retrieve import retrieve

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from deia.match.keyword import Filters
    from deia.search.catalog import Catalog
    from deia.search.question.terms import Question
    from deia.search.ranking.retrieve import Meaning

LOOKED_AT = 4_000  # characters of a question
MOST_NAMES = 8
RARE = 5  # passages that may hold a name
RARE_SHARE = 0.01  # of all passages, where there are many
HOLDERS = 50  # passages that are looked at for a name
DEEP = 50  # documents that are ranked, so that those with a name are among them
SHORTEST = 4
BESIDE = 1  # words beside a name that is what is asked about


def found_first(catalog: Catalog, asked: Question, *, meaning: Meaning, filters: Filters, limit: int) -> list[Ranked]:
    """Give the best documents, those that hold the names of the question before all others."""
    holders = _holders(catalog, _rare_names(asked, catalog), filters)
    ranked = retrieve(catalog, asked, meaning=meaning, filters=filters, limit=max(limit, DEEP) if holders else limit)
    return _lifted(ranked, holders)[:limit] if holders else ranked


def _lifted(ranked: Sequence[Ranked], holders: Mapping[int, Ranked]) -> list[Ranked]:
    """Put the holders first, those of more names before, and give nobody a higher score than the one before it."""
    there = {each.number for each in ranked}
    every = [*ranked, *(each for number, each in holders.items() if number not in there)]
    held = {number: each.score for number, each in holders.items()}
    ordered = sorted(every, key=lambda each: -held.get(each.number, 0.0))
    top = max(each.score for each in ranked) if ranked else 1.0
    made: list[Ranked] = []
    for each in ordered:
        score = max(each.score, top) if each.number in held else each.score
        made.append(each.but(score=min(score, made[-1].score) if made else score))
    return made


def _holders(catalog: Catalog, names: Iterable[str], filters: Filters) -> dict[int, Ranked]:
    """Give the documents that hold names, with how many of them as the score, and a passage that does."""
    found: dict[int, Ranked] = {}
    for name in names:
        passages = catalog.keyword.passages({name: 1.0}, filters=filters, limit=HOLDERS)
        places: dict[int, Ranked] = {}
        for number, ordinal, score in passages:
            places.setdefault(number, Ranked(number=number, score=1.0, ordinal=ordinal, words=score))
        for number, each in places.items():
            before = found.get(number)
            found[number] = before.but(score=before.score + 1.0) if before else each
    return found


def _rare_names(asked: Question, catalog: Catalog) -> list[str]:
    """Give the stems of the names in a question that few passages hold.

    An error's code counts anywhere. Another name counts where it is what is asked about, alone or with one more word;
    inside of a sentence it is a noun like others.
    (Measured: without this, questions such as "PersistentVolume is filling up" lost .02 of nDCG@10 to documents that
    mention a PersistentVolume.)
    """
    tokens = [token.strip("\"'`()[]{}<>,;:!?.") for token in asked.text[:LOOKED_AT].split()]
    names = [token for token in dict.fromkeys(tokens) if is_name(token)]
    if len([word for word in question_words(asked.text[:LOOKED_AT]) if len(word[0]) > 1]) > len(names) + BESIDE:
        names = [token for token in names if is_error_code(token)]
    whole = [words(token)[0][0] for token in names[:MOST_NAMES]]
    most = max(RARE, RARE_SHARE * catalog.keyword.chunks)
    return [stem for stem in catalog.keyword.stems(whole) if 0 < catalog.keyword.frequency(stem) <= most]


def is_name(token: str) -> bool:
    """Tell whether a word is an identifier: written with humps or underscores, or a code of letters and digits."""
    found = words(token)
    if len(found) != 1 or len(found[0][0]) < SHORTEST:
        return False
    return (
        is_error_code(token)
        or _is_numbered(token)
        or (token[0] != "$" and ("_" in token.strip("_") or " " in spelled_out(token)))
    )


def _is_numbered(token: str) -> bool:
    """Tell whether a word is a code of capitals and digits, such as SHA-256 or M1014."""
    coded = token[:1].isalpha() and token.upper() == token and token.replace("-", "").isalnum()
    return coded and any(character.isdigit() for character in token)
