"""Other words for what was asked, from the concepts that the catalog holds, weaker than what was typed.

A word that the commons uses is never replaced, only joined by others; one that it never uses is. Words of several
parts are found as such. It refuses to follow other words to further ones.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deia.search.catalog import Catalog

MOST_WORDS = 4  # of a name
MOST_CHARACTERS = 2_000  # of a question; a pasted text names its things in full
ADDED = 0.3  # of the weight of a word that was typed
MOST_OTHERS = 3  # for one word


def instead(stem: str, catalog: Catalog) -> str:
    """Give the word that the commons uses for a thing in place of this one: the most frequent, or nothing."""
    known = [(_frequency(stems, catalog), word) for word, stems in catalog.concepts(stem)]
    return max(known, default=(0, ""))[1] if any(count for count, _ in known) else ""


def others(stems: Sequence[str], catalog: Catalog) -> dict[str, dict[str, str]]:
    """Give other words for what a question says: for each of its stems or runs of stems, words with their stems."""
    found: dict[str, dict[str, str]] = {}
    asked = " ".join(stems)
    for size in range(min(MOST_WORDS, len(stems)), 0, -1):
        for at in range(len(stems) - size + 1):
            run = " ".join(stems[at : at + size])
            if run in found:
                continue
            near = {
                word: other
                for word, other in catalog.concepts(run)
                if f" {other} " not in f" {asked} " and _frequency(other, catalog)
            }
            if near:
                found[run] = dict(sorted(near.items(), key=lambda pair: -_frequency(pair[1], catalog))[:MOST_OTHERS])
    return found


def _frequency(stems: str, catalog: Catalog) -> int:
    """Count the passages that hold the rarest of some stems: none, where one is unknown."""
    return min((catalog.keyword.frequency(stem) for stem in stems.split()), default=0)


def told(found: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Say which other words were looked for."""
    return list(dict.fromkeys(word for words in found.values() for word in words))
