"""Finding a phrase in the words of a turn: slots in order, bounded gaps, linear in the number of words."""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.watch.prose.languages import SMALL
from deia.watch.prose.regions import BREAK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    Token = tuple[str, int, int]

MOST_GAP = 8  # words that a gap may hold
MOST_BETWEEN = 3  # small words that may stand between neighbours
BETWEEN = frozenset(
    "the a an this that these those my our your its his her their it them all any some of to up in on s whole entire"
    " current existing old new same just also then please".split()
).union(SMALL)


class Words:
    """The words of a text with an index from each to where it stands; made once a turn, asked by every phrase."""

    __slots__ = ("places", "tokens")

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.places: dict[str, list[int]] = {}
        for at, token in enumerate(tokens):
            self.places.setdefault(token[0], []).append(at)


def find_phrase(slots: Sequence[Any], words: Words, *, strict: bool = False) -> Iterator[tuple[int, int]]:
    """Give where a compiled phrase stands, as its first token and the one after its last.

    `strict` allows no small words in between.
    A slot is `[gap, single words, longer alternatives, optional]`, as the compiler lowers it.
    """
    ends = _Ends(slots, words.tokens, most=0 if strict else MOST_BETWEEN)
    for start, after in _starts(slots[0], words):
        end = ends.nearest(1, after)
        if end is not None:
            yield start, end


class _Ends:
    """Where a phrase may end, from any of its slots on; each place is worked out once, so a text costs its length."""

    __slots__ = ("_known", "_most", "_slots", "_tokens")

    def __init__(self, slots: Sequence[Any], tokens: Sequence[Token], *, most: int) -> None:
        self._slots = slots
        self._tokens = tokens
        self._most = most
        self._known: dict[tuple[int, int], int | None] = {}

    def nearest(self, number: int, at: int) -> int | None:
        """Give the nearest end of the phrase when its slots from `number` on must follow at token `at`."""
        if number == len(self._slots):
            return at
        key = number, at
        if key not in self._known:
            self._known[key] = min(self._ends(number, at), default=None)
        return self._known[key]

    def _ends(self, number: int, at: int) -> Iterator[int]:
        gap, singles, longer, optional = self._slots[number]
        for place in _reachable(self._tokens, at, MOST_GAP if gap else self._most, any_word=bool(gap)):
            for following in _ends_of(singles, longer, self._tokens, place):
                end = self.nearest(number + 1, following)
                if end is not None:
                    yield end
        without = self.nearest(number + 1, at) if optional else None
        if without is not None:
            yield without


def _starts(slot: Any, words: Words) -> Iterator[tuple[int, int]]:
    _, singles, longer, _ = slot
    found = [(at, at + 1) for word in singles for at in words.places.get(word, ())]
    for option in longer:
        for word in option[0]:
            places = words.places.get(word, ())
            found += [(at, end) for at in places if (end := _sequence(option, words.tokens, at)) > 0]
    yield from sorted(found)


def _reachable(tokens: Sequence[Token], at: int, most: int, *, any_word: bool) -> Iterator[int]:
    """Give the places where the next word may stand: here, or after a few words that may be passed over."""
    for place in range(at, min(at + most + 1, len(tokens))):
        yield place
        word = tokens[place][0]
        if word == BREAK or not (any_word or word in BETWEEN):
            return


def _ends_of(singles: Sequence[str], longer: Sequence[Any], tokens: Sequence[Token], at: int) -> Iterator[int]:
    if tokens[at][0] in singles:
        yield at + 1
    for option in longer:
        end = _sequence(option, tokens, at)
        if end > 0:
            yield end


def _sequence(option: Sequence[Sequence[str]], tokens: Sequence[Token], at: int) -> int:
    """Give the place after a longer alternative that begins at `at`, or -1; one small word may come between."""
    for number, alike in enumerate(option):
        if number and at < len(tokens) and tokens[at][0] in BETWEEN and tokens[at][0] not in alike:
            at += 1
        if at >= len(tokens) or tokens[at][0] not in alike:
            return -1
        at += 1
    return at
