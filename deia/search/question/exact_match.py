"""Find documents that contain an exact phrase or a word: the meaning of quotation marks and minus signs in a query.

The index does not store positions, so the documents that contain the phrase's rarest word are read, MOST_READ at most,
best match first.
"""

from __future__ import annotations

from deia.match.tokeniser import words
from deia.search.catalog import Catalog

MOST_READ = 20_000  # documents; takes about a fifth of a second
MOST_PASSAGES = 200_000


def documents_with_word(catalog: Catalog, word: str) -> frozenset[int]:
    """Return the numbers of the documents that contain a word; an unknown name counts as all of its parts."""
    parsed = words(word)
    needed = [part for name in parsed for part in (name[1:] or name)]
    if len(parsed) == 1 and catalog.keyword.frequency(catalog.keyword.stems(parsed[0][:1])[0]):
        needed = list(parsed[0][:1])
    return frozenset(catalog.keyword.documents_with(catalog.keyword.stems(needed), limit=MOST_PASSAGES))


def documents_with_phrase(catalog: Catalog, phrase: str) -> frozenset[int]:
    """Return the numbers of the documents that contain a phrase, ignoring case and line breaks."""
    wanted = _folded(phrase)
    needed = {part for word in words(phrase) for part in (word[1:] or word)}
    stems = sorted(catalog.keyword.stems(sorted(needed)), key=lambda stem: (catalog.keyword.frequency(stem), stem))
    if not stems or not catalog.keyword.frequency(stems[0]):
        return frozenset()
    candidates = catalog.keyword.documents_with(stems[:1], limit=MOST_PASSAGES)[:MOST_READ]
    return frozenset(number for number in candidates if _has_phrase(catalog, number, wanted))


def _has_phrase(catalog: Catalog, number: int, wanted: str) -> bool:
    document = catalog.document_at(number)
    if occurs_in(wanted, _folded(catalog.text(document))):
        return True
    entry = document.entry
    metadata = (entry.title, entry.summary, entry.action, entry.why_relevant, *entry.keywords, *entry.tags, entry.id)
    return any(occurs_in(wanted, _folded(line)) for line in metadata)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def occurs_in(phrase: str, text: str) -> bool:
    """Return whether a phrase occurs in a text, not as a part of longer words."""
    at = text.find(phrase)
    while at != -1:
        end = at + len(phrase)
        begins = at == 0 or not (text[at - 1].isalnum() and phrase[0].isalnum())
        ends = end == len(text) or not (text[end].isalnum() and phrase[-1].isalnum())
        if begins and ends:
            return True
        at = text.find(phrase, at + 1)
    return False
