"""What is made of documents wherever they are written to: passages, terms, word counts, word vectors, shelf lines.

Documents are prepared many at a time, one step after another, since each step has tables of its own that should stay
in the processor's cache. What goes in and what comes out are plain values, so that other processes can do it; the same
documents come to the same values whoever prepares them, and with whom. It refuses to read or to write anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, chain, islice
from typing import Any, NamedTuple

from deia.compile.catalog.abbreviations import counted
from deia.compile.catalog.document_store import DIGEST_SIZE, Volume, digest, line_of, told
from deia.compile.catalog.rows import about
from deia.compile.catalog.vectors import Coded, Encoder, subject
from deia.ingest.chunker import chunk_document
from deia.knowledge import Document, Entry
from deia.match.keyword import analyser
from deia.match.tokeniser import terms

STATIC = "static"
TOGETHER = 1_024  # documents prepared at once
MOST_STEMS = 200_000
_ENCODERS: dict[str, Encoder] = {}


class Prepared(NamedTuple):
    """What some documents come to, in their order."""

    texts: list[list[str]]  # what the keyword index is given of each passage
    lines: list[bytes]  # what the shelf says of each
    digests: list[bytes]
    counts: dict[str, int]  # in how many passages and descriptions a word stands
    defined: dict[str, int]  # abbreviations that the texts define
    coded: Coded | None  # word vectors, where they are wanted
    said: list[list[str]]  # each passage's text, where a later tier wants it


class _Stems(dict[str, str]):
    """The stems of terms, remembered: the index would stem every word of every passage."""

    def __missing__(self, term: str) -> str:
        if len(self) >= MOST_STEMS:
            self.clear()
        self[term] = made = " ".join(_ANALYSER.analyze(term))
        return made


_ANALYSER = analyser()
STEMS = _Stems()


def prepared(volumes: Sequence[Volume], *, static: bool, said: bool) -> Prepared:
    """Prepare documents: with word vectors, and with the texts of their passages, where these are wanted.

    Raises:
        ArtefactError: the word vectors are missing or damaged.
    """
    chunked = [chunk_document(volume.document, id=volume.entry.id) for volume in volumes]
    described = [about(volume.entry) for volume in volumes]
    found = [[terms(f"{chunk.heading}\n{chunk.text}") for chunk in chunks] for chunks in chunked]
    held: list[str] = []
    for own, passages in zip(described, found, strict=True):
        held += set(own)
        for passage in passages:
            held += set(passage)
    stem = STEMS.__getitem__
    said_of = [[chunk.text for chunk in chunks] for chunks in chunked]
    return Prepared(
        texts=[
            [" ".join([*map(stem, own), *map(stem, passage)]) for passage in passages]
            for own, passages in zip(described, found, strict=True)
        ],
        lines=[line_of(volume, chunks) for volume, chunks in zip(volumes, chunked, strict=True)],
        digests=[digest(volume) for volume in volumes],
        counts=dict(Counter(held)),
        defined=dict(counted(volume.document.text for volume in volumes)),
        coded=_encoder().of([subject(volume.entry) for volume in volumes], said_of) if static else None,
        said=said_of if said else [],
    )


def _encoder() -> Encoder:
    """Give what encodes by word vectors, which is opened once a process."""
    if STATIC not in _ENCODERS:
        _ENCODERS[STATIC] = Encoder(STATIC)
    return _ENCODERS[STATIC]


# --- as plain values, and texts as bytes, which cost a tenth of what they do in JSON ---------------------------------


def packed(volumes: Sequence[Volume]) -> tuple[list[Any], list[bytes]]:
    """Give documents as JSON and bytes can hold them, with all that preparing them goes by."""
    texts = [volume.document.text.encode("utf-8", "surrogatepass") for volume in volumes]
    values = [
        [told(volume.entry), volume.document.first_line, volume.types, len(text)]
        for volume, text in zip(volumes, texts, strict=True)
    ]
    return values, [b"".join(texts)]


def unpacked(given: Sequence[Sequence[Any]], blobs: Sequence[bytes]) -> list[Volume]:
    """Give the documents that `packed` gave, also after JSON made lists of their tuples.

    Raises:
        ValueError: it is nothing that `packed` gives.
    """
    (joined,) = blobs
    ends = accumulate(length for *_, length in given)
    return [
        Volume(
            entry=Entry(**{"id": "", "path": "", "title": "", **{name: _tuple(value) for name, value in held.items()}}),
            document=Document(
                path="", title="", text=joined[end - length : end].decode("utf-8", "surrogatepass"), first_line=first
            ),
            types=tuple(types),
        )
        for (held, first, types, length), end in zip(given, ends, strict=True)
    ]


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def plain(made: Prepared) -> tuple[list[Any], list[bytes]]:
    """Give what documents come to as JSON can hold it, and the bytes that it cannot; no term holds a line's end."""
    passages = [*map(len, made.texts)]
    texts = "\n".join(chain.from_iterable(made.texts)).encode("utf-8", "surrogatepass")
    blobs = [texts, b"".join(made.lines), b"".join(made.digests), *(made.coded[:3] if made.coded else ())]
    return [passages, made.counts, made.defined, made.said], blobs


def as_prepared(told: Sequence[Any], blobs: Sequence[bytes]) -> Prepared:
    """Give what `plain` gave as JSON can hold it.

    Raises:
        ValueError, IndexError: it is nothing that `plain` gives.
    """
    passages, counts, defined, said = told
    joined, lines, digests, *codes = blobs
    texts = iter(joined.decode("utf-8", "surrogatepass").split("\n"))
    return Prepared(
        texts=[[*islice(texts, count)] for count in passages],
        lines=lines.splitlines(keepends=True),
        digests=[digests[at : at + DIGEST_SIZE] for at in range(0, len(digests), DIGEST_SIZE)],
        counts=counts, defined=defined, said=said,
        coded=Coded(codes=codes[0], signs=codes[1], about=codes[2], passages=passages) if codes else None,
    )  # fmt: skip
