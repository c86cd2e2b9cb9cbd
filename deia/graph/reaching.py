"""From a path that an import gives to what has it: exactly, through other names, or not at all.

Such a path is one within a source (`shop:web/cart.Cart`), what a manifest calls a place (`go/example.org/shop/cart`),
or `shop:*/cart.h`, the end of a path.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from deia.graph.facts import MODULE, PACKAGE
from deia.graph.resolving import NAMED, SURE, Missing

if TYPE_CHECKING:
    from deia.graph.resolving import Names

PATHS = ("IMPORTS", "LINKS_TO")  # relations whose targets lead exactly where they say, if they are paths
DEEPEST = 6  # names that stand for names that stand for names
CRATE = re.compile(r"[:/]crate\.")
MOST_PARTS = 20
MOST_SAME = 3  # things that the end of a path may mean


def reach(names: Names, target: str) -> list[tuple[int | Missing, int]]:
    """Return what a path leads to, with the index of its certainty; of a crate, failing that, the module around it."""
    if target.startswith("go/"):  # a package of Go is a folder: what is in it need not be known
        others = names.aliases(target) or next(filter(None, _elsewhere(names, target)), [])
        return [(Missing(PACKAGE, name), SURE) for name in others[:1]]
    found = sorted(_reached(names, target, DEEPEST))
    return [(each, SURE if len(found) == 1 else NAMED) for each in found] if len(found) <= MOST_SAME else []


def _reached(names: Names, target: str, depth: int) -> set[int]:
    if found := names.exactly(target):
        return {found[0][0]}
    others = names.aliases(target) or next(filter(None, _elsewhere(names, target)), [])
    if others and depth:
        return {each for name in others if name != target for each in _reached(names, name, depth - 1)}
    above = target.rpartition(".")[0] if CRATE.search(target) else ""
    return {row[0] for row in names.exactly(above)[:1] if row[2] == MODULE}


def _elsewhere(names: Names, target: str) -> list[list[str]]:
    """Return what the name may be where a beginning of it stands for something else, the longest beginning first."""
    ends = [place for place, sign in enumerate(target) if sign in "./"][-MOST_PARTS:]
    return [[_path(other + target[end:]) for other in names.aliases(target[:end])] for end in reversed(ends)]


def _path(name: str) -> str:
    return name.replace(":./", ":", 1).removeprefix("./")
