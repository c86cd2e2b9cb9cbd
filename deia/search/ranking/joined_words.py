"""Joined words taken apart: `getlines` into `get` and `lines`.

People ask for *the lines of a file* where the function is called `getlines`. Such a name is taken apart where each
piece is a usual word, and the pieces together are more usual than the whole. The whole stays a term as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from math import inf

from deia import files
from deia.folders import MODELS
from deia.match.keyword import analyser
from deia.search.ranking.weights import LEVELS, SEPARATOR, USUAL_WORDS

SHORTEST, LONGEST = 5, 24  # letters of a word that is taken apart
LEAST_PIECE, LONGEST_PIECE = 3, 14
SHORT_WORDS = frozenset("as at by db do go id in io ip is no of on or to up".split())
RAREST = 9.0  # nats, of a piece
A_PIECE = 1.5  # nats, that each piece costs
WHOLE = 3.0  # nats, by which the whole may be more usual than its pieces
MOST_PIECES = 3


@lru_cache(maxsize=100_000)
def pieces(word: str) -> Sequence[str]:
    """Return the usual words that a word is made of; nothing if it is a usual word itself, or none fit."""
    if not (SHORTEST <= len(word) <= LONGEST and word.isascii() and word.isalpha()):
        return ()
    rarity = _rarity()
    reached: list[tuple[float, tuple[str, ...]]] = [(0.0, ()), *[(inf, ())] * len(word)]
    for start in range(len(word)):
        cost, before = reached[start]
        if cost == inf or len(before) == MOST_PIECES:
            continue
        for end in range(start + 2, min(len(word), start + LONGEST_PIECE) + 1):
            piece = word[start:end]
            added = cost + A_PIECE + rarity(piece)
            if added < reached[end][0] and end - start < len(word):
                reached[end] = (added, (*before, piece))
    cost, split = reached[-1]
    return split if cost < A_PIECE + rarity(word) + WHOLE else ()


@cache
def _rarity() -> Callable[[str], float]:
    """Return the function that gives a word's rarity in general software text, in nats; infinite if it is not usual."""
    rows = (row.rpartition(SEPARATOR) for row in (files.read(f"{MODELS}/{USUAL_WORDS}") or b"").decode().splitlines())
    nats = {str(level): level / LEVELS for level in range(int(RAREST * LEVELS) + 1)}
    usual = {stem: nats[level] for stem, _, level in rows if level in nats and stem}
    stemmed = analyser().analyze

    @lru_cache(maxsize=200_000)
    def rarity(word: str) -> float:
        if len(word) < LEAST_PIECE and word not in SHORT_WORDS:
            return inf
        return usual.get("".join(stemmed(word)), inf)

    return rarity
