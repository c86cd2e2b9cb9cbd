"""Which exemplars of a `meaning` clause have their words in a turn at all: asked before anything dear is loaded.

Refuses to look at where the words stand, which is for deia.watch.clauses.similarity.
"""

from __future__ import annotations

from deia.fast_json import loads
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def meaning_of(clause: Any) -> Any:
    """Give what a compiled `meaning` clause looks for; it is read when first asked for, most candidates never are."""
    if isinstance(clause["v"], str):
        clause["v"] = loads(clause["v"])
    return clause["v"]


def worded(value: Any, present: Mapping[str, Any]) -> list[int]:
    """Give the numbers of the exemplars of a compiled clause whose words are in a turn, wherever they stand in it.

    Cheap beside what they cost afterwards: nothing is built for the others.
    """
    known, texts = present.keys(), value["g"]
    held: dict[int, bool] = {}
    found = []
    for number, (_, _, least, weights, groups) in enumerate(value["e"]):
        total = 0
        for weight, group in zip(weights, groups, strict=True):
            if group not in held:
                held[group] = not known.isdisjoint(texts[group].replace("|", " ").replace("=", " ").split())
            if held[group]:
                total += weight
            elif group == groups[0]:  # the act
                break
        else:
            found += [number] if total >= least else []
    return found
