"""Synonyms for the words of a query, from the concepts in the catalog; they weigh less than what was typed.

A word that the commons uses gets synonyms beside it; a word that it never uses is replaced. Names of several words are
found as a whole. Synonyms of synonyms are not followed.
"""

from __future__ import annotations

from collections.abc import Sequence

from deia.search.catalog import Catalog

MOST_WORDS = 4  # of a name
MOST_CHARACTERS = 2_000  # of a query; a longer, pasted text needs no synonyms
SYNONYM_WEIGHT = 0.3  # relative to a typed word
MOST_SYNONYMS = 3  # per word


def replacement(stem: str, catalog: Catalog) -> str:
    """Return the commons' most frequent word for the same thing, or ""."""
    candidates = [(_frequency(stems, catalog), word) for word, stems in catalog.concepts(stem)]
    return max(candidates, default=(0, ""))[1] if any(count for count, _ in candidates) else ""


def synonyms(stems: Sequence[str], catalog: Catalog) -> dict[str, dict[str, str]]:
    """Return synonyms for each stem or run of stems in a query, each synonym with its own stems."""
    by_run: dict[str, dict[str, str]] = {}
    query = " ".join(stems)
    for size in range(min(MOST_WORDS, len(stems)), 0, -1):
        for at in range(len(stems) - size + 1):
            run = " ".join(stems[at : at + size])
            if run in by_run:
                continue
            words = {
                word: word_stems
                for word, word_stems in catalog.concepts(run)
                if f" {word_stems} " not in f" {query} " and _frequency(word_stems, catalog)
            }
            if words:
                by_run[run] = dict(
                    sorted(words.items(), key=lambda pair: -_frequency(pair[1], catalog))[:MOST_SYNONYMS]
                )
    return by_run


def _frequency(stems: str, catalog: Catalog) -> int:
    """Return the number of passages that contain the rarest of some stems; 0 if one is unknown."""
    return min((catalog.keyword.frequency(stem) for stem in stems.split()), default=0)
