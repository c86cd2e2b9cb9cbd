"""Write the vectors of a catalog's passages and documents, in the layout that `deia.match.vector_store` reads."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from deia.compile.catalog.ivf_lists import LISTED_FROM, UNSORTED, Assignment, stored_assignment, write_lists
from deia.match import quantised
from deia.match.encoding import THREADS
from deia.match.minilm import Compact
from deia.match.numerics import Floats, NDArray, np
from deia.match.passage_vectors import SUBJECT_SHARE, decoded, scaled_to_one, specificity, with_subjects
from deia.match.static_vectors import MIDDLE, MOST_READ, SCALE, Static, loaded_numpy, unit, words
from deia.match.tiers import open_tier
from deia.match.tokeniser import spelled_out
from deia.match.transformer import Transformer
from deia.match.vector_store import ABOUT, CODES, SIGNS, STARTS, Vectors
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from deia.match.passage_vectors import Vector

FEW = 50  # passages that are encoded sooner than numpy is imported
WORTH_LOADING = 100  # texts from which reading all word vectors into memory pays off


class Coded(NamedTuple):
    """The vectors of some documents as they are stored, and the number of passages of each document."""

    codes: bytes
    signs: bytes
    about: bytes
    passages: list[int]


class Encoder:
    """Encodes documents with the model of a tier."""

    __slots__ = ("_seen", "_sums", "tier")

    def __init__(self, tier: str) -> None:
        self.tier = open_tier(tier)
        self._sums: WordSums | None = None
        self._seen = 0  # texts encoded so far

    def of(
        self,
        subjects: Sequence[str],
        passages: Sequence[Sequence[str]],
        made: Mapping[int, Sequence[Vector] | Floats] = {},
    ) -> Coded:
        """Return the stored vectors of documents, given the subject and the passages of each.

        `made` has the vectors of the passages of some documents, by their place in the list.
        """
        spelled, model = [*map(spelled_out, subjects)], self.tier.model
        if isinstance(model, Static) and loaded_numpy() is None and sum(map(len, passages)) <= FEW:
            vectors = [made[at] if at in made else [*map(model.encode, texts)] for at, texts in enumerate(passages)]
            return _coded_few([*map(model.encode, spelled)], [*map(specificity, spelled)], vectors)
        abouts = self._encoded(spelled)
        other = [() if at in made else texts for at, texts in enumerate(passages)]
        texts = self._encoded([text for document in other for text in document])
        if made:
            parts = np.split(texts, np.cumsum([*map(len, other)])[:-1])
            own = {at: np.asarray(vectors).reshape(-1, model.dimensions) for at, vectors in made.items()}
            texts = np.concatenate([own.get(at, part) for at, part in enumerate(parts)])
        return _coded(model, abouts, [*map(specificity, spelled)], texts, [*map(len, passages)])

    def _encoded(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of texts, one per row, each of unit length or zero."""
        model = self.tier.model
        if not isinstance(model, Static):
            return model.encode(texts, threads=THREADS)
        self._seen += len(texts)
        if self._sums is None and self._seen < WORTH_LOADING:
            return scaled_to_one(np.array([model.sums(text) for text in texts], "f8").reshape(-1, model.dimensions))
        self._sums = self._sums or WordSums(model)
        return scaled_to_one(self._sums.of(texts).astype("f8"))


