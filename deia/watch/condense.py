"""A turn too long to be read whole → the places in it that opened the gate, with some text around each.

Reading costs about a microsecond a character and the gate a thirtieth of that, so a megabyte is gated whole and read in
part. Refuses to guess about what lies between: pieces are kept apart by blank lines, and a fence stays open or closed.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.text import words
from deia.watch.gate import OVERLAP, SEGMENT, WHO, groups_present, segments

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from deia.records import Turn
    from deia.watch.artefact import Artefact

MOST_READ = 30_000  # characters of a turn; of longer turns so many are read around the places that count
MARGIN = 400  # characters on either side, since stance is told from the sentence
FENCE = "\n```"


def condensed(artefact: Artefact, turn: Turn, numbers: Collection[int]) -> Turn:
    """Give a turn as it is, or, if it is too long, what stands around the words that these triggers need.

    A trigger that no word gates sees the beginning of what there is room for.
    """
    if len(turn.text) <= MOST_READ or turn.role == "tool_call":
        return turn
    pieces = []
    at, fenced, room = 0, turn.text.startswith(FENCE[1:]), MOST_READ
    for first, last in _merged(_places(artefact, turn, frozenset(numbers))):
        if room <= 0:
            break
        fenced ^= turn.text.count(FENCE, at, first) % 2 == 1
        piece = turn.text[first : min(last, first + room)]
        pieces.append(_fenced(piece) if fenced else piece)
        at, room = first, room - len(piece)
    return turn.but(text="\n\n".join(pieces))


def _fenced(piece: str) -> str:
    """Give a piece that begins inside a block of code as such a piece."""
    return f"{FENCE[1:]}\n{piece}" if piece.count(FENCE) % 2 else f"{FENCE[1:]}\n{piece}{FENCE}"


def _places(artefact: Artefact, turn: Turn, numbers: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Give where the words of these triggers stand, with a margin."""
    bit = WHO[turn.role]
    everywhere = any(target in numbers for target, _ in artefact.meta["ungated"])
    rows = map(artefact.row, artefact.meta["wide"])
    wide = {group for target, _, wanted in rows if target in numbers for group in wanted}
    for number, segment in enumerate(segments(turn.text)):
        found: set[int] = set()
        groups = groups_present(artefact, set(words(segment)), bit, found)
        if everywhere or found & numbers or groups & wide:
            at = number * (SEGMENT - OVERLAP)
            yield max(at - MARGIN, 0), at + len(segment) + MARGIN


def _merged(places: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join places that touch."""
    first = last = -1
    for begin, end in places:
        if begin > last:
            if last > 0:
                yield first, last
            first = begin
        last = end
    if last > 0:
        yield first, last
