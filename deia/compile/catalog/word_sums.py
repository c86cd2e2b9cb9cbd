"""Sums of word vectors for many texts, computed much faster than `deia.match.static_vectors` does for one.

Not worth using for a few texts, because all vectors are read into memory first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain

from deia.match.numerics import Floats, NDArray, np
from deia.match.static_vectors import MIDDLE, MOST_READ, Static, words

PLAIN = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")  # what `words` finds in a lower-case ASCII text …
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")  # … without these characters, which `words` leaves out

FIRST = 4_096  # initial rows of the table
MOST_SUMS = 60_000  # sums that are cached, in about 50 MB


class _Numbers(dict[str, int]):
    """The table row of each token's sum, computed once."""

    __slots__ = ("_number",)

    def __init__(self, number: Callable[[str], int]) -> None:
        self._number = number

    def __missing__(self, word: str) -> int:
        self[word] = number = self._number(word)
        return number


class WordSums:
    """A model's vectors in memory, with the sum of each whitespace-separated token cached.

    The sums are integers far below 2^24, so floats hold them exactly, in whatever order they are added.
    """

    __slots__ = ("_codes", "_gathered", "_model", "_ones", "_rows", "_table", "_tokens", "_words")

    def __init__(self, model: Static) -> None:
        model.learn()
        self._model = model
        self._codes: NDArray[np.uint8] = np.frombuffer(model.codes(), "u1").reshape(-1, model.dimensions)
        self._table: Floats = np.empty((FIRST, model.dimensions), "f4")
        self._rows = 0  # rows of the table that are in use
        self._gathered: Floats = np.empty((MOST_READ, model.dimensions), "f4")
        self._ones: Floats = np.ones(MOST_READ, "f4")
        self._tokens = _Numbers(lambda token: self._add_sum(PLAIN.findall(token)))
        self._words = _Numbers(lambda word: self._add_sum([word]))

    def of(self, texts: Sequence[str]) -> Floats:
        """Return the sum of each text's vectors, one per row; zeros if no token is known."""
        sums: Floats = np.zeros((len(texts), self._codes.shape[1]), "f4")
        for number, text in enumerate(texts):
            if self._rows >= MOST_SUMS:
                self._clear()
            numbers = self._numbers_of(text[:MOST_READ])
            if numbers:  # reusing the buffer makes gathering seven times as fast
                gathered = self._gathered[: len(numbers)]
                self._table.take(numbers, axis=0, out=gathered, mode="clip")
                np.dot(self._ones[: len(numbers)], gathered, out=sums[number])
        return sums

    def _numbers_of(self, text: str) -> list[int]:
        if text.isascii() and not CONTROLS.search(text):
            return [*map(self._tokens.__getitem__, text.lower().split())]
        return [*map(self._words.__getitem__, words(text))]

    def _add_sum(self, words: Sequence[str]) -> int:
        """Add a row with the sum of some normalised words' vectors to the table; return its number."""
        if self._rows == len(self._table):
            self._table = np.concatenate([self._table, np.empty_like(self._table)])
        pieces = [*chain.from_iterable(map(self._model.word, words))]
        self._table[self._rows] = self._codes[pieces].sum(0, dtype="i8") - MIDDLE * len(pieces)
        self._rows += 1
        return self._rows - 1

    def _clear(self) -> None:
        self._tokens.clear()
        self._words.clear()
        self._rows = 0
