"""Compile the exemplar sentences of a `meaning` clause: vectors to compare with, and words that nominate a sentence.

The first word of an exemplar that carries meaning is its act. A word for the act and most of the other words, or words
like them, nominate a sentence; the gate uses the same rule, so it loses nothing. An exemplar with too few words matches
nothing: it is left out, and `thin` reports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations
from typing import Any

from deia.compile.triggers.lowered import Group, Lowered, Row
from deia.compile.triggers.synonyms import alike, head_of, is_act, phrasal
from deia.compile.triggers.word_bags import weight_of
from deia.compile.triggers.word_forms import forms
from deia.errors import ArtefactError
from deia.match.static_vectors import Static, quantised
from deia.records import Record
from deia.text import words
from deia.watch.clauses.similarity import ALL, MOST_APART, STOP_WORDS, TELLING, content_words, opened, wants_all
from deia.watch.compiled_trigger import MEANING, CompiledClause, Meaning, StoredExemplar
from deia.watch.gate.artefact import LONGEST_WORD
from deia.watch.gate.word_gate import SAID
from deia.watch.prose.stance_names import DENIALS

MOST_WORDS = 8  # of an exemplar that carry meaning; further words are ignored
LEAST_WORDS = 2
# The share of an exemplar's weight that must be near its act, the least weight that nominates a sentence, and the most
# that one word weighs, so that it is never enough alone. A word weighs as much as it is rare, in hundredths of a power
# of ten, so that `every file` weighs little. All three were chosen by a sweep on development conversations.
SHARE = 0.7
LEAST_WEIGHT = 450
MOST_WEIGHT = 250
NEAR = 0.6  # cosine of the static vectors from which two words are taken for one another; below it, opposites appear
MOST_NEAR = 8
DENIED = DENIALS | {"t"}  # an exemplar with a denial (`commit without the hooks`) matches only sentences with one
NOT_CLOSE = 1.01  # above any cosine: the threshold before the calibration


class WordGroup(Record):
    """A word of an exemplar, and the words that may stand in its place."""

    own: str
    alike: Sequence[str]  # compared as the own word
    near: Sequence[str]  # compared as they are
    pairs: Mapping[str, Sequence[str]]  # verbs that mean the act together with one of these particles

    @property
    def words(self) -> Group:
        """All the words, without those that need a particle."""
        return Group((self.own, *self.alike, *self.near))

    def __str__(self) -> str:
        """Return the form in the artefact, which is read ten times as fast as lists: `own|alike|near|verb=away`."""
        pairs = " ".join([f"{verb}={','.join(particles)}" for verb, particles in self.pairs.items()])
        return "|".join((self.own, " ".join(self.alike), " ".join(self.near), pairs))


def meaning_clause(exemplars: Sequence[str]) -> Lowered:
    """Return a `meaning` clause with thresholds that nothing reaches, and its rows for the gate.

    Raises:
        ArtefactError: the static vectors that came with deia are missing or damaged.
    """
    groups, stored, rows = _compiled(tuple(exemplars))
    meaning = Meaning(
        thresholds=[NOT_CLOSE] * len(stored), digest=vectors().digest, groups=groups, exemplars=stored
    )  # its own object, because thresholds are set later
    return Lowered(clause=CompiledClause.of(MEANING, " | ".join(exemplars), meaning), rows=rows)


@lru_cache(maxsize=2000)
def _compiled(exemplars: tuple[str, ...]) -> tuple[list[str], list[StoredExemplar], tuple[Row, ...]]:
    """Return the groups of words of some exemplars, as text, the exemplars as stored, and their rows for the gate."""
    static = vectors()
    groups: dict[tuple[str, bool], WordGroup] = {}
    stored: list[StoredExemplar] = []
    rows = dict[Row, None]()
    for text in exemplars:
        keys = [(word, not at) for at, word in enumerate(exemplar_words(text))]
        if _is_thin([word for word, _ in keys]):
            continue
        for word, is_act_ in keys:
            groups.setdefault((word, is_act_), _group(word, act=is_act_))
        own = [groups[key] for key in keys]
        weights = [min(MOST_WEIGHT, weight_of(group.words)) for group in own]
        least = round(max(SHARE * sum(weights), min(LEAST_WEIGHT, sum(weights))))
        code = quantised(static.encode(" ".join(group.own for group in own))).hex()
        stored.append((text, code, least, weights, [list(groups).index(key) for key in keys]))
        act, *others = own
        always = (Group((SAID,)), *((DENIED,) if not DENIALS.isdisjoint(words(text)) else ()))
        options = [Group((*act.words, *act.pairs)), *(group.words for group in others)]
        rows.update(dict.fromkeys((*always, *row) for row in _rows(options, weights, least)))
    return [str(group) for group in groups.values()], stored, tuple(rows)


def thin(exemplars: Sequence[str]) -> list[str]:
    """Return the exemplars with too few words that carry meaning."""
    return [text for text in exemplars if _is_thin(exemplar_words(text))]


def _is_thin(content: Sequence[str]) -> bool:
    return len([word for word in content if word not in ALL]) < LEAST_WORDS


def exemplar_words(text: str) -> list[str]:
    """Return the distinct words of an exemplar that carry meaning, in order, at most `MOST_WORDS`.

    The first is its act. A verb with a particle that the thesaurus knows is one word, written `blow_away`.
    """
    tokens = words(text)
    for at, word in enumerate(tokens):
        following = enumerate(tokens[at + 1 : at + 1 + MOST_APART], at + 1)
        particle = next((place for place, next_word in following if is_act(f"{word}_{next_word}")), 0)
        if particle:
            rest = content_words([*tokens[at + 1 : particle], *tokens[particle + 1 :]])
            return list(dict.fromkeys((f"{word}_{tokens[particle]}", *rest)))[:MOST_WORDS]
        if word not in STOP_WORDS:
            break
    return list(dict.fromkeys(content_words(tokens)))[:MOST_WORDS]


def vectors() -> Static:
    """Return the static vectors.

    Raises:
        ArtefactError: they are missing or damaged.
    """
    static = opened()
    if static is None:
        fix = "Install deia again: its file of word vectors is missing or damaged."
        raise ArtefactError("a `meaning` clause cannot be compiled without the word vectors", fix=fix)
    return static


def vectors_source() -> str:
    """Return the digest of the vectors that clauses are compiled with, or "" if they cannot be read."""
    static = opened()
    return static.digest if static else ""


def _rows(groups: Sequence[Group], weights: Sequence[int], least: int) -> Iterator[Row]:
    """Yield the smallest sets of groups, always with the act's, that weigh enough and have the required groups."""
    others = range(1, len(groups))
    required = frozenset(number for number in others if wants_all(groups) and not ALL.isdisjoint(groups[number]))
    distinctive = {number for number in others if weights[number] >= TELLING * max(weights[1:])}
    enough: list[frozenset[int]] = []
    for size in range(len(groups)):
        for chosen in map(frozenset, combinations(others, size)):
            weight = weights[0] + sum(weights[number] for number in chosen)
            has_distinctive = not distinctive or not distinctive.isdisjoint(chosen)
            if has_distinctive and required <= chosen and weight >= least and not any(map(chosen.issuperset, enough)):
                enough.append(chosen)
    yield from (tuple(groups[number] for number in (0, *sorted(chosen))) for chosen in enough)


