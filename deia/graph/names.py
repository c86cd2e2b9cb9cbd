"""Find the entities that a typed name may mean; no entity is silently taken for another.

The first of these steps that finds anything decides: the name itself; the name in other case; its last parts, such as
`JSONDecoder.decode`; other spellings of these (`raw-decode`, `raw decoders`); aliases; abbreviations (`JD`, `cfg`); and
names that are nearly the same, by rapidfuzz. What the last two steps find has to be shown as a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from sqlite3 import Connection

EXACT, SPELLING, ALIAS, ABBREVIATION, SIMILAR = "exact", "spelling", "alias", "abbreviation", "similar"
GUESSES = (ABBREVIATION, SIMILAR)
MOST = 1_000  # entities that are returned
LONGEST = 300  # characters of a name
FEWEST_SIMILAR = 4  # characters of a name that may be misspelt
# The least similarity of names: 1 minus the share of letters to replace, swap, drop or add (optimal string alignment),
# chosen with bench/graph_names.py.
LIKE = 0.75
NEAR = 0.06  # how far below the best similarity a name may be
MOST_SIMILAR = 50
FEWEST_INITIALS = 2
SHORTEST_PART = 0.34  # the least share of a word that its abbreviation has, as `cfg` of `config`
PARTS = re.compile(r"\s*[.:/#\\>]+\s*")
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
SIGNS = "_-$@. "
VOWELS = frozenset("aeiou")
NO_VOWELS = str.maketrans("", "", "aeiou")
COLUMNS = "select id, name, type, last from entities"

Row = tuple[int, str, str, str]  # id, name, type, and the last part of the name, folded


class Found(Record):
    """The ids of the entities that a name may mean, and how they were found; a person chooses among several."""

    entities: tuple[int, ...] = ()
    how: str = EXACT

    @property
    def is_guess(self) -> bool:
        """Whether an answer has to say that another name was typed."""
        return self.how in GUESSES


def find(database: Connection, text: str, type: str = "") -> Found:  # noqa: A002 - as entities have it
    """Return the entities that a name may mean, only those of a type if one is given."""
    text = " ".join(text.split())[:LONGEST]
    kind = type.strip().upper()

    def rows(where: str, *values: str) -> list[Row]:
        condition = f"{where} and type = ?" if kind else where
        return database.execute(
            f"{COLUMNS} where {condition} order by name, id", (*values, kind) if kind else values
        ).fetchall()

    if not text:
        return Found()
    if matches := rows("name = ?", text):
        return _found(matches, EXACT)
    parts = PARTS.split(text)
    endings = _ending(rows("last = ?", parts[-1].casefold()), parts)
    if matches := list(dict.fromkeys([*rows("folded = ?", text.casefold()), *endings])):
        return _found(matches, EXACT if all(row[1].endswith(text) for row in matches) else SPELLING)
    all_rows = rows("1")
    for how, chosen in (
        (SPELLING, _spelled(all_rows, text, parts)),
        (ALIAS, _through_aliases(database, all_rows, text)),
        (ABBREVIATION, _abbreviated(all_rows, parts[-1])),
        (SIMILAR, _similar(all_rows, parts)),
    ):
        if chosen:
            return _found(chosen, how)
    return Found()


def _found(rows: Iterable[Row], how: str) -> Found:
    return Found(entities=tuple(row[0] for row in rows)[:MOST], how=how)


def spelling(text: str) -> str:
    """Return a name without what people spell differently: case, signs between words, the plural."""
    return "".join(_singular(word.casefold()) for word in WORDS.findall(text))


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("ses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _ending(rows: Sequence[Row], parts: Sequence[str]) -> list[Row]:
    """Return the rows whose names end with the typed parts, in whatever spelling."""
    wanted = [spelling(part) for part in parts]
    return [row for row in rows if [spelling(part) for part in PARTS.split(row[1])][-len(wanted) :] == wanted]


def _spelled(rows: Sequence[Row], text: str, parts: Sequence[str]) -> list[Row]:
    """Return the rows whose last part is the typed last part, else the whole typed text, in another spelling."""
    last, whole = spelling(parts[-1]), spelling(text)
    same = [row for row in _beginning(rows, last[:1]) if spelling(PARTS.split(row[1])[-1]) == last]
    if matches := _ending(same, parts):
        return matches
    return [row for row in _beginning(rows, whole[:1]) if spelling(PARTS.split(row[1])[-1]) == whole]


def _beginning(rows: Iterable[Row], letter: str) -> list[Row]:
    """Return the rows whose last part begins with a letter, apart from signs."""
    return [row for row in rows if letter and row[3].lstrip(SIGNS)[:1] == letter]


def _through_aliases(database: Connection, rows: Sequence[Row], text: str) -> list[Row]:
    """Return the rows that an alias stands for: a name under which a document re-exports what another one defines."""
    sql = "select distinct target from aliases where name = ? or last = ?"
    targets = {target for (target,) in database.execute(sql, (text, text.casefold()))}
    return [row for row in rows if row[1] in targets]


def _abbreviated(rows: Sequence[Row], typed: str) -> list[Row]:
    """Return the names that an abbreviation stands for: their initials, else their letters with some left out."""
    short = "".join(WORDS.findall(typed)).casefold()
    if len(short) < FEWEST_INITIALS:
        return []
    named = [(row, WORDS.findall(PARTS.split(row[1])[-1])) for row in _beginning(rows, short[0])]
    for fits in (_initials, _consonants):
        if matches := [row for row, name in named if fits(name) == short]:
            return matches
    return [row for row, name in named if _leaves_out(short, "".join(name).casefold())]


def _initials(name: Sequence[str]) -> str:
    return "".join(word[0] for word in name).casefold()


def _consonants(name: Sequence[str]) -> str:
    letters = "".join(name).casefold()
    return letters[:1] + letters[1:].translate(NO_VOWELS)


def _leaves_out(short: str, letters: str) -> bool:
    """Return whether an abbreviation is a name's beginning, or the name without vowels and some of its consonants."""
    if not SHORTEST_PART * len(letters) <= len(short) < len(letters):
        return False
    rest = iter(letters)
    return letters.startswith(short) or (VOWELS.isdisjoint(short[1:]) and all(letter in rest for letter in short))


def _similar(rows: Sequence[Row], parts: Sequence[str]) -> list[Row]:
    """Return the names most similar to what was typed, and those about as similar."""
    from rapidfuzz import process  # noqa: PLC0415 - only unknown names need it
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - likewise

    typed = spelling(parts[-1])
    if len(typed) < FEWEST_SIMILAR:
        return []
    spelled = {last: spelling(last) for last in {row[3] for row in rows}}
    near = process.extract(typed, spelled, scorer=OSA.normalized_similarity, score_cutoff=LIKE, limit=MOST_SIMILAR)
    best = max((score for _, score, _ in near), default=0.0)
    chosen = {last for _, score, last in near if score >= best - NEAR}
    similar = [row for row in rows if row[3] in chosen]
    if len(parts) > 1:
        owner = spelling(parts[-2])
        owned = [
            row for row in similar if OSA.normalized_similarity(owner, spelling(PARTS.split(f".{row[1]}")[-2])) >= LIKE
        ]
        return owned or similar
    return similar
