"""Long turns: reduce one to the places that opened the gate, with some text around each.

Parsing costs about a microsecond a character and the gate a thirtieth of that, so a megabyte passes the gate whole and
is parsed in part. Blank lines separate the parts, and each part knows whether it begins inside a code block.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING, Turn
from deia.text import words
from deia.watch.gate.word_gate import A_LINE, SAID, WHO, groups_present
from deia.watch.turn.parsed_turn import MOST_READ
from deia.watch.turn.tool_call import OVERLAP, SEGMENT, bounded, segments

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from deia.watch.gate.artefact import Artefact

MARGIN = 400  # characters on either side, because stance depends on the whole sentence
FENCE = "\n```"


def condensed(artefact: Artefact, turn: Turn, numbers: Collection[int]) -> Turn:
    """Return a turn unchanged, or, if it is too long, only the text around the words that these triggers need.

    Each trigger keeps its first and its last places, as many as there is room for, so that a trigger whose words are
    all over a log does not hide the others.
    """
    if len(turn.text) <= MOST_READ or turn.role == "tool_call":
        return turn
    turn = bounded(turn)
    places = _places(artefact, turn, frozenset(numbers))
    most = max(MOST_READ // (2 * (SEGMENT + 2 * MARGIN) * max(len(places), 1)), 1)
    kept = sorted({number for numbers in places for number in (*numbers[:most], *numbers[-most:])})
    return turn.but(text="\n\n".join(_pieces(turn.text, _merged(kept))))


def _places(artefact: Artefact, turn: Turn, numbers: frozenset[int]) -> list[list[int]]:
    """Return, for each trigger, the numbers of the segments with its words; if they may be far apart, for each word."""
    bit = WHO[turn.role]
    ungated = [target for target, _ in artefact.meta.ungated if target in numbers]
    apart: set[int] = set()
    by_trigger: dict[int, list[int]] = {}
    by_group: dict[bytes, list[int]] = {}
    for number, segment in enumerate(segments(turn.text)):
        matched: dict[int, set[int]] = {target: set() for target in ungated}
        groups = groups_present(artefact, {*words(segment), SAID, A_LINE}, bit, matched, apart=apart)
        for target in matched.keys() & numbers:
            by_trigger.setdefault(target, []).append(number)
        for group in groups:
            by_group.setdefault(group, []).append(number)
    rows = map(artefact.row, apart)
    wide = {group for target, _, wanted in rows if target in numbers for group in wanted}
    return [*by_trigger.values(), *(by_group[group] for group in sorted(wide & by_group.keys()))]


def _merged(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of these segments with their margins; those that overlap are merged."""
    first, last = 0, -1
    for number in numbers:
        at = number * (SEGMENT - OVERLAP)
        if at - MARGIN > last:
            if last > 0:
                yield first, last
            first = max(at - MARGIN, 0)
        last = at + SEGMENT + MARGIN
    if last > 0:
        yield first, last


def _pieces(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Yield these spans of a text; one that begins or ends inside a code block gets a fence there."""
    at, fenced = 0, text.startswith(FENCE[1:])
    for first, last in spans:
        fenced ^= text.count(FENCE, at, first) % 2 == 1
        at = first
        piece = text[first:last]
        open_at_end = fenced ^ (piece.count(FENCE) % 2 == 1)
        yield (FENCE[1:] + "\n" if fenced else "") + piece + (FENCE if open_at_end else "")
