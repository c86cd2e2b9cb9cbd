"""A passage as a row of the keyword index: its words with those of its document's description, and what filters ask.

It refuses to decide what a passage is: it is given one.
"""

from __future__ import annotations

import tantivy

from deia.match.keyword import DATES, TEXT, TITLE, filter_key
from deia.match.terms import terms
from deia.records import TYPE_CHECKING
from deia.search.dates import day_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deia.compile.shelf import Volume
    from deia.knowledge import Chunk, Entry

# How often a field's words are counted. A title is worth three mentions (measured against one: +.005 nDCG@10 on three
# sets, and no clear gain beyond); what an author chose as keywords and tags, two.
REPEATS = (("title", 3), ("keywords", 2), ("tags", 2), ("summary", 1), ("platforms", 1), ("category", 1), ("id", 1))
MOST_KEYS = 50_000


class _Keys(dict[str, str]):
    """Filters' values in their one spelling, remembered: a commons has few, and each is in many rows."""

    def __missing__(self, value: str) -> str:
        if len(self) >= MOST_KEYS:
            self.clear()
        self[value] = made = filter_key(value)
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


def row_of(volume: Volume, chunk: Chunk, number: int, text: str) -> tantivy.Document:
    """Give the row of a passage with its text."""
    entry, row = volume.entry, tantivy.Document()
    row.add_text("id", entry.id)
    row.add_text(TEXT, text)
    row.add_text(TITLE, " ".join(dict.fromkeys(terms(entry.title))))
    row.add_unsigned("document", number)
    row.add_unsigned("ordinal", chunk.ordinal)
    for name, values in _filters(volume).items():
        for value in dict.fromkeys(map(_KEYS.__getitem__, values)) if values else ():
            row.add_text(name, value)
    for name in DATES:
        if day := day_number(getattr(entry, name)):
            row.add_unsigned(name, day)
    return row


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
