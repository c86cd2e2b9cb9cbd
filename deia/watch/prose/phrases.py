"""Find a trigger's phrase in the words of a turn: slots in order, with bounded gaps, in linear time."""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.watch.prose.languages import SMALL
from deia.watch.prose.regions import BREAK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Token = tuple[str, int, int]  # word, start, end
    Option = Sequence[Sequence[str]]  # a longer alternative: for each word, the forms that it may have
    Slot = tuple[int, Sequence[str], Sequence[Option], int]  # gap, single words, longer alternatives, optional

MOST_GAP = 8  # words in a gap
MOST_BETWEEN = 3  # small words between neighbouring slots
BETWEEN = frozenset(
    "the a an this that these those my our your its his her their it them all any some of to up in on s whole entire"
    " current existing old new same just also then please".split()
).union(SMALL)


class Words:
    """The words of a text, and the positions of each; built once a turn and used for every phrase."""

    __slots__ = ("places", "tokens")

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.places: dict[str, list[int]] = {}
        for at, token in enumerate(tokens):
            self.places.setdefault(token[0], []).append(at)


def find_phrase(slots: Sequence[Slot], words: Words, *, strict: bool = False) -> Iterator[tuple[int, int]]:
    """Yield where a compiled phrase occurs, as the index of its first token and of the one after its last.

    A slot is `[gap, single words, longer alternatives, optional]`, as the compiler writes it. With `strict`, no small
    words may stand between the slots.
    """
    ends = _Ends(slots, words.tokens, most=0 if strict else MOST_BETWEEN)
    for start, after in _starts(slots[0], words):
        end = ends.nearest(1, after)
        if end is not None:
            yield start, end


class _Ends:
    """The nearest end of a phrase from each slot and token on. Each is worked out once, so the time stays linear."""

    __slots__ = ("_known", "_most", "_slots", "_tokens")

    def __init__(self, slots: Sequence[Slot], tokens: Sequence[Token], *, most: int) -> None:
        self._slots = slots
        self._tokens = tokens
        self._most = most
        self._known: dict[tuple[int, int], int | None] = {}

    def nearest(self, number: int, at: int) -> int | None:
        """Return the nearest end of the phrase if its slots from `number` on begin at token `at`, or None."""
        if number == len(self._slots):
            return at
        key = number, at
        if key not in self._known:
            self._known[key] = min(self._ends(number, at), default=None)
        return self._known[key]

    def _ends(self, number: int, at: int) -> Iterator[int]:
        """Yield the ends of the phrase if its slots from `number` on begin at token `at`."""
        gap, singles, longer, optional = self._slots[number]
        for position in _reachable(self._tokens, at, MOST_GAP if gap else self._most, any_word=bool(gap)):
            for following in _ends_of(singles, longer, self._tokens, position):
                end = self.nearest(number + 1, following)
                if end is not None:
                    yield end
        skipped = self.nearest(number + 1, at) if optional else None
        if skipped is not None:
            yield skipped


def _starts(slot: Slot, words: Words) -> Iterator[tuple[int, int]]:
    """Yield where the first slot occurs, as the index of its first token and of the one after its last, in order."""
    _, singles, longer, _ = slot
    starts = [(at, at + 1) for word in singles for at in words.places.get(word, ())]
    for option in longer:
        for word in option[0]:
            places = words.places.get(word, ())
            starts += [(at, end) for at in places if (end := _sequence(option, words.tokens, at)) > 0]
    yield from sorted(starts)


def _reachable(tokens: Sequence[Token], at: int, most: int, *, any_word: bool) -> Iterator[int]:
    """Yield the positions of the next word: here, or after a few words that may be skipped."""
    for place in range(at, min(at + most + 1, len(tokens))):
        yield place
        word = tokens[place][0]
        if word == BREAK or not (any_word or word in BETWEEN):
            return


def _ends_of(singles: Sequence[str], longer: Sequence[Option], tokens: Sequence[Token], at: int) -> Iterator[int]:
    """Yield the indexes after each alternative of a slot that begins at `at`."""
    if tokens[at][0] in singles:
        yield at + 1
    for option in longer:
        end = _sequence(option, tokens, at)
        if end > 0:
            yield end


def _sequence(option: Option, tokens: Sequence[Token], at: int) -> int:
    """Return the index after a longer alternative that begins at `at`, or -1; one small word may stand between."""
    for position, forms in enumerate(option):
        if position and at < len(tokens) and tokens[at][0] in BETWEEN and tokens[at][0] not in forms:
            at += 1
        if at >= len(tokens) or tokens[at][0] not in forms:
            return -1
        at += 1
    return at
