"""Write documents into a catalog: each to the keyword index, to the shelf, and to the vectors of every tier.

It refuses to decide which documents, and what becomes of the folder.
"""

from __future__ import annotations

import os
from collections import Counter

import tantivy

from deia.compile.encoding import Effort, LaterWriter
from deia.compile.rows import about, row_of
from deia.compile.shelf import DIGEST_SIZE, ShelfWriter, Volume
from deia.compile.vectors import VectorWriter
from deia.compile.vocabulary import vocabulary_bytes
from deia.ingest.chunker import chunk_document
from deia.match.fuzzy import worth_keeping
from deia.match.keyword import ANALYSER, analyser, schema
from deia.match.terms import terms
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from deia.match.semantic import Tier
    from deia.search.catalog import Catalog

TIERS = ("static",)  # made unless said otherwise: the sentence model takes a thousand times as long for a passage
WRITER_BYTES = 256_000_000


class Writers:
    """Everything that a document is written to."""

    __slots__ = ("counts", "folder", "index", "shelf", "vectors", "writer")

    def __init__(self, folder: str, tiers: Sequence[str], effort: Effort, tell: Callable[[str], None]) -> None:
        self.folder = folder
        self.shelf = ShelfWriter(folder)
        self.vectors = [
            VectorWriter(folder, name) if name in TIERS else LaterWriter(folder, name, effort, tell) for name in tiers
        ]
        self.counts = Counter[str]()

    def write_to(self, index: tantivy.Index) -> None:
        """Take the index that passages go to."""
        self.index = index
        self.writer = index.writer(WRITER_BYTES, 1)

    def copy(self, before: Catalog, documents: range, digests: bytes) -> None:
        """Take over some documents, one after another, from an earlier catalog."""
        known = digests[documents.start * DIGEST_SIZE : documents.stop * DIGEST_SIZE]
        self.shelf.copy(before, documents, known)
        for each in self.vectors:
            each.copy(before.vectors(each.tier.name), documents)

    def leave_out(self) -> None:
        """Leave a number without a document."""
        self.shelf.leave_out()
        for each in self.vectors:
            each.leave_out()

    def complete_tiers(self) -> list[Tier]:
        """Give the tiers whose vectors are written."""
        return [each.tier for each in self.vectors if each.complete]

    def close(self) -> int:
        """Finish all files; give how many passages there are."""
        self.shelf.close()
        for each in self.vectors:
            each.close()
        self.writer.commit()
        self.writer.wait_merging_threads()
        self.index.reload()
        return self.index.searcher().num_docs


def new_index(folder: str) -> tantivy.Index:
    """Make an empty keyword index."""
    os.mkdir(folder)
    index = tantivy.Index(schema(), path=folder)
    index.register_tokenizer(ANALYSER, analyser())
    return index


def compile_volume(volume: Volume, number: int, to: Writers) -> None:
    """Index one document's passages, shelve it, and count its words once a passage."""
    chunks = chunk_document(volume.document, id=volume.entry.id)
    described = about(volume.entry)
    to.counts.update(set(described))
    for chunk in chunks:
        found = terms(f"{chunk.heading}\n{chunk.text}")
        to.counts.update(set(found))
        to.writer.add_document(row_of(volume, chunk, number, " ".join(described + found)))
    to.shelf.add(volume, chunks)
    for each in to.vectors:
        each.add(volume.entry, chunks)


def write_words(folder: str, name: str, counts: Mapping[str, int]) -> None:
    """Write a vocabulary of those words that are worth keeping."""
    with open(os.path.join(folder, name), "wb") as file:
        file.write(vocabulary_bytes({word: count for word, count in counts.items() if worth_keeping(word)}))
