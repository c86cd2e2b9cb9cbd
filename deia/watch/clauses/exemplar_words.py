"""Find the exemplars of a `meaning` clause whose words are in a turn, before the word vectors are loaded.

The positions of the words do not matter here; `deia.watch.clauses.similarity` looks at those.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deia.watch.compiled_trigger import Meaning


def worded(meaning: Meaning, places: Mapping[str, object]) -> list[int]:
    """Return the numbers of the exemplars whose words are in a turn, given the places of its words."""
    words, texts = places.keys(), meaning.groups
    present: dict[int, bool] = {}  # by group
    numbers = []
    for number, (_, _, least, weights, groups) in enumerate(meaning.exemplars):
        total = 0
        for weight, group in zip(weights, groups, strict=True):
            if group not in present:
                present[group] = not words.isdisjoint(texts[group].replace("|", " ").replace("=", " ").split())
            if present[group]:
                total += weight
            elif group == groups[0]:  # the act
                break
        else:
            numbers += [number] if total >= least else []
    return numbers
