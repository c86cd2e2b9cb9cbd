"""How close ordinary talk comes to the exemplars of `meaning` clauses by chance.

A piece of talk counts against an exemplar if it has the words that nominate a sentence, and it is as close as the
watcher would compute. The pieces are bags of words without order or stance: sentences that differ from an exemplar only
in these count as false alarms, and a verb with its particle is not recognised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from deia.compile.triggers.exemplars import vectors
from deia.compile.triggers.word_bags import bags, holding
from deia.watch.clauses.similarity import closeness, exemplars_of
from deia.watch.compiled_trigger import MEANING, CompiledTrigger, Meaning

LEAST = 0.5  # the lowest threshold; chosen on development sentences
ABOVE = 0.01  # margin of a threshold above what must stay silent: the error of quantised vectors


def floors_of(pieces: Sequence[Mapping[int, float]]) -> list[float]:
    """Return, for each exemplar, a cosine above those of all pieces of ordinary talk with its words.

    `pieces` are as returned by `nominating`. Not a single one may match, because the false alarms of hundreds of
    clauses add up in a conversation.
    """
    return [max([LEAST, *(score + ABOVE for score in scores.values())]) for scores in pieces]


def set_thresholds(compiled: CompiledTrigger, thresholds: Mapping[tuple[str, str], Sequence[float]]) -> None:
    """Set the thresholds of a trigger's `meaning` clauses; clauses without any get the background's.

    Raises:
        ArtefactError: the word vectors or the background that came with deia are missing.
    """
    for clause in compiled.clauses:
        if clause.kind == MEANING:
            known = thresholds.get((compiled.id, clause.source)) or floors_of(nominating(clause.meaning))
            clause.meaning.thresholds = [round(threshold, 3) for threshold in known]


def nominating(meaning: Meaning) -> list[dict[int, float]]:
    """Return, for each exemplar, the cosines of the pieces of ordinary talk with its words, by the piece's number.

    Raises:
        ArtefactError: the word vectors or the background that came with deia are missing.
    """
    scores = []
    for exemplar in exemplars_of(meaning):
        weights = dict.fromkeys(_with_any(frozenset(exemplar.groups[0])), exemplar.weights[0])
        for weight, group in zip(exemplar.weights[1:], exemplar.groups[1:], strict=True):
            # "all" and its like are stop words, which the pieces do not contain: they count as present.
            pieces = weights if "all" in group else _with_any(frozenset(group))
            weights = {number: total + weight if number in pieces else total for number, total in weights.items()}
        nominated = sorted(number for number, total in weights.items() if total >= exemplar.least)
        scores.append({number: closeness(exemplar, bags()[number].split(), vectors().encode) for number in nominated})
    return scores


@lru_cache(maxsize=2000)
def _with_any(words: frozenset[str]) -> frozenset[int]:
    """Return the numbers of the pieces with any of these words."""
    return frozenset(number for word in words for number in holding().get(word, ()))
