"""Exemplar sentences of a `meaning` clause → what the watcher compares with, and the words that nominate a sentence.

The first word of an exemplar that carries meaning is its act. A sentence is nominated by a word for the act and most of
the other words, or words like them; that rule is also the gate, so nothing is lost there. Refuses nothing: an exemplar
without enough words is left out and named by `thin`, since no sentence could be told by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations
from typing import Any

from deia.compile.triggers.lowered import Group
from deia.compile.triggers.synonyms import alike, head_of, is_act, phrasal
from deia.compile.triggers.word_bags import weight_of
from deia.compile.triggers.word_forms import forms
from deia.errors import ArtefactError
from deia.match.static_vectors import Static, quantised
from deia.text import words
from deia.watch.clauses.similarity import ALL, MOST_APART, STOP_WORDS, TELLING, content_words, opened, wants_all
from deia.watch.gate.artefact import LONGEST_WORD
from deia.watch.gate.word_gate import SAID
from deia.watch.prose.stance_names import DENIALS

MOST_WORDS = 8  # of an exemplar that carry meaning; what follows them is left out
LEAST_WORDS = 2
# How much of an exemplar must stand near, by the weight of its words, and the least weight that tells a sentence.
# A word weighs as much as it is rare, in hundredths of a power of ten, so that `every file` is little; the
# three bounds were chosen by a sweep on development conversations.
SHARE = 0.7
LEAST_WEIGHT = 450
MOST_WEIGHT = 250  # of one word, so that it alone is never enough
NEAR = 0.6  # cosine from which on the static vectors take two words for one another; below it opposites turn up
MOST_NEAR = 8
DENIED = DENIALS | {"t"}  # an exemplar that denies something (`commit without the hooks`) is met by what does
NOT_CLOSE = 1.01  # more than any cosine: the threshold before there is one


def meaning_clause(value: Sequence[str]) -> tuple[dict[str, Any], tuple[tuple[Group, ...], ...]]:
    """Give a clause for the watcher, with a threshold that nothing reaches, and its rows for the gate.

    Raises:
        ArtefactError: the static vectors that came with deia are missing or torn.
    """
    clause, rows = _lowered(tuple(value))
    return {**clause, "v": dict(clause["v"])}, rows


@lru_cache(maxsize=2000)
def _lowered(value: tuple[str, ...]) -> tuple[dict[str, Any], tuple[tuple[Group, ...], ...]]:
    static = vectors()
    groups: list[list[Any]] = []
    numbers: dict[tuple[str, bool], int] = {}
    exemplars, rows = [], dict[tuple[Group, ...], None]()
    for text in value:
        said = exemplar_words(text)
        if _is_thin(said):
            continue
        own = []
        for place, word in enumerate(said):
            key = word, not place
            if key not in numbers:
                numbers[key] = len(groups)
                groups.append(_group(word, act=not place))
            own.append(numbers[key])
        held = [Group((one, *same, *near)) for one, same, near, _ in (groups[number] for number in own)]
        weights = [min(MOST_WEIGHT, weight_of(group)) for group in held]
        least = round(max(SHARE * sum(weights), min(LEAST_WEIGHT, sum(weights))))
        code = quantised(static.encode(" ".join(groups[number][0] for number in own))).hex()
        exemplars.append([text, code, least, weights, own])
        held[0] = Group((*held[0], *groups[own[0]][3]))
        always = (Group((SAID,)), *((DENIED,) if not DENIALS.isdisjoint(words(text)) else ()))
        rows.update(dict.fromkeys((*always, *row) for row in _rows(held, weights, least)))
    texts = [_written(*group) for group in groups]
    clause = {"t": [NOT_CLOSE] * len(exemplars), "d": static.digest, "g": texts, "e": exemplars}
    return {"k": "meaning", "s": " | ".join(value), "v": clause}, tuple(rows)


def _written(own: str, alike: Sequence[str], near: Sequence[str], pairs: Mapping[str, Sequence[str]]) -> str:
    """Write a group of words as a text, which is read ten times as fast as lists: `own|alike|near|verb=away`."""
    particles = " ".join([f"{verb}={','.join(after)}" for verb, after in pairs.items()])
    return "|".join((own, " ".join(alike), " ".join(near), particles))


def thin(value: Sequence[str]) -> list[str]:
    """Give the exemplars with too few words that carry meaning."""
    return [text for text in value if _is_thin(exemplar_words(text))]


def _is_thin(said: Sequence[str]) -> bool:
    return len([word for word in said if word not in ALL]) < LEAST_WORDS


def exemplar_words(text: str) -> list[str]:
    """Give the different words of an exemplar that carry meaning, in order, as many as count.

    The first is its act; a verb with a particle that the thesaurus knows is one, written `blow_away`.
    """
    said = words(text)
    for at, word in enumerate(said):
        after = enumerate(said[at + 1 : at + 1 + MOST_APART], at + 1)
        particle = next((place for place, one in after if is_act(f"{word}_{one}")), 0)
        if particle:
            rest = content_words([*said[at + 1 : particle], *said[particle + 1 :]])
            return list(dict.fromkeys((f"{word}_{said[particle]}", *rest)))[:MOST_WORDS]
        if word not in STOP_WORDS:
            break
    return list(dict.fromkeys(content_words(said)))[:MOST_WORDS]


def vectors() -> Static:
    """Give the static vectors.

    Raises:
        ArtefactError: they are missing or torn.
    """
    static = opened()
    if static is None:
        fix = "Install deia again: its file of word vectors is missing or damaged."
        raise ArtefactError("a `meaning` clause cannot be compiled without the word vectors", fix=fix)
    return static


def vectors_source() -> str:
    """Name the vectors that clauses are compiled with; empty where they cannot be read."""
    static = opened()
    return static.digest if static else ""


def _rows(groups: Sequence[Group], weights: Sequence[int], least: int) -> Iterator[tuple[Group, ...]]:
    """Give the smallest sets of groups, the act's always among them, that weigh enough."""
    others = range(1, len(groups))
    wanted = frozenset(one for one in others if wants_all(groups) and not ALL.isdisjoint(groups[one]))
    enough: list[frozenset[int]] = []
    telling = {one for one in others if weights[one] >= TELLING * max(weights[1:])}
    for size in range(len(groups)):
        for some in map(frozenset, combinations(others, size)):
            weighs = weights[0] + sum(weights[one] for one in some)
            told = not telling or not telling.isdisjoint(some)
            if told and wanted <= some and weighs >= least and not any(one <= some for one in enough):
                enough.append(some)
    yield from (tuple(groups[one] for one in (0, *sorted(some))) for some in enough)


