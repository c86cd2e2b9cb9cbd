"""From the name that a reference gives to the entities that it leads to, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from deia.graph.facts import BY_NAME, CERTAINTIES, RESOLVED

if TYPE_CHECKING:
    from deia.graph.graph_store import Names

SURE, NAMED = CERTAINTIES.index(RESOLVED), CERTAINTIES.index(BY_NAME)


class Missing(NamedTuple):
    """A shared entity that a reference leads to although nothing declares it, such as a package from elsewhere."""

    type: str
    name: str


def last_part(name: str) -> str:
    """Return the last part of a qualified name, folded: `raw_decode` of json.decoder.JSONDecoder.raw_decode."""
    return name.rpartition(".")[2].casefold() or name.casefold()


def resolve(names: Names, _document: int, kind: str, target: str) -> list[tuple[int | Missing, int]]:
    """Return what a reference leads to, each with the index of the certainty that it has at most."""
    found = names.exactly(target)
    if found:
        return [(row[0], SURE) for row in found[:1]]
    for name in names.aliases(target):
        return resolve(names, _document, kind, name)
    same = names.ending(last_part(target))
    return [(same[0][0], NAMED)] if len(same) == 1 else []
