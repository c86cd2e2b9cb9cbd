"""Which document takes the place of another.

A successor that does not exist, or one that is in the end replaced by what it replaces, is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from deia.knowledge import Entry


def successors_of(entries: Iterable[Entry]) -> dict[str, str]:
    """Return the id that each superseded document names, by its own; of entries that share an id, the first counts."""
    named: dict[str, str] = {}
    for entry in entries:
        named.setdefault(entry.id, entry.superseded_by)
    return {ident: successor for ident, successor in named.items() if successor}


def circles_of(successors: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return the circles of documents that replace one another in turn, each from its first document by name."""
    circles = []
    seen: set[str] = set()
    for start in successors:
        passed: dict[str, int] = {}  # in order, with their places
        ident = start
        while ident in successors and ident not in seen and ident not in passed:
            passed[ident] = len(passed)
            ident = successors[ident]
        seen.update(passed)
        if ident in passed:
            circle = [*passed][passed[ident] :]
            first = circle.index(min(circle))
            circles.append((*circle[first:], *circle[:first]))
    return circles


def with_real_successors(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries, of which none is superseded by a document that does not exist or by itself in the end."""
    known = {entry.id for entry in entries}
    in_circles = {ident for circle in circles_of(successors_of(entries)) for ident in circle}

    def is_real(entry: Entry) -> bool:
        return entry.superseded_by in known and entry.id not in in_circles

    return [entry.but(superseded_by="") if entry.superseded_by and not is_real(entry) else entry for entry in entries]
