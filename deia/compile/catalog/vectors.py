"""Write the vectors of a catalog's passages and documents, in the layout that `deia.match.vector_store` reads.

A passage's vector is that of its text and, in part, of what its document is about, since a passage from the middle
often does not name its subject. What a document is about its entry says, or its passages where the entry says only a
word, such as the name of a command. It refuses to decide which model; texts are encoded many at a time.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from typing import NamedTuple

from deia.compile.catalog.ivf_lists import LISTED_FROM, UNSORTED, Sorted, earlier, write_lists
from deia.compile.catalog.word_sums import WordSums
from deia.knowledge import Chunk, Entry
from deia.match import quantised
from deia.match.minilm import Compact
from deia.match.numerics import np
from deia.match.static_vectors import MIDDLE, SCALE, Static
from deia.match.tiers import open_tier
from deia.match.tokeniser import spelled_out
from deia.match.transformer import Transformer
from deia.match.vector_store import ABOUT, CODES, SIGNS, STARTS, Vectors
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# Of what the document is about, in a passage's vector. Measured on three sets with ABOUT of `rank`: .2 and .4
# are within .003 nDCG@10.
ABOUT_SHARE = 0.3
SAYS = 3  # words of a subject that say what it is; one alone says nothing (measured: .016 nDCG@10 on commands' pages)
TOGETHER = 256  # passages encoded at once
THREADS = 2
WORTH_LEARNING = 100  # texts for which the word vectors are read into memory


class Coded(NamedTuple):
    """The vectors of some documents as they are stored, and how many passages each has."""

    codes: bytes
    signs: bytes
    about: bytes
    passages: list[int]


class Encoder:
    """What makes the vectors of documents by the model of a tier."""

    __slots__ = ("_seen", "_sums", "tier")

    def __init__(self, tier: str) -> None:
        self.tier = open_tier(tier)
        self._sums: WordSums | None = None
        self._seen = 0  # texts so far

    def of(self, subjects: Sequence[str], passages: Sequence[Sequence[str]]) -> Coded:
        """Encode documents: what each is about, and its passages."""
        spelled = [*map(spelled_out, subjects)]
        abouts = self._encoded(spelled)
        texts = self._encoded([text for each in passages for text in each])
        return _coded(self.tier.model, abouts, [*map(_telling, spelled)], texts, [*map(len, passages)])

    def _encoded(self, texts: Sequence[str]) -> Floats:
        """Give the vectors of texts, one a row, of unit length or zero."""
        model = self.tier.model
        if not isinstance(model, Static):
            return model.encode(texts, threads=THREADS)
        self._seen += len(texts)
        if self._sums is None and self._seen < WORTH_LEARNING:
            return _unit(np.array([model.sums(text) for text in texts], "f4").reshape(-1, model.dimensions))
        self._sums = self._sums or WordSums(model)
        return _unit(self._sums.of(texts))


class VectorWriter:
    """The files of a tier, open for writing, in the order of the documents' numbers."""

    __slots__ = (
        "_about",
        "_before",
        "_codes",
        "_copied",
        "_encoder",
        "_folder",
        "_pending",
        "_signs",
        "_starts",
        "_waiting",
        "tier",
    )

    complete = True

    def __init__(self, folder: str, tier: str) -> None:
        self.tier = open_tier(tier)
        self._folder = folder
        self._codes, self._signs, self._about = (
            open(self._place(name), "wb")  # noqa: SIM115 - closed in `close`
            for name in (CODES, SIGNS, ABOUT)
        )
        self._encoder: Encoder | None = None
        self._starts = array("I", [0])
        self._before: Vectors | None = None
        self._copied: list[tuple[int, range]] = []  # where earlier passages stand now, and which they were
        self._pending: list[tuple[str, Sequence[str]]] = []
        self._waiting = 0  # passages among them

    def _place(self, name: str) -> str:
        return os.path.join(self._folder, f"{self.tier.name}.{name}")

    def add(self, entry: Entry, chunks: Sequence[Chunk]) -> None:
        """Write a document's vectors."""
        self._pending.append((subject(entry), [chunk.text for chunk in chunks]))
        self._waiting += len(chunks)
        if self._waiting >= TOGETHER:
            self._flush()

    def leave_out(self) -> None:
        """Leave a number without a document."""
        self._flush()
        self._mark(0)
        self._about.write(bytes(self.tier.dimensions))

    def copy(self, before: Vectors, documents: range) -> None:
        """Write the vectors of some documents, one after another, as an earlier catalog held them."""
        self._flush()
        held = before.raw(documents)
        count = self._starts[len(self._starts) - 1]
        for file, data in ((self._codes, held.codes), (self._signs, held.signs), (self._about, held.about)):
            file.write(data)
        ends = np.asarray(held.starts[1:], np.int64) - held.starts[0] + count
        self._starts.frombytes(ends.astype(np.uint32).tobytes())
        self._before = before
        self._copied.append((count, range(held.starts[0], held.starts[len(documents)])))

    def close(self) -> None:
        """Finish the files; each ends with a byte more, since an empty file cannot be mapped."""
        self._flush()
        for file in (self._codes, self._signs, self._about):
            file.write(b"\n")
            file.close()
        with open(self._place(STARTS), "wb") as file:
            file.write(self._starts.tobytes())
        self._write_lists()

    def _write_lists(self) -> None:
        count, wide = self._starts[len(self._starts) - 1], self.tier.dimensions
        if count <= LISTED_FROM:
            return
        held, signs = (np.memmap(self._place(name), np.uint8, "r")[:-1] for name in (CODES, SIGNS))
        known = None
        if self._before and self._before.lists:
            before = earlier(self._before.lists, wide)
            known = Sorted(before.middles, np.full(count, UNSORTED, np.uint32))
            for at, passages in self._copied:
                known.lists[at : at + len(passages)] = before.lists[passages.start : passages.stop]
        files = (held.reshape(-1, wide), signs.reshape(-1, wide // 8))
        write_lists(self._place("")[:-1], *files, self._read, known=known)

    def _read(self, stored: NDArray[np.uint8]) -> Floats:
        """Give vectors as they were before they were stored."""
        if not isinstance(self.tier.model, Static):
            return stored.view("i1") * np.float32(quantised.step(self.tier.dimensions))
        floats: Floats = (stored.astype("f4") - np.float32(MIDDLE)) / np.float32(SCALE)
        floats[~stored.any(axis=1)] = 0  # what stands for a zero vector
        return floats

    def _mark(self, passages: int) -> None:
        self._starts.append(self._starts[len(self._starts) - 1] + passages)

    def _flush(self) -> None:
        if not self._pending:
            return
        self._encoder = self._encoder or Encoder(self.tier.full_name)
        pending, self._pending, self._waiting = self._pending, [], 0
        self._write(self._encoder.of([about for about, _ in pending], [texts for _, texts in pending]))

    def put(self, about: Floats, told: float, passages: Floats) -> None:
        """Write one document's vectors, made elsewhere: its subject, one row, how much that says, and its passages."""
        self.put_coded(_coded(self.tier.model, about, [told], passages, [len(passages)]))

    def put_coded(self, made: Coded) -> None:
        """Write documents' vectors as an `Encoder` of this tier made them."""
        self._flush()
        self._write(made)

    def _write(self, made: Coded) -> None:
        for count in made.passages:
            self._mark(count)
        for file, data in ((self._codes, made.codes), (self._signs, made.signs), (self._about, made.about)):
            file.write(data)


def _coded(
    model: Static | Compact | Transformer, abouts: Floats, told: Sequence[float], texts: Floats, counts: list[int]
) -> Coded:
    owners = np.repeat(np.arange(len(counts)), counts)
    passages = _unit(texts + np.float32(ABOUT_SHARE) * abouts[owners])
    codes = coded(model, passages)
    rows = np.frombuffer(codes, "u1").reshape(-1, model.dimensions)
    positive = rows > MIDDLE if isinstance(model, Static) else rows.view("i1") > 0
    whole = _unit(np.add.reduceat(passages, np.cumsum([0, *counts[:-1]])))
    shares = np.array(told, "f4")[:, None]
    return Coded(
        codes=codes,
        signs=np.packbits(positive, axis=1, bitorder="little").tobytes(),
        about=coded(model, _unit(shares * abouts + (np.float32(1) - shares) * whole)),
        passages=counts,
    )


def subject(entry: Entry) -> str:
    """Say what a document is about, in the words of its entry."""
    return ". ".join(part for part in (entry.title, entry.summary, ", ".join(entry.keywords)) if part)


def telling(subject: str) -> float:
    """Give how far a subject says what it is, from 0 to 1: by its words, those of a name counted one by one."""
    return _telling(spelled_out(subject))


def _telling(spelled: str) -> float:
    return min(1.0, max(0, len(spelled.replace("-", " ").split()) - 1) / (SAYS - 1))


def coded(model: Static | Compact | Transformer, vectors: Floats) -> bytes:
    """Give vectors as their tier stores them."""
    if not isinstance(model, Static):
        return quantised.quantised(vectors)
    made = np.clip(np.rint(vectors * np.float32(SCALE)) + MIDDLE, 1, 255).astype("u1")
    made[~vectors.any(axis=1)] = 0  # what stands for a zero vector, which is like nothing
    stored: bytes = made.tobytes()
    return stored


def _unit(vectors: Floats) -> Floats:
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    made: Floats = np.divide(vectors, np.where(lengths > 0, lengths, 1), dtype="f4")
    return made
