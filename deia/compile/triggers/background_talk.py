"""Ordinary talk that every `meaning` clause is held against: how close it comes to exemplars by chance.

A piece counts against an exemplar where it holds the words that nominate a sentence, wherever in the piece they stand,
by how close it comes as the watcher has it. Refuses to look at order and stance, which pieces no longer have: what is
told apart only by these counts as an alarm, and a verb with its particle cannot be told at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from deia.compile.triggers.exemplars import vectors
from deia.compile.triggers.word_bags import bags, holding
from deia.watch.clauses.similarity import closeness, exemplars_of

LEAST = 0.5  # where the background says nothing; chosen on development sentences
ABOVE = 0.01  # how far over what must stay silent a threshold lies: what quantised vectors may be off


def floors_of(pieces: Sequence[Mapping[int, float]]) -> list[float]:
    """Give the cosine for each exemplar that all pieces of ordinary talk with its words are below.

    `pieces` as from `nominating`. None may be reached: alarms of hundreds of clauses add up in one conversation.
    """
    return [max([LEAST, *(score + ABOVE for score in one.values())]) for one in pieces]


def set_thresholds(compiled: Mapping[str, Any], thresholds: Mapping[tuple[str, str], Sequence[float]]) -> None:
    """Give the `meaning` clauses of a compiled trigger their thresholds, and those without one the background's.

    Raises:
        ArtefactError: the word vectors or the background that came with deia are missing.
    """
    for clause in (*compiled["any"], *compiled["all"]):
        if clause["k"] == "meaning":
            known = thresholds.get((compiled["id"], clause["s"])) or floors_of(nominating(clause))
            clause["v"]["t"] = [round(one, 3) for one in known]


def nominating(clause: Mapping[str, Any]) -> list[dict[int, float]]:
    """Give for each exemplar the pieces of ordinary talk that hold its words, by number, and how close they come to it.

    Raises:
        ArtefactError: the word vectors or the background that came with deia are missing.
    """
    found = []
    for one in exemplars_of(clause["v"]):
        held = dict.fromkeys(_holding(frozenset(one.groups[0])), one.weights[0])
        for weight, group in zip(one.weights[1:], one.groups[1:], strict=True):
            if "all" not in group:  # which the pieces no longer hold
                there = _holding(frozenset(group))
                held = {number: sum_ + weight if number in there else sum_ for number, sum_ in held.items()}
            else:
                held = {number: sum_ + weight for number, sum_ in held.items()}
        close = sorted(number for number, sum_ in held.items() if sum_ >= one.least)
        found.append({number: closeness(one, bags()[number].split(), vectors().encode) for number in close})
    return found


@lru_cache(maxsize=2000)
def _holding(words: frozenset[str]) -> frozenset[int]:
    return frozenset(number for word in words for number in holding().get(word, ()))
