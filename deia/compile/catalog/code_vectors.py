"""Vectors of code, near to the word vectors of what people write about it.

Word vectors know what *sequence* means, but hardly what `seq`, `iter` and `append` come to together. So the words of
code have vectors of their own, which were learned from documented functions (tools/train_code_words.py): their sum is
near to what the word vectors make of the docstring. Questions are encoded with the word vectors as ever; only compiles
read this file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from operator import add

from deia import fast_json, files
from deia.compile.catalog.effort import CODE_WORDS as FILE
from deia.compile.catalog.stems import STEMS
from deia.errors import ArtefactError
from deia.folders import MODELS
from deia.knowledge import Chunk
from deia.match.numerics import Floats, np
from deia.match.passage_vectors import scaled_to_one
from deia.match.static_vectors import loaded_numpy, unit
from deia.match.tokeniser import words
from deia.records import TYPE_CHECKING
from deia.search.ranking.code_sentences import parts_of, path_of, signature_of
from deia.search.ranking.joined_words import pieces

if TYPE_CHECKING:
    from deia.match.passage_vectors import Vector

MOST = (8, 8, 14, 30, 90)  # words of a passage's path, of what it is in, of its name, of its signature, of its text
FIX = "Install deia again: its file of code words is damaged."


class CodeWords:
    """The vectors of words of code, and how much each field of a passage counts."""

    __slots__ = ("_codes", "dimensions", "fields", "numbers", "step")

    def __init__(self, data: bytes) -> None:
        head, _, rest = data.partition(b"\n")
        listed, _, codes = rest.partition(b"\n\n")
        try:
            header = fast_json.loads(head.decode("ascii"))
            stems = listed.decode("utf-8").split("\n")
            self.dimensions, self.step = int(header["dimensions"]), float(header["step"])
            self.fields: Sequence[float] = [float(share) for share in header["fields"]]
        except (ValueError, TypeError, KeyError) as error:
            raise ArtefactError(f"the file of code words cannot be read: {error!r}", fix=FIX) from error
        if len(codes) != len(stems) * self.dimensions:
            raise ArtefactError("the file of code words does not have a vector for each of them", fix=FIX)
        self._codes = memoryview(codes).cast("b")
        if len(self.fields) != len(MOST):
            raise ArtefactError("the file of code words has other fields than passages have", fix=FIX)
        self.numbers = {stem: number for number, stem in enumerate(stems)}

    def of(self, fields: Sequence[Sequence[str]]) -> Floats:
        """Return the unscaled vector of a passage from the stems of its fields; zeros if none of them is known."""
        table, vector = np.frombuffer(self._codes, "i1").reshape(-1, self.dimensions), np.zeros(self.dimensions)
        for rows, weight in self._rows(fields):
            vector += table[rows].sum(0, dtype="i8") * weight
        return vector

    def without_numpy(self, fields: Sequence[Sequence[str]]) -> Vector:
        """Return what `of` does."""
        vector, wide = [0.0] * self.dimensions, self.dimensions
        for rows, weight in self._rows(fields):
            columns = zip(*(self._codes[row * wide : (row + 1) * wide] for row in rows), strict=True)
            vector = [*map(add, vector, (sum(column) * weight for column in columns))]
        return vector

    def _rows(self, fields: Sequence[Sequence[str]]) -> Iterator[tuple[list[int], float]]:
        """Yield the rows of the known stems of each field that has any, and the weight of their sum."""
        for stems, share in zip(fields, self.fields, strict=True):
            if rows := [self.numbers[stem] for stem in stems if stem in self.numbers]:
                yield rows, self.step * share / len(rows) ** 0.5


def vectors_of_code(chunks: Sequence[Chunk], ident: str) -> Sequence[Vector] | Floats:
    """Return the unit vectors of passages of a file of code, one per row; with numpy if it is loaded."""
    path, known = path_of(ident), code_words()
    fields = (fields_of(path, chunk.symbol, chunk.heading, chunk.text) for chunk in chunks)
    if loaded_numpy() is None:
        return [unit(known.without_numpy(each)) for each in fields]
    return scaled_to_one(np.array([*map(known.of, fields)], "f8").reshape(len(chunks), known.dimensions))


def fields_of(path: str, symbol: str, heading: str, text: str) -> list[list[str]]:
    """Return the stems of a passage of code by field, each once; of a long path, the last ones."""
    around, name = parts_of(symbol)
    fields = zip((around, name, signature_of(heading), text), MOST[1:], strict=True)
    return [_stems(path, len(path))[-MOST[0] :], *(_stems(field, most) for field, most in fields)]


def _stems(text: str, most: int) -> list[str]:
    """Return the first `most` stems of a text, each once, reading no more of it than necessary."""
    parts = (part for word in words(text) for part in (word[1:] or word))
    stems: dict[str, None] = {}
    for stem in (STEMS[piece] for part in parts for piece in (part, *pieces(part))):
        if len(stems) >= most:
            break
        if stem:
            stems[stem] = None
    return list(stems)


@cache
def code_words() -> CodeWords:
    """Return the words of code that are installed with deia."""
    data = files.read(f"{MODELS}/{FILE}")
    if data is None:
        raise ArtefactError("the file of code words cannot be read", where=f"{MODELS}/{FILE}", fix=FIX)
    return CodeWords(data)
