"""Which documents say something word for word, and which hold a word: what quotations and minus signs ask.

The index knows words and not their places, so the documents that hold the rarest word of a quotation are read. It
refuses to read more than so many, the most telling first.
"""

from __future__ import annotations

from deia.match.tokeniser import words
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from deia.search.catalog import Catalog

MOST_READ = 20_000  # documents; about a fifth of a second
MOST_PASSAGES = 200_000


def holding_word(catalog: Catalog, word: str) -> frozenset[int]:
    """Give the numbers of the documents that hold a word, or every part of a name that is not known as a whole."""
    found = words(word)
    needed = [part for each in found for part in (each[1:] or each)]
    if len(found) == 1 and catalog.keyword.frequency(catalog.keyword.stems(found[0][:1])[0]):
        needed = list(found[0][:1])
    return frozenset(catalog.keyword.holding(catalog.keyword.stems(needed), limit=MOST_PASSAGES))


def holding_phrase(catalog: Catalog, phrase: str) -> frozenset[int]:
    """Give the numbers of the documents in which a phrase stands, whatever its case and its line breaks."""
    wanted = _folded(phrase)
    needed = {part for word in words(phrase) for part in (word[1:] or word)}
    stems = sorted(catalog.keyword.stems(sorted(needed)), key=lambda stem: (catalog.keyword.frequency(stem), stem))
    if not stems or not catalog.keyword.frequency(stems[0]):
        return frozenset()
    candidates = catalog.keyword.holding(stems[:1], limit=MOST_PASSAGES)[:MOST_READ]
    return frozenset(number for number in candidates if _says(catalog, number, wanted))


def _says(catalog: Catalog, number: int, wanted: str) -> bool:
    shelved = catalog.numbered(number)
    if stands_in(wanted, _folded(catalog.text(shelved))):
        return True
    entry = shelved.entry
    about = (entry.title, entry.summary, entry.action, entry.why_relevant, *entry.keywords, *entry.tags, entry.id)
    return any(stands_in(wanted, _folded(line)) for line in about)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def stands_in(wanted: str, text: str) -> bool:
    """Tell whether a phrase stands in a text, not as a part of longer words."""
    at = text.find(wanted)
    while at != -1:
        end = at + len(wanted)
        begins = at == 0 or not (text[at - 1].isalnum() and wanted[0].isalnum())
        ends = end == len(text) or not (text[end].isalnum() and wanted[-1].isalnum())
        if begins and ends:
            return True
        at = text.find(wanted, at + 1)
    return False
