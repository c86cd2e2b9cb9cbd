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


def circle_of(ident: str, successors: Mapping[str, str]) -> tuple[str, ...]:
    """Return the documents that replace one another in turn, from this one on; empty if that does not come back."""
    passed = {ident: ""}
    following = successors.get(ident, "")
    while following and following not in passed:
        passed[following] = ""
        following = successors.get(following, "")
    return tuple(passed) if following == ident else ()


def with_real_successors(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries, of which none is superseded by a document that does not exist or by itself in the end."""
    known, successors = {entry.id for entry in entries}, successors_of(entries)

    def is_real(entry: Entry) -> bool:
        return entry.superseded_by in known and not circle_of(entry.id, successors)

    return [entry.but(superseded_by="") if entry.superseded_by and not is_real(entry) else entry for entry in entries]
