"""Which rows of the gate have their words close enough: in one sentence for `meaning`, in one line for a command.

The gate finds words anywhere in a long segment, and the act and the thing of some exemplar, or `git` and `commit`,
stand in half of all that is said. Refuses nothing that would be looked at: what a pronoun points back to counts with
its sentence, and blocks of code count whole.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.text import words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from deia.watch.gate.artefact import Artefact

BACK = 200  # characters before a sentence with a pronoun, from which what it stands for may come
POINTERS = frozenset(("it", "them", "that", "this", "these", "those"))  # as deia.watch.clauses.similarity has them
STOPS = (". ", "! ", "? ", "; ")
FENCES = ("```", "~~~")


def said_together(
    artefact: Artefact, text: str, rows: Collection[int], *, near: int, always: Collection[str]
) -> set[int]:
    """Give those of some rows whose words are all in one sentence of a text, or in one line, as each row asks.

    `near` is the flag of rows that want one sentence; the words `always` are there anyway.
    """
    held = {group for word in always for group in artefact.groups_of(word)}
    by_sentence = {number for number in rows if artefact.row(number)[1] & near}
    by_line = set(rows) - by_sentence
    if by_line and any(fence in text for fence in FENCES):  # a command in a block of code may go over lines
        found, by_line = by_line, set()
    else:
        found = _reached(artefact, by_line, map(words, text.split("\n")), held)
    return found | _reached(artefact, by_sentence, _sentences(text), held)


def _reached(
    artefact: Artefact, rows: Collection[int], pieces: Iterable[Iterable[str]], held: Collection[bytes]
) -> set[int]:
    wanted = {number: artefact.row(number)[2].difference(held) for number in rows}
    found: set[int] = set()
    for present in pieces if wanted else ():
        groups = {group for word in present for group in artefact.groups_of(word)}
        reached = [number for number, needed in wanted.items() if needed <= groups]
        found.update(reached)
        for number in reached:
            del wanted[number]
        if not wanted:
            break
    return found


def _sentences(text: str) -> Iterator[set[str]]:
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
