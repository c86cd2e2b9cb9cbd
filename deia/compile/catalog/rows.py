"""A passage as a row of the keyword index: its words with those of its document's description, and what filters ask.

It refuses to decide what a passage is: it is given one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import tantivy

from deia.compile.catalog.document_store import Volume
from deia.knowledge import Entry
from deia.match.keyword import DATES, LONGEST_KEY, TEXT, TITLE, filter_key
from deia.match.tokeniser import terms
from deia.search.question.dates import day_number

# How often a field's words are counted. A title is worth three mentions (measured against one: +.005 nDCG@10 on three
# sets, and no clear gain beyond); what an author chose as keywords and tags, two.
REPEATS = (("title", 3), ("keywords", 2), ("tags", 2), ("summary", 1), ("platforms", 1), ("category", 1), ("id", 1))
MOST_KEYS = 50_000


class _Keys(dict[str, str]):
    """Filters' values in their one spelling, remembered: a commons has few, and each is in many rows."""

    def __missing__(self, value: str) -> str:
        if len(self) >= MOST_KEYS:
            self.clear()
        plain = value.isascii() and len(value) <= LONGEST_KEY  # as nearly every path, and folded ten times as fast
        self[value] = made = " ".join(value.lower().split()) if plain else filter_key(value)
        return made


_KEYS = _Keys()


def about(entry: Entry) -> list[str]:
    """Give the terms of a document's metadata, as often as they count."""
    found: list[str] = []
    for name, repeats in REPEATS:
        value = getattr(entry, name)
        if not value:
            continue
        found += terms(value if isinstance(value, str) else " | ".join(value)) * repeats
    return found


def rows_of(volume: Volume, number: int, texts: Sequence[str], title: str) -> Iterator[tantivy.Document]:
    """Yield the row of every passage, with their texts and their document's title as the index is to hold them."""
    entry = volume.entry
    named = [("id", entry.id), (TITLE, title)]
    for name, values in _filters(volume).items():
        if values:
            named += [(name, value) for value in dict.fromkeys(map(_KEYS.__getitem__, values))]
    counted = [("document", number)]
    dates = [(name, value) for name in DATES if (value := getattr(entry, name))]
    counted += [(name, day) for name, value in dates if (day := day_number(value))]
    for ordinal, text in enumerate(texts):
        row = tantivy.Document()
        row.add_text(TEXT, text)
        row.add_unsigned("ordinal", ordinal)
        for name, value in named:
            row.add_text(name, value)
        for name, day in counted:
            row.add_unsigned(name, day)
        yield row


def _filters(volume: Volume) -> dict[str, Sequence[str]]:
    entry = volume.entry
    return {
        "platform": entry.platforms,
        "audience": entry.audience,
        "urgency": [entry.urgency] if entry.urgency else [],
        "cluster": entry.clusters,
        "tag": entry.tags,
        "type": volume.types,
        "path": _places(entry.path),
    }


def _places(path: str) -> list[str]:
    """Give what a path can be asked by: itself, the folders that it is in, and the file's name."""
    parts = path.split("/")
    return [*("/".join(parts[:end]) for end in range(1, len(parts) + 1)), parts[-1]]
