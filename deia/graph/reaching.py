"""Find the entities at the path that an import names: exactly, through aliases, or not at all.

Such a path is one within a source (`shop:web/cart.Cart`), one from a manifest (`go/example.org/shop/cart`), or the end
of a path (`shop:*/cart.h`).
"""

from __future__ import annotations

import re

from deia.graph.facts import MODULE, PACKAGE
from deia.graph.resolving import NAMED, SURE, Missing, Names

PATHS = ("IMPORTS", "LINKS_TO")  # relations whose targets, if they are paths, are meant exactly
DEEPEST = 6  # aliases of aliases that are followed
CRATE = re.compile(r"[:/]crate\.")
MOST_PARTS = 20
MOST_SAME = 3  # entities that the end of a path may mean


def reach(names: Names, target: str) -> list[tuple[int | Missing, int]]:
    """Return what a path leads to, with the index of its certainty; in a crate, failing that, the module around it."""
    if target.startswith("go/"):  # a Go package is a folder, whose contents need not be known
        others = names.aliases(target) or next(filter(None, _elsewhere(names, target)), [])
        return [(Missing(PACKAGE, name), SURE) for name in others[:1]]
    entities = sorted(_reached(names, target, DEEPEST))
    return (
        [(entity, SURE if len(entities) == 1 else NAMED) for entity in entities] if len(entities) <= MOST_SAME else []
    )


def _reached(names: Names, target: str, depth: int) -> set[int]:
    if rows := names.exactly(target):
        return {rows[0][0]}
    others = names.aliases(target) or next(filter(None, _elsewhere(names, target)), [])
    if others and depth:
        return {entity for name in others if name != target for entity in _reached(names, name, depth - 1)}
    above = target.rpartition(".")[0] if CRATE.search(target) else ""
    return {row[0] for row in names.exactly(above)[:1] if row[2] == MODULE}


def _elsewhere(names: Names, target: str) -> list[list[str]]:
    """Return the names that result from replacing a beginning that is an alias, the longest beginning first."""
    ends = [place for place, sign in enumerate(target) if sign in "./"][-MOST_PARTS:]
    return [[_path(other + target[end:]) for other in names.aliases(target[:end])] for end in reversed(ends)]


def _path(name: str) -> str:
    return name.replace(":./", ":", 1).removeprefix("./")
