"""The second gate for acts and commands: keep the rows whose words are in one sentence or one line.

The first gate finds words anywhere in a long segment, and `git` and `commit`, or the words of some exemplar, occur in
half of all messages. This gate never drops a row that could fire: the text that a pronoun may refer to counts with its
sentence, and if a text has code blocks, words anywhere in it count.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.text import words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from deia.watch.gate.artefact import Artefact

BACK = 200  # characters before a sentence with a pronoun, in which its antecedent may be
POINTERS = frozenset(("it", "them", "that", "this", "these", "those"))  # to what was named before
STOPS = (". ", "! ", "? ", "; ")
FENCES = ("```", "~~~")


def said_together(
    artefact: Artefact, text: str, rows: Collection[int], *, near: int, always: Collection[str]
) -> set[int]:
    """Return the rows whose words are all in one sentence of a text, or in one line, as each row requires.

    Rows with the flag `near` require one sentence. The words `always` count as present everywhere.
    """
    present = {group for word in always for group in artefact.groups_of(word)}
    by_sentence = {number for number in rows if artefact.row(number)[1] & near}
    by_line = set(rows) - by_sentence
    if by_line and any(fence in text for fence in FENCES):  # a command in a code block may span lines
        kept, by_line = by_line, set()
    else:
        kept = _complete(artefact, by_line, map(words, text.split("\n")), present)
    return kept | _complete(artefact, by_sentence, _sentences(text), present)


def _complete(
    artefact: Artefact, rows: Collection[int], pieces: Iterable[Iterable[str]], present: Collection[bytes]
) -> set[int]:
    """Return the rows of which one piece, besides the groups `present`, has all groups."""
    missing = {number: artefact.row(number)[2].difference(present) for number in rows}
    kept: set[int] = set()
    for piece in pieces if missing else ():
        groups = {group for word in piece for group in artefact.groups_of(word)}
        complete = [number for number, needed in missing.items() if needed <= groups]
        kept.update(complete)
        for number in complete:
            del missing[number]
        if not missing:
            break
    return kept


def _sentences(text: str) -> Iterator[set[str]]:
    """Yield the words of each sentence; if it has a pronoun, with the words shortly before it."""
    for stop in STOPS:
        text = text.replace(stop, "\n ")  # of the same length, so that positions stay valid
    at = 0
    for piece in text.split("\n"):
        present = set(words(piece))
        if not POINTERS.isdisjoint(present):
            present.update(words(text[max(at - BACK, 0) : at]))
        at += len(piece) + 1
        if present:
            yield present
