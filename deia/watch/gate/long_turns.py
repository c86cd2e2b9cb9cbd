"""A turn too long to be read whole → the places in it that opened the gate, with some text around each.

Reading costs about a microsecond a character and the gate a thirtieth of that, so a megabyte is gated whole and read in
part. Refuses to guess about what lies between: pieces are kept apart by blank lines, and a fence stays open or closed.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.text import words
from deia.watch.gate.word_gate import A_LINE, SAID, WHO, groups_present
from deia.watch.turn.parsed_turn import MOST_READ
from deia.watch.turn.tool_call import OVERLAP, SEGMENT, bounded, segments

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from deia.records import Turn
    from deia.watch.gate.artefact import Artefact

MARGIN = 400  # characters on either side, since stance is told from the sentence
FENCE = "\n```"


def condensed(artefact: Artefact, turn: Turn, numbers: Collection[int]) -> Turn:
    """Give a turn as it is, or, if it is too long, what stands around the words that these triggers need.

    Of the places of each trigger the first and the last are read, as many as there is room for, so that one trigger's
    words all over a log do not hide another's.
    """
    if len(turn.text) <= MOST_READ or turn.role == "tool_call":
        return turn
    turn = bounded(turn)
    places = _places(artefact, turn, frozenset(numbers))
    most = max(MOST_READ // (2 * (SEGMENT + 2 * MARGIN) * max(len(places), 1)), 1)
    read = sorted({place for found in places for place in (*found[:most], *found[-most:])})
    return turn.but(text="\n\n".join(_pieces(turn.text, _merged(read))))


def _places(artefact: Artefact, turn: Turn, numbers: frozenset[int]) -> list[list[int]]:
    """Give, for each trigger, the segments that hold its words; for each of its words, where they may lie apart."""
    bit = WHO[turn.role]
    ungated = [target for target, _ in artefact.meta["ungated"] if target in numbers]
    apart: set[int] = set()
    by_trigger: dict[int, list[int]] = {}
    by_group: dict[bytes, list[int]] = {}
    for number, segment in enumerate(segments(turn.text)):
        found: dict[int, set[int]] = {target: set() for target in ungated}
        groups = groups_present(artefact, {*words(segment), SAID, A_LINE}, bit, found, apart=apart)
        for target in found.keys() & numbers:
            by_trigger.setdefault(target, []).append(number)
        for group in groups:
            by_group.setdefault(group, []).append(number)
    rows = map(artefact.row, apart)
    wide = {group for target, _, wanted in rows if target in numbers for group in wanted}
    return [*by_trigger.values(), *(by_group[group] for group in sorted(wide & by_group.keys()))]


def _merged(places: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Give where the segments stand with their margins, those that touch as one."""
    first, last = 0, -1
    for number in places:
        at = number * (SEGMENT - OVERLAP)
        if at - MARGIN > last:
            if last > 0:
                yield first, last
            first = max(at - MARGIN, 0)
        last = at + SEGMENT + MARGIN
    if last > 0:
        yield first, last


def _pieces(text: str, places: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Cut a text into these pieces; one that begins inside a block of code is such a block."""
    at, fenced = 0, text.startswith(FENCE[1:])
    for first, last in places:
        fenced ^= text.count(FENCE, at, first) % 2 == 1
        at = first
        piece = text[first:last]
        open_at_end = fenced ^ (piece.count(FENCE) % 2 == 1)
        yield (FENCE[1:] + "\n" if fenced else "") + piece + (FENCE if open_at_end else "")
