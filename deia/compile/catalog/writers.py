"""Write documents into a catalog: to the keyword index, to the document store, and to the vectors of every tier."""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import tantivy

from deia.compile.catalog.document_store import DIGEST_SIZE, ShelfWriter, Volume
from deia.compile.catalog.effort import TIERS, Effort
from deia.compile.catalog.embeddings import LaterWriter
from deia.compile.catalog.prepare import Prepared, is_code, prepared
from deia.compile.catalog.stems import STEMS
from deia.compile.catalog.vectors import VectorWriter
from deia.match.keyword import ANALYSER, DATES, LONGEST_KEY, TEXT, TITLE, WORDLESS, filter_key, schema
from deia.match.numerics import NDArray, np
from deia.match.spelling import MAGIC, VERSION, deletions, slot, worth_keeping
from deia.match.tiers import Tier
from deia.match.tokeniser import terms
from deia.search.catalog import Catalog
from deia.search.question.dates import day_number

WRITER_BYTES = 256_000_000


class Writers:
    """All files of a catalog that a document is written to."""

    __slots__ = ("counts", "defined", "folder", "index", "shelf", "vectors", "writer")

    def __init__(
        self, folder: str, tiers: Sequence[str], effort: Effort, tell: Callable[[str], None], *, block: int
    ) -> None:
        """Write so many documents into each block."""
        self.folder = folder
        self.shelf = ShelfWriter(folder, block)
        self.vectors = [
            VectorWriter(folder, name) if name in TIERS else LaterWriter(folder, name, effort, tell) for name in tiers
        ]
        self.counts = Counter[str]()
        self.defined = Counter[str]()

    def wanted(self) -> tuple[bool, bool]:
        """Return whether word vectors are wanted, and whether the texts of the passages are."""
        later = (writer for writer in self.vectors if isinstance(writer, LaterWriter))
        return (
            any(isinstance(writer, VectorWriter) for writer in self.vectors),
            any(writer.complete for writer in later),
        )

    def write_to(self, index: tantivy.Index) -> None:
        """Set the keyword index that passages are written to."""
        self.index = index
        self.writer = index.writer(WRITER_BYTES, 1)

    def copy(self, before: Catalog, documents: range, digests: bytes) -> None:
        """Copy consecutive documents from an earlier catalog, with their `digests`."""
        known = digests[documents.start * DIGEST_SIZE : documents.stop * DIGEST_SIZE]
        self.shelf.copy(before.blocks, documents, known)
        for vectors in self.vectors:
            vectors.copy(before.vectors(vectors.tier.name), documents)

    def leave_out(self) -> None:
        """Write a number without a document."""
        self.shelf.leave_out()
        for vectors in self.vectors:
            vectors.leave_out()

    def complete_tiers(self) -> list[Tier]:
        """Return the tiers whose vectors are written."""
        return [vectors.tier for vectors in self.vectors if vectors.complete]

    def close(self) -> int:
        """Finish all files; return the number of passages."""
        self.shelf.close()
        for vectors in self.vectors:
            vectors.close()
        self.writer.commit()
        self.writer.wait_merging_threads()
        self.index.reload()
        return self.index.searcher().num_docs


def new_index(folder: str) -> tantivy.Index:
    """Create an empty keyword index."""
    os.mkdir(folder)
    index = tantivy.Index(schema(), path=folder)
    expect_stems(index)
    return index


def expect_stems(index: tantivy.Index) -> None:
    """Have an index split texts at spaces only: they are stemmed already, once per word and not once per passage."""
    index.register_tokenizer(ANALYSER, tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())


def compile_volumes(volumes: Sequence[Volume], first: int, writers: Writers) -> None:
    """Prepare documents and write them under consecutive numbers."""
    if volumes:
        static, with_passages = writers.wanted()
        write_prepared(volumes, prepared(volumes, static=static, with_passages=with_passages), first, writers)


