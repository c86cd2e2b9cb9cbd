"""Find the documents that a note links to, by their names or by paths from the note."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence

from deia.commons.notes.note_text import links_in
from deia.knowledge import Document, Entry

MOST_LINKS = 20  # of one note


def with_links(entries: Sequence[Entry], unlisted: Iterable[str], documents: Mapping[str, Document]) -> list[Entry]:
    """Return the entries, those at the `unlisted` paths with the documents that their texts link to."""
    links = {path: found for path in unlisted if (found := links_in(documents[path].text)[:MOST_LINKS])}
    if not links:
        return list(entries)
    names = _names(entries)
    return [_linked(entry, links[entry.path], names) if entry.path in links else entry for entry in entries]


def _names(entries: Sequence[Entry]) -> dict[str, str]:
    """Return the id of each document by its path, its title and the name of its file, in lower case."""
    names: dict[str, str] = {}
    for entry in entries:
        stem = entry.path.rpartition("/")[2].rpartition(".")[0]
        for name in (entry.path, entry.path.rpartition(".")[0], stem, entry.title):
            names.setdefault(name.lower(), entry.id)
    return names


def _linked(entry: Entry, links: Sequence[str], names: Mapping[str, str]) -> Entry:
    folder = posixpath.dirname(entry.path)
    found = [
        names.get(link.lower()) or names.get(posixpath.normpath(posixpath.join(folder, link)).lower()) for link in links
    ]
    related = dict.fromkeys([*entry.related_docs, *filter(None, found)])
    return entry.but(related_docs=tuple(name for name in related if name != entry.id))
