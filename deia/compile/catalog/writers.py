"""Write documents into a catalog: each to the keyword index, to the shelf, and to the vectors of every tier.

It refuses to decide which documents, and what becomes of the folder.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import tantivy

from deia.compile.catalog.document_store import DIGEST_SIZE, ShelfWriter, Volume
from deia.compile.catalog.embeddings import Effort, LaterWriter
from deia.compile.catalog.prepare import STEMS, Prepared, prepared
from deia.compile.catalog.rows import rows_of
from deia.compile.catalog.vectors import VectorWriter
from deia.compile.catalog.vocabulary import vocabulary_bytes
from deia.match.keyword import ANALYSER, schema
from deia.match.spelling import worth_keeping
from deia.match.tiers import Tier
from deia.match.tokeniser import terms
from deia.search.catalog import Catalog

TIERS = ("static",)  # made unless said otherwise: the sentence model takes a thousand times as long for a passage
WRITER_BYTES = 256_000_000


class Writers:
    """Everything that a document is written to."""

    __slots__ = ("counts", "defined", "folder", "index", "shelf", "vectors", "writer")

    def __init__(self, folder: str, tiers: Sequence[str], effort: Effort, tell: Callable[[str], None]) -> None:
        self.folder = folder
        self.shelf = ShelfWriter(folder)
        self.vectors = [
            VectorWriter(folder, name) if name in TIERS else LaterWriter(folder, name, effort, tell) for name in tiers
        ]
        self.counts = Counter[str]()
        self.defined = Counter[str]()

    def wanted(self) -> tuple[bool, bool]:
        """Say whether word vectors are wanted of what is to be written, and whether the texts of its passages are."""
        later = (each for each in self.vectors if isinstance(each, LaterWriter))
        return any(isinstance(each, VectorWriter) for each in self.vectors), any(each.complete for each in later)

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
    take_stems(index)
    return index


def take_stems(index: tantivy.Index) -> None:
    """Have an index take stems as they are, which are made once a word and not once a passage."""
    index.register_tokenizer(ANALYSER, tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())


def compile_volumes(volumes: Sequence[Volume], first: int, to: Writers) -> None:
    """Write documents under numbers that follow one another."""
    if volumes:
        static, said = to.wanted()
        write_prepared(volumes, prepared(volumes, static=static, said=said), first, to)


def write_prepared(volumes: Sequence[Volume], made: Prepared, first: int, to: Writers) -> None:
    """Write documents of which all is made: to the index, the shelf, the vocabulary and the vectors of every tier."""
    for name, count in made.counts.items():
        to.counts[name] += count
    for name, count in made.defined.items():
        to.defined[name] += count
    for place, volume in enumerate(volumes):
        title = " ".join(map(STEMS.__getitem__, dict.fromkeys(terms(volume.entry.title))))
        for row in rows_of(volume, first + place, made.texts[place], title):
            to.writer.add_document(row)
        to.shelf.add(made.lines[place], volume.document.text, made.digests[place])
    for each in to.vectors:
        if isinstance(each, VectorWriter):
            if made.coded:
                each.put_coded(made.coded)
        elif made.said:
            for volume, said in zip(volumes, made.said, strict=True):
                each.add(volume.entry, said)


def write_words(folder: str, name: str, counts: Mapping[str, int]) -> None:
    """Write a vocabulary of those words that are worth keeping."""
    with open(os.path.join(folder, name), "wb") as file:
        file.write(vocabulary_bytes({word: count for word, count in counts.items() if worth_keeping(word)}))
