"""Everything that is computed from documents before they are written: passages, terms, counts, vectors, lines.

Documents are prepared in batches, one step for the whole batch at a time, because each step has tables that should
stay in the processor's cache. Other processes can do the work: the result for a document does not depend on the process
or on the batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from deia.compile.catalog.abbreviations import counted
from deia.compile.catalog.code_terms import terms_of_code
from deia.compile.catalog.code_vectors import vectors_of_code
from deia.compile.catalog.document_store import Volume, digest, line_of
from deia.compile.catalog.stems import STEMS
from deia.compile.catalog.vectors import Coded, Encoder
from deia.folders import LIBRARY_PREFIX
from deia.ingest.chunk_rows import unpacked as unpacked_chunks
from deia.ingest.chunkers.markdown import chunk_document
from deia.knowledge import Chunk, Entry
from deia.match.passage_vectors import subject
from deia.match.tokeniser import terms
from deia.search.ranking.code_sentences import path_of, sentence_of_code

# How often the words of a field are counted. A title is worth three mentions (measured against one: +.005 nDCG@10 on
# three sets, and no clear gain beyond); keywords and tags, which an author chose, are worth two.
REPEATS = (("title", 3), ("keywords", 2), ("tags", 2), ("summary", 1), ("platforms", 1), ("category", 1), ("id", 1))
STATIC = "static"
CODE = "code"
# Of base64, .10 to .19 are in such words by chance; of each passage of deia's own code .22 or more, of 99 in 100 of its
# documentation .30 or more.
FEWEST_IN_WORDS = 0.2  # share of a passage's characters
WORD_FROM, WORD_TO = 4, 30  # letters; of other scripts than Latin every character counts
BATCH = 1_024  # documents prepared at once


class Prepared(NamedTuple):
    """The results for a batch of documents, in their order."""

    texts: list[list[str]]  # of each passage, the text for the keyword index
    wordless: list[list[int]]  # of each document, the passages that hardly have words
    lines: list[bytes]  # of each document, the line for the document store
    digests: list[bytes]
    counts: dict[str, int]  # how many passages and descriptions contain a word
    defined: dict[str, int]  # abbreviations that the texts define
    coded: Coded | None  # word vectors, if they are wanted
    passages: list[list[str]]  # the text of each passage, if a later tier wants it


def prepared(volumes: Sequence[Volume], *, static: bool, with_passages: bool) -> Prepared:
    """Return what a batch of documents comes to, with word vectors and the passages' texts if they are wanted."""
    chunked = [chunks_of(volume) for volume in volumes]
    described = [about(volume.entry) for volume in volumes]
    chunk_terms = [[_terms(chunk, volume) for chunk in chunks] for volume, chunks in zip(volumes, chunked, strict=True)]
    occurrences: list[str] = []
    for own, passages in zip(described, chunk_terms, strict=True):
        occurrences += set(own)
        for passage in passages:
            occurrences += set(passage)
    stem = STEMS.__getitem__
    passage_texts = [[chunk.text for chunk in chunks] for chunks in chunked]
    return Prepared(
        texts=[
            [" ".join([*map(stem, own), *map(stem, passage)]) for passage in passages]
            for own, passages in zip(described, chunk_terms, strict=True)
        ],
        wordless=[
            [at for at, (chunk, passage) in enumerate(zip(*both, strict=True)) if _is_wordless(chunk.text, passage)]
            for both in zip(chunked, chunk_terms, strict=True)
        ],
        lines=[line_of(volume, chunks) for volume, chunks in zip(volumes, chunked, strict=True)],
        digests=[digest(volume) for volume in volumes],
        counts=dict(Counter(occurrences)),
        defined=dict(counted(volume.document.text for volume in volumes)),
        coded=_coded(volumes, chunked, passage_texts) if static else None,
        passages=[*map(passage_texts_of, volumes, chunked)] if with_passages else [],
    )


def _coded(volumes: Sequence[Volume], chunked: Sequence[Sequence[Chunk]], texts: Sequence[Sequence[str]]) -> Coded:
    """Return the word vectors of documents, those of code by the vectors that words of code have."""
    made = {
        at: vectors_of_code(chunks, volume.entry.id)
        for at, (volume, chunks) in enumerate(zip(volumes, chunked, strict=True))
        if is_code(volume)
    }
    return encoder().of([subject(volume.entry) for volume in volumes], texts, made)


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


def _terms(chunk: Chunk, volume: Volume) -> list[str]:
    """Return the terms of a passage."""
    return terms_of_code(chunk) if is_code(volume) else terms(f"{chunk.heading}\n{chunk.text}")


def _is_wordless(text: str, passage: Sequence[str]) -> bool:
    """Return whether hardly any of a passage's characters belong to words: numbers, keys, base64, a single letter.

    Usually the first few terms tell that it has words.
    """
    enough, letters = FEWEST_IN_WORDS * len(text), 0
    for term in passage:
        if term.isalpha() and (not term.isascii() or WORD_FROM <= len(term) <= WORD_TO):
            letters += len(term)
            if letters >= enough:
                return False
    return bool(text)


def passage_texts_of(volume: Volume, chunks: Sequence[Chunk]) -> list[str]:
    """Return what a sentence model reads of a document's passages."""
    if not is_code(volume):
        return [chunk.text for chunk in chunks]
    path = path_of(volume.entry.id)
    return [sentence_of_code(path, chunk.symbol, chunk.heading, chunk.text) for chunk in chunks]


def is_code(volume: Volume) -> bool:
    """Return whether a document of the library is code; a lesson whose category is `code` is a text about it."""
    return bool(volume.known) and volume.types[:1] == (CODE,)


def chunks_of(volume: Volume) -> Sequence[Chunk]:
    """Return the chunks of a document: as the library cut it, or as a Markdown text is cut."""
    ident = volume.entry.id
    return unpacked_chunks(ident, volume.document.text, volume.rows) or chunk_document(volume.document, id=ident)


@cache
def encoder() -> Encoder:
    """Return the encoder of word vectors, which is opened once per process."""
    return Encoder(STATIC)