def _group(word: str, *, act: bool) -> list[Any]:
    """Give a word, the forms of what may stand in its place, words near it, compared as they are, and pairs for it."""
    same = ALL if word in ALL and not act else alike(word, act=act)
    near: Iterable[str] = () if same else _near(word)
    own = head_of(word) if "_" in word else word
    held = Group(_usable(same or forms(word)) - {own})
    pairs = {verb: sorted(particles) for verb, particles in sorted(phrasal(word).items())} if act else {}
    return [own, sorted(held), sorted(Group(_usable(near)) - held - {own}), pairs]


def _usable(found: Iterable[str]) -> Group:
    return Group(word for word in found if len(word.encode()) <= LONGEST_WORD) - STOP_WORDS


# --- words near a word ---


@cache
def _near(word: str) -> tuple[str, ...]:
    """Give the words that the static vectors take for a word that no class of the thesaurus holds."""
    import numpy as np  # noqa: PLC0415 - a tenth of a second that only commons with `meaning` clauses pay

    names, texts, rows = _vocabulary()
    at = names.get(word)
    if at is None:
        return ()
    cosines = np.einsum("ij,j->i", rows, rows[at])  # not BLAS: its threads wait for one another
    close = np.flatnonzero(cosines >= NEAR)
    nearest = close[np.argsort(-cosines[close], kind="stable")][: MOST_NEAR + 1]
    return tuple(texts[one] for one in nearest.tolist() if one != at)


@cache
def _vocabulary() -> tuple[dict[str, int], list[str], Any]:
    """Give the whole words that have vectors, with their numbers and in order, and their vectors of unit length."""
    import numpy as np  # noqa: PLC0415 - as above

    found = {word: row for word, row in vectors().whole_words() if word.isascii() and word.isalpha()}
    codes = np.stack([np.frombuffer(vectors().code(row), "u1") for row in found.values()]).astype("f4") - 128
    lengths = np.maximum(np.linalg.norm(codes, axis=1, keepdims=True), 1e-9)
    return {word: number for number, word in enumerate(found)}, list(found), codes / lengths