def write_prepared(volumes: Sequence[Volume], batch: Prepared, first: int, writers: Writers) -> None:
    """Write prepared documents under consecutive numbers."""
    for name, count in batch.counts.items():
        writers.counts[name] += count
    for name, count in batch.defined.items():
        writers.defined[name] += count
    for place, volume in enumerate(volumes):
        title = " ".join(map(STEMS.__getitem__, dict.fromkeys(terms(volume.entry.title))))
        for row in rows_of(volume, first + place, batch.texts[place], title, batch.wordless[place]):
            writers.writer.add_document(row)
        writers.shelf.add(batch.lines[place], volume.document.text, batch.digests[place])
    for vectors in writers.vectors:
        if isinstance(vectors, VectorWriter):
            if batch.coded:
                vectors.put_coded(batch.coded)
        elif batch.passages:
            for volume, passages in zip(volumes, batch.passages, strict=True):
                vectors.add(volume.entry, passages, is_code=is_code(volume))


def write_words(folder: str, name: str, counts: Mapping[str, int]) -> None:
    """Write a vocabulary of the words that are worth keeping."""
    with open(os.path.join(folder, name), "wb") as file:
        file.write(vocabulary_bytes({word: count for word, count in counts.items() if worth_keeping(word)}))


# --- the vocabulary that misspelt words are corrected against ---

SMALLEST_BITS = 4
SHORT = 5  # no word this short is two edits away from a word that is long enough to allow two


def vocabulary_bytes(counts: Mapping[str, int]) -> bytes:
    """Return words and their counts in the layout that `Vocabulary` reads; the same counts give the same bytes."""
    words = sorted(counts)
    slots, numbers = _deletions(words)
    order = np.lexsort((numbers, slots))
    slots, numbers = slots[order], numbers[order]
    bits = max(SMALLEST_BITS, len(slots).bit_length() - 2)
    borders = np.arange((1 << bits) + 1, dtype=np.uint64)
    buckets = np.searchsorted(slots >> np.uint64(64 - bits), borders).astype(np.uint32)
    texts = [word.encode() for word in words]
    ends = np.concatenate(([0], np.cumsum([len(text) for text in texts], dtype=np.uint32))).astype(np.uint32)
    blob = b"".join(texts)
    header = np.array([MAGIC, VERSION, len(words), bits, len(slots), len(blob)], dtype=np.uint32)
    tags = (slots & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    tallies = np.array([counts[word] for word in words], dtype=np.uint32)
    return b"".join(part.tobytes() for part in (header, buckets, numbers, tags, tallies, ends)) + blob


def _deletions(words: Sequence[str]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Return the slots of all words' deletions, and for each slot the number of its word."""
    slots, numbers = array("Q"), array("I")
    for number, word in enumerate(words):
        left = deletions(word, 1 if len(word) <= SHORT else 2)  # so that every correctable misspelling matches one
        slots.extend(map(slot, left))
        numbers.extend([number] * len(left))
    return np.array(slots, np.uint64), np.array(numbers, np.uint32)


# --- the rows of the keyword index: passages with the words of their documents' metadata, and the filter fields ---


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


def rows_of(
    volume: Volume, number: int, texts: Sequence[str], title: str, wordless: Collection[int]
) -> Iterator[tantivy.Document]:
    """Yield a row for each passage; `texts` and `title` are already analysed for the index.

    `wordless` are the passages that hardly have words.
    """
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
        if ordinal in wordless:
            row.add_text(TITLE, WORDLESS)
        for name, value in text_fields:
            row.add_text(name, value)
        for name, day in number_fields:
            row.add_unsigned(name, day)
        yield row


def _filters(volume: Volume) -> dict[str, Sequence[str]]:
    entry = volume.entry
    parts = entry.path.split("/")
    return {
        "platform": entry.platforms,
        "audience": entry.audience,
        "urgency": [entry.urgency] if entry.urgency else [],
        "cluster": entry.clusters,
        "tag": entry.tags,
        "type": volume.types,
        "path": [*("/".join(parts[:end]) for end in range(1, len(parts) + 1)), parts[-1]],
    }
