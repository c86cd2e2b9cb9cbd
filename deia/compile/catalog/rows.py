"""The rows of the keyword index: each passage's words with those of its document's metadata, and the filter fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import tantivy

from deia.compile.catalog.document_store import Volume
from deia.folders import LIBRARY_PREFIX
from deia.knowledge import Entry
from deia.match.keyword import DATES, LONGEST_KEY, TEXT, TITLE, filter_key
from deia.match.tokeniser import terms
from deia.search.question.dates import day_number

# How often the words of a field are counted. A title is worth three mentions (measured against one: +.005 nDCG@10 on
# three sets, and no clear gain beyond); keywords and tags, which an author chose, are worth two.
REPEATS = (("title", 3), ("keywords", 2), ("tags", 2), ("summary", 1), ("platforms", 1), ("category", 1), ("id", 1))
MOST_KEYS = 50_000


class _Keys(dict[str, str]):
    """The normalised spelling of filter values, cached: a commons has few values, and each occurs in many rows."""

    def __missing__(self, value: str) -> str:
        if len(self) >= MOST_KEYS:
            self.clear()
        plain = value.isascii() and len(value) <= LONGEST_KEY  # true of nearly every path, and ten times as fast
        self[value] = key = " ".join(value.lower().split()) if plain else filter_key(value)
        return key


_KEYS = _Keys()


def about(entry: Entry) -> list[str]:
    """Return the terms of a document's metadata, each as often as it counts."""
    metadata: list[str] = []
    for name, repeats in REPEATS:
        value = getattr(entry, name)
        if not value:
            continue
        text = value.removeprefix(LIBRARY_PREFIX) if isinstance(value, str) else " | ".join(value)
        metadata += terms(text) * repeats
    return metadata


def rows_of(volume: Volume, number: int, texts: Sequence[str], title: str) -> Iterator[tantivy.Document]:
    """Yield a row for each passage; `texts` and `title` are already analysed for the index."""
    entry = volume.entry
    text_fields = [("id", entry.id), (TITLE, title)]
    for name, values in _filters(volume).items():
        if values:
            text_fields += [(name, value) for value in dict.fromkeys(map(_KEYS.__getitem__, values))]
    number_fields = [("document", number)]
    dates = [(name, value) for name in DATES if (value := getattr(entry, name))]
    number_fields += [(name, day) for name, value in dates if (day := day_number(value))]
    for ordinal, text in enumerate(texts):
        row = tantivy.Document()
        row.add_text(TEXT, text)
        row.add_unsigned("ordinal", ordinal)
        for name, value in text_fields:
            row.add_text(name, value)
        for name, day in number_fields:
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
    """Return the values by which a path can be filtered: the path, each folder above it, and the file name."""
    parts = path.split("/")
    return [*("/".join(parts[:end]) for end in range(1, len(parts) + 1)), parts[-1]]
