"""Which `meaning` rows of the gate have their words in one sentence, or before an act on what a pronoun points back to.

The gate finds words anywhere in a long segment, and the act and the thing of some exemplar stand in half of all that is
said. Refuses nothing that deia.watch.meaning would look at: its windows lie within what is looked at here.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.text import words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from deia.watch.artefact import Artefact

BACK = 200  # characters before a sentence with a pronoun, from which what it stands for may come
POINTERS = frozenset(("it", "them", "that", "this", "these", "those"))  # as deia.watch.meaning has them
STOPS = (". ", "! ", "? ", "; ")


def said_together(artefact: Artefact, text: str, rows: Collection[int], said: int) -> set[int]:
    """Give what some rows lead to whose groups, but for `said`, are all in one sentence of a text."""
    wanted = {number: artefact.row(number)[2] - {said} for number in rows}
    found: set[int] = set()
    for present in _together(text):
        groups = {group for word in present for group in artefact.groups_of(word)}
        reached = [number for number, needed in wanted.items() if needed <= groups]
        found.update(artefact.row(number)[0] for number in reached)
        for number in reached:
            del wanted[number]
        if not wanted:
            break
    return found


def _together(text: str) -> Iterator[set[str]]:
    """Give the words of each sentence, and with a pronoun those before it."""
    for stop in STOPS:
        text = text.replace(stop, "\n ")  # of the same length, so that places stay
    at = 0
    for piece in text.split("\n"):
        present = set(words(piece))
        if not POINTERS.isdisjoint(present):
            present.update(words(text[max(at - BACK, 0) : at]))
        at += len(piece) + 1
        if present:
            yield present