def _group(word: str, *, act: bool) -> WordGroup:
    """Return the group of a word: forms of the words that mean the same, or else words with near vectors."""
    same = ALL if word in ALL and not act else alike(word, act=act)
    near: Iterable[str] = () if same else _near(word)
    own = head_of(word) if "_" in word else word
    like = Group(_usable(same or forms(word)) - {own})
    pairs = {verb: sorted(particles) for verb, particles in sorted(phrasal(word).items())} if act else {}
    return WordGroup(own=own, alike=sorted(like), near=sorted(Group(_usable(near)) - like - {own}), pairs=pairs)


def _usable(candidates: Iterable[str]) -> Group:
    return Group(word for word in candidates if len(word.encode()) <= LONGEST_WORD) - STOP_WORDS


# --- words near a word ---


@cache
def _near(word: str) -> tuple[str, ...]:
    """Return the words whose static vectors are nearest to a word's, for a word that the thesaurus does not have."""
    import numpy as np  # noqa: PLC0415 - takes a tenth of a second, and only commons with `meaning` clauses need it

    names, texts, rows = _vocabulary()
    at = names.get(word)
    if at is None:
        return ()
    cosines = np.einsum("ij,j->i", rows, rows[at])  # not BLAS: its threads wait for one another
    close = np.flatnonzero(cosines >= NEAR)
    nearest = close[np.argsort(-cosines[close], kind="stable")][: MOST_NEAR + 1]
    return tuple(texts[row] for row in nearest.tolist() if row != at)


@cache
def _vocabulary() -> tuple[dict[str, int], list[str], Any]:
    """Return the numbers of the whole words with vectors, these words in order, and their vectors of unit length."""
    import numpy as np  # noqa: PLC0415 - as above

    rows = {word: row for word, row in vectors().whole_words() if word.isascii() and word.isalpha()}
    codes = np.stack([np.frombuffer(vectors().code(row), "u1") for row in rows.values()]).astype("f4") - 128
    lengths = np.maximum(np.linalg.norm(codes, axis=1, keepdims=True), 1e-9)
    return {word: number for number, word in enumerate(rows)}, list(rows), codes / lengths
