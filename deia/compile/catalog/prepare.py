"""Everything that is computed from documents before they are written: passages, terms, counts, vectors, lines.

Documents are prepared in batches, one step for the whole batch at a time, because each step has tables that should
stay in the processor's cache. Input and output are plain values, so that other processes can do the work. The result
for a document does not depend on the process or on the batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, chain, islice
from typing import Any, NamedTuple

from deia.compile.catalog.abbreviations import counted
from deia.compile.catalog.document_store import DIGEST_SIZE, Volume, digest, line_of, stored_fields
from deia.compile.catalog.rows import about
from deia.compile.catalog.vectors import Coded, Encoder
from deia.fast_json import Json
from deia.ingest.chunk_rows import unpacked as unpacked_chunks
from deia.ingest.chunkers.markdown import chunk_document
from deia.knowledge import Chunk, Document, Entry
from deia.match.keyword import analyser
from deia.match.passage_vectors import subject
from deia.match.tokeniser import terms

STATIC = "static"
CODE = "code"
BATCH = 1_024  # documents prepared at once
MOST_STEMS = 200_000
_ENCODERS: dict[str, Encoder] = {}


class Prepared(NamedTuple):
    """The results for a batch of documents, in their order."""

    texts: list[list[str]]  # of each passage, the text for the keyword index
    lines: list[bytes]  # of each document, the line for the document store
    digests: list[bytes]
    counts: dict[str, int]  # how many passages and descriptions contain a word
    defined: dict[str, int]  # abbreviations that the texts define
    coded: Coded | None  # word vectors, if they are wanted
    passages: list[list[str]]  # the text of each passage, if a later tier wants it


class _Stems(dict[str, str]):
    """The stems of terms, cached: the index would stem every word of every passage."""

    def __missing__(self, term: str) -> str:
        if len(self) >= MOST_STEMS:
            self.clear()
        self[term] = stems = " ".join(_ANALYSER.analyze(term))
        return stems


_ANALYSER = analyser()
STEMS = _Stems()


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
        lines=[line_of(volume, chunks) for volume, chunks in zip(volumes, chunked, strict=True)],
        digests=[digest(volume) for volume in volumes],
        counts=dict(Counter(occurrences)),
        defined=dict(counted(volume.document.text for volume in volumes)),
        coded=_encoder().of([subject(volume.entry) for volume in volumes], passage_texts) if static else None,
        passages=passage_texts if with_passages else [],
    )


def _terms(chunk: Chunk, volume: Volume) -> list[str]:
    """Return the terms of a passage.

    Of code each counts once, for how often a variable is used tells nothing, and those of its name twice more. (Of 350
    sentences from docstrings, .526 found their function among ten by words before, and .563 so.)
    """
    found = terms(f"{chunk.heading}\n{chunk.text}")
    return [*dict.fromkeys(found), *terms(chunk.symbol) * 2] if volume.types[:1] == (CODE,) else found


def chunks_of(volume: Volume) -> Sequence[Chunk]:
    """Return the chunks of a document: as the library cut it, or as a Markdown text is cut."""
    ident = volume.entry.id
    return unpacked_chunks(ident, volume.document.text, volume.rows) or chunk_document(volume.document, id=ident)


def _encoder() -> Encoder:
    """Return the encoder of word vectors, which is opened once per process."""
    if STATIC not in _ENCODERS:
        _ENCODERS[STATIC] = Encoder(STATIC)
    return _ENCODERS[STATIC]


# --- plain values for other processes; texts travel as bytes, at a tenth of the cost of JSON -------------------------


def packed(volumes: Sequence[Volume]) -> tuple[list[Json], list[bytes]]:
    """Return documents as JSON values and bytes, with everything that preparing them needs."""
    texts = [volume.document.text.encode("utf-8", "surrogatepass") for volume in volumes]
    values: list[Json] = [
        [stored_fields(one.entry), one.document.first_line, one.types, one.known.hex(), one.rows, len(text)]
        for one, text in zip(volumes, texts, strict=True)
    ]
    return values, [b"".join(texts)]


def unpacked(values: Sequence[Sequence[Any]], blobs: Sequence[bytes]) -> list[Volume]:
    """Return the documents that were `packed`, also after JSON turned their tuples into lists."""
    (joined,) = blobs
    ends = accumulate(length for *_, length in values)
    return [
        Volume(
            entry=Entry(
                **{"id": "", "path": "", "title": "", **{name: _tuple(value) for name, value in fields.items()}}
            ),
            document=Document(
                path="", title="", text=joined[end - length : end].decode("utf-8", "surrogatepass"), first_line=first
            ),
            types=tuple(types),
            known=bytes.fromhex(known),
            rows=tuple(rows),
        )
        for (fields, first, types, known, rows, length), end in zip(values, ends, strict=True)
    ]


def _tuple(value: object) -> Any:
    return tuple(value) if isinstance(value, list) else value


def plain(batch: Prepared) -> tuple[list[Json], list[bytes]]:
    """Return a `Prepared` as a JSON value and bytes; texts are joined by line breaks, which no term contains."""
    counts = [*map(len, batch.texts)]
    texts = "\n".join(chain.from_iterable(batch.texts)).encode("utf-8", "surrogatepass")
    blobs = [texts, b"".join(batch.lines), b"".join(batch.digests), *(batch.coded[:3] if batch.coded else ())]
    return [counts, batch.counts, batch.defined, batch.passages], blobs


def as_prepared(values: Sequence[Any], blobs: Sequence[bytes]) -> Prepared:
    """Return the `Prepared` that `plain` turned into a JSON value and bytes."""
    passage_counts, counts, defined, passages = values
    joined, lines, digests, *codes = blobs
    texts = iter(joined.decode("utf-8", "surrogatepass").split("\n"))
    return Prepared(
        texts=[[*islice(texts, count)] for count in passage_counts],
        lines=lines.splitlines(keepends=True),
        digests=[digests[at : at + DIGEST_SIZE] for at in range(0, len(digests), DIGEST_SIZE)],
        counts=counts, defined=defined, passages=passages,
        coded=Coded(codes=codes[0], signs=codes[1], about=codes[2], passages=passage_counts) if codes else None,
    )  # fmt: skip
