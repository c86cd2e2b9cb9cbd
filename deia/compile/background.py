"""Ordinary talk that every `meaning` clause is held against: how close it comes to exemplars by chance.

Word vectors of the pieces are added up once; for each exemplar its own words are put in for those like them, as the
watcher does. Refuses to look at the words that a sentence must hold: that a piece is close counts against a clause also
where its words would not have nominated it.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from deia.compile.bags import bags, holding
from deia.compile.meaning import vectors
from deia.watch.meaning import exemplars_of

if TYPE_CHECKING:
    from collections.abc import Mapping

ALARMS = 1000  # at most one piece of ordinary talk in so many may be as close, by its vector alone
LEAST = 0.55  # where the background says nothing: above the cosine of most texts of one topic (bench/static_pairs.tsv)
ABOVE = 0.01  # how far over what must stay silent a threshold lies: what quantised vectors may be off


def floor_of(clause: Mapping[str, Any]) -> float:
    """Give the cosine that all but one in a thousand pieces of ordinary talk stay below.

    Raises:
        ArtefactError: the word vectors or the background that came with deia are missing.
    """
    ranked = sorted(closest(clause), reverse=True)
    allowed = len(ranked) // ALARMS
    return max(LEAST, ranked[allowed] + ABOVE) if len(ranked) > allowed else LEAST


def set_thresholds(compiled: Mapping[str, Any], thresholds: Mapping[tuple[str, str], float]) -> None:
    """Give the `meaning` clauses of a compiled trigger their thresholds, and those without one the background's.

    Raises:
        ArtefactError: the word vectors or the background that came with deia are missing.
    """
    for clause in (*compiled["any"], *compiled["all"]):
        if clause["k"] == "meaning":
            known = thresholds.get((compiled["id"], clause["s"]))
            clause["v"]["t"] = round(floor_of(clause), 3) if known is None else known


def holds_words(clause: Mapping[str, Any], bag: str) -> bool:
    """Say whether a piece of ordinary talk holds the words that nominate a sentence."""
    present = set(bag.split())
    for one in exemplars_of(clause["v"]):
        if not present.isdisjoint(one.groups[0]) and one.weight(present) >= one.least:
            return True
    return False


@cache
def _sums() -> tuple[Any, Any, dict[str, Any]]:
    """Give the added up word vectors of every piece, their lengths, and the pieces that hold each word."""
    import numpy as np  # noqa: PLC0415 - a tenth of a second that only commons with `meaning` clauses pay

    sums = np.zeros((len(bags()), vectors().dimensions), dtype="f8")  # whole numbers
    for word, numbers in holding().items():
        np.add.at(sums, list(numbers), _vector(word))
    lengths = np.maximum(np.linalg.norm(sums, axis=1), 1e-9)
    return sums, lengths, {word: np.array(numbers) for word, numbers in holding().items()}


@cache
def _vector(word: str) -> Any:
    """Give the added up vectors of a word's tokens, as whole numbers."""
    import numpy as np  # noqa: PLC0415 - as above

    static = vectors()
    found = np.zeros(static.dimensions, dtype="f8")  # whole numbers
    for row in static.rows(word):
        found += np.frombuffer(static.code(row), "u1").astype("f8") - 128
    return found


def closest(clause: Mapping[str, Any]) -> list[float]:
    """Give the cosine of every piece of ordinary talk with the nearest exemplar of a clause, as the watcher has it.

    Raises:
        ArtefactError: the word vectors or the background that came with deia are missing.
    """
    import numpy as np  # noqa: PLC0415 - as above

    best = np.full(len(bags()), -1.0)
    for one in exemplars_of(clause["v"]):
        best = np.maximum(best, _cosines(one.code, tuple(sorted(one.own.items()))))
    found: list[float] = best.tolist()
    return found


@lru_cache(maxsize=2000)
def _cosines(code: bytes, own: tuple[tuple[str, str], ...]) -> Any:
    """Give the cosines of the pieces with an exemplar, its words put in for those like them where a piece has these."""
    import numpy as np  # noqa: PLC0415 - as above

    sums, lengths, held = _sums()
    wanted = np.frombuffer(code, "u1").astype("f8") - 128
    wanted /= max(float(np.linalg.norm(wanted)), 1e-9)
    found = np.einsum("ij,j->i", sums, wanted) / lengths  # not BLAS: its threads wait for one another
    others = [(word, said) for word, said in own if word != said and word in held]
    if others:
        touched = np.unique(np.concatenate([held[word] for word, _ in others]))
        rows = sums[touched]
        for word, said in others:
            np.add.at(rows, np.searchsorted(touched, held[word]), _vector(said) - _vector(word))
        found[touched] = np.einsum("ij,j->i", rows, wanted) / np.maximum(np.linalg.norm(rows, axis=1), 1e-9)
    return found