class VectorWriter:
    """The vector files of a tier, open for writing, in the order of the documents' numbers."""

    __slots__ = ("_about", "_before", "_codes", "_copied", "_folder", "_signs", "_starts", "tier")

    complete = True

    def __init__(self, folder: str, tier: str) -> None:
        self.tier = open_tier(tier)
        self._folder = folder
        self._codes, self._signs, self._about = (
            open(self._place(name), "wb")  # noqa: SIM115 - closed in `close`
            for name in (CODES, SIGNS, ABOUT)
        )
        self._starts = array("I", [0])
        self._before: Vectors | None = None
        self._copied: list[tuple[int, range]] = []  # the new position of copied passages, and their earlier numbers

    def _place(self, name: str) -> str:
        return os.path.join(self._folder, f"{self.tier.name}.{name}")

    def leave_out(self) -> None:
        """Write a number without a document."""
        self._mark(0)
        self._about.write(bytes(self.tier.dimensions))

    def copy(self, before: Vectors, documents: range) -> None:
        """Write the vectors of consecutive documents as an earlier catalog held them."""
        raw = before.raw(documents)
        count = self._starts[len(self._starts) - 1]
        for file, data in ((self._codes, raw.codes), (self._signs, raw.signs), (self._about, raw.about)):
            file.write(data)
        moved = count - raw.starts[0]
        ends = raw.starts[1:]
        self._starts.extend([end + moved for end in ends.tolist()] if moved else array("I", ends.tobytes()))
        self._before = before
        self._copied.append((count, range(raw.starts[0], raw.starts[len(documents)])))

    def close(self) -> None:
        """Finish the files; each ends with an extra byte, since an empty file cannot be memory-mapped."""
        for file in (self._codes, self._signs, self._about):
            file.write(b"\n")
            file.close()
        with open(self._place(STARTS), "wb") as file:
            file.write(self._starts.tobytes())
        self._write_lists()

    def _write_lists(self) -> None:
        count, dimensions = self._starts[len(self._starts) - 1], self.tier.dimensions
        if count <= LISTED_FROM:
            return
        codes, signs = (np.memmap(self._place(name), np.uint8, "r")[:-1] for name in (CODES, SIGNS))
        known = None
        if self._before and self._before.lists:
            before = stored_assignment(self._before.lists, dimensions)
            known = Assignment(before.centroids, np.full(count, UNSORTED, np.uint32))
            for at, passages in self._copied:
                known.lists[at : at + len(passages)] = before.lists[passages.start : passages.stop]
        rows = (codes.reshape(-1, dimensions), signs.reshape(-1, dimensions // 8))
        write_lists(self._place("")[:-1], *rows, lambda stored: decoded(self.tier.model, stored), known=known)

    def _mark(self, passages: int) -> None:
        self._starts.append(self._starts[len(self._starts) - 1] + passages)

    def put(self, about: Floats, specificity: float, passages: Floats) -> None:
        """Write vectors that were made elsewhere: a document's subject, how specific that is, and its passages."""
        self.put_coded(_coded(self.tier.model, about, [specificity], passages, [len(passages)]))

    def put_coded(self, coded: Coded) -> None:
        """Write documents' vectors that an `Encoder` of this tier made."""
        for count in coded.passages:
            self._mark(count)
        for file, data in ((self._codes, coded.codes), (self._signs, coded.signs), (self._about, coded.about)):
            file.write(data)


def _coded(
    model: Static | Compact | Transformer, abouts: Floats, weights: Sequence[float], texts: Floats, counts: list[int]
) -> Coded:
    passages, documents = with_subjects(abouts, weights, texts, counts)
    codes = stored_bytes(model, passages)
    rows = np.frombuffer(codes, "u1").reshape(-1, model.dimensions)
    positive = rows > MIDDLE if isinstance(model, Static) else rows.view("i1") > 0
    return Coded(
        codes=codes,
        signs=np.packbits(positive, axis=1, bitorder="little").tobytes(),
        about=stored_bytes(model, documents),
        passages=counts,
    )


def _coded_few(abouts: Sequence[Vector], weights: Sequence[float], texts: Sequence[Sequence[Vector] | Floats]) -> Coded:
    """Return what `_coded` does for word vectors, of a few documents and without numpy: `texts` has those of each."""
    codes, documents = [], []
    for about, weight, vectors in zip(abouts, weights, texts, strict=True):
        passages = [
            unit([value + SUBJECT_SHARE * share for value, share in zip(each, about, strict=True)]) for each in vectors
        ]
        whole = unit([*map(sum, zip(*passages, strict=True))] or [0.0] * len(about))
        documents.append(unit([weight * a + (1 - weight) * b for a, b in zip(about, whole, strict=True)]))
        codes += [*map(_stored, passages)]
    bits = [sum([1 << place for place, code in enumerate(row) if code > MIDDLE]) for row in codes]
    return Coded(
        codes=b"".join(codes),
        signs=b"".join(number.to_bytes(len(row) // 8, "little") for number, row in zip(bits, codes, strict=True)),
        about=b"".join(map(_stored, documents)),
        passages=[*map(len, texts)],
    )


def _stored(vector: Vector) -> bytes:
    """Return a word vector as it is stored, as `stored_bytes` does."""
    if not any(vector):
        return bytes(len(vector))
    return bytes([max(1, min(255, round(value * SCALE) + MIDDLE)) for value in vector])


def stored_bytes(model: Static | Compact | Transformer, vectors: Floats) -> bytes:
    """Return vectors as their tier stores them."""
    if not isinstance(model, Static):
        return quantised.quantised(vectors)
    codes = np.clip(np.rint(vectors * np.float32(SCALE)) + MIDDLE, 1, 255).astype("u1")
    codes[~vectors.any(axis=1)] = 0  # stands for the zero vector, which is similar to nothing
    stored: bytes = codes.tobytes()
    return stored


# --- sums of word vectors for many texts, much faster than `deia.match.static_vectors` computes one ---


PLAIN = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")  # what `words` finds in a lower-case ASCII text …
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")  # … without these characters, which `words` leaves out

FIRST = 4_096  # initial rows of the table
MOST_SUMS = 60_000  # sums that are cached, in about 50 MB


class _Numbers(dict[str, int]):
    """The table row of each token's sum, computed once."""

    __slots__ = ("_number",)

    def __init__(self, number: Callable[[str], int]) -> None:
        self._number = number

    def __missing__(self, word: str) -> int:
        self[word] = number = self._number(word)
        return number


class WordSums:
    """A model's vectors in memory, with the sum of each whitespace-separated token cached.

    The sums are integers far below 2^24, so floats hold them exactly, in whatever order they are added.
    """

    __slots__ = ("_codes", "_gathered", "_model", "_ones", "_rows", "_table", "_tokens", "_words")

    def __init__(self, model: Static) -> None:
        model.learn()
        self._model = model
        self._codes: NDArray[np.uint8] = np.frombuffer(model.codes(), "u1").reshape(-1, model.dimensions)
        self._table: Floats = np.empty((FIRST, model.dimensions), "f4")
        self._rows = 0  # rows of the table that are in use
        self._gathered: Floats = np.empty((MOST_READ, model.dimensions), "f4")
        self._ones: Floats = np.ones(MOST_READ, "f4")
        self._tokens = _Numbers(lambda token: self._add_sum(PLAIN.findall(token)))
        self._words = _Numbers(lambda word: self._add_sum([word]))

    def of(self, texts: Sequence[str]) -> Floats:
        """Return the sum of each text's vectors, one per row; zeros if no token is known."""
        sums: Floats = np.zeros((len(texts), self._codes.shape[1]), "f4")
        for number, text in enumerate(texts):
            if self._rows >= MOST_SUMS:
                self._clear()
            numbers = self._numbers_of(text[:MOST_READ])
            if numbers:  # reusing the buffer makes gathering seven times as fast
                gathered = self._gathered[: len(numbers)]
                self._table.take(numbers, axis=0, out=gathered, mode="clip")
                np.dot(self._ones[: len(numbers)], gathered, out=sums[number])
        return sums

    def _numbers_of(self, text: str) -> list[int]:
        if text.isascii() and not CONTROLS.search(text):
            return [*map(self._tokens.__getitem__, text.lower().split())]
        return [*map(self._words.__getitem__, words(text))]

    def _add_sum(self, words: Sequence[str]) -> int:
        """Add a row with the sum of some normalised words' vectors to the table; return its number."""
        if self._rows == len(self._table):
            self._table = np.concatenate([self._table, np.empty_like(self._table)])
        pieces = [*chain.from_iterable(map(self._model.word, words))]
        self._table[self._rows] = self._codes[pieces].sum(0, dtype="i8") - MIDDLE * len(pieces)
        self._rows += 1
        return self._rows - 1

    def _clear(self) -> None:
        self._tokens.clear()
        self._words.clear()
        self._rows = 0
