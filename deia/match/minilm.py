"""Meaning by a sentence transformer without its libraries: all-MiniLM-L6-v2, one byte a weight, in numpy.

Made for one query in a cold process and for all passages at compile time: the file is mapped, of the words' table only
the rows of a text are touched, and every matrix is turned into floats when it is needed, into one buffer that stays in
the cache. Refuses a torn or foreign file; reads at most 256 tokens of a text and says nothing about the rest, for a
document is cut into passages before.
"""

from __future__ import annotations

import mmap
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from deia.errors import ArtefactError
from deia.folders import MODELS
from deia.match.numerics import np
from deia.match.static_vectors import CHARACTERS, LONGEST_WORD, MOST_CACHED
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

FILE = "compact.bin"
MAGIC = b"DEIA-M1\n"
# 32-bit numbers, little-endian on every machine
FIELDS = ("length", "tokens", "dimensions", "layers", "heads", "inner", "positions")
NAME_AT = len(MAGIC) + 4 * len(FIELDS)
DIGEST_AT = NAME_AT + 28
HEADER = DIGEST_AT + 32
MOST_LAYERS = 100  # more are no model but noise
MOST_READ = 8_000  # characters of a text: 256 tokens end long before, but for blanks
MOST_TOGETHER = 512  # tokens that go through the network at once: more gain nothing, and cost memory
EPSILON = 1e-12  # of the model's layer norms
# x·Φ(x) = x/2·(1 + tanh(x·(a + b·x² + c·x⁴))), fitted for the least greatest error, 2.5e-5 (exact: erf, which numpy has
# not; the two numbers of Hendrycks and Gimpel, 2016, err by 5e-4). Beyond x² = 30 Φ is 0 or 1.
GELU = (0.7975072, 0.03700624, -0.00035161)
FLAT = 30.0
IN_CACHE = 1 << 16  # floats that are bent at once
FIX = "Install deia again: its file of the sentence model is damaged."


class Layer:
    """One layer's weights as they lie in the file; a matrix is (out, in), its scales belong to `out`."""

    __slots__ = ("attended", "attended_norm", "inner_scales", "mixed", "narrowed", "narrowed_norm", "widened")

    def __init__(self, reader: Reader, wide: int, inner: int) -> None:
        """Read the parts in the order in which they were written."""
        self.mixed = reader.matrix(3 * wide, wide)  # queries (divided by the root of a head's width), keys, values
        self.attended = reader.matrix(wide, wide)
        self.attended_norm = reader.floats(2, wide)
        self.widened = reader.matrix(inner, wide)
        self.inner_scales = reader.floats(inner)  # half of what the columns of `narrowed` were divided by
        self.narrowed = reader.matrix(wide, inner)
        self.narrowed_norm = reader.floats(2, wide)


class Reader:
    """Takes arrays off the file one after another; floats are aligned because all parts are whole words."""

    __slots__ = ("at", "data")

    def __init__(self, data: mmap.mmap | bytes, at: int) -> None:
        self.data = data
        self.at = at

    def take(self, kind: str, *shape: int) -> NDArray[Any]:
        """Give the next array, without copying it.

        Raises:
            ValueError: the file ends before.
        """
        count = 1
        for size in shape:
            count *= size
        found = np.frombuffer(self.data, kind, count=count, offset=self.at).reshape(shape)
        self.at += found.nbytes
        return found

    def floats(self, *shape: int) -> Floats:
        """Give the next floats."""
        return self.take("<f4", *shape)

    def matrix(self, out: int, given: int) -> tuple[NDArray[np.int8], Floats, Floats]:
        """Give the next matrix: bytes, scales of its rows, bias."""
        scales, bias = self.floats(2, out)
        return self.take("i1", out, given), scales, bias


class Compact:
    """The open model. `name`, `dimensions` and `digest` say which it is: vectors of two models do not compare."""

    __slots__ = (
        "_data",
        "_ends",
        "_heads",
        "_known",
        "_layers",
        "_norm",
        "_places",
        "_rows",
        "_scales",
        "_special",
        "_texts",
        "digest",
        "dimensions",
        "name",
    )

    def __init__(self, data: mmap.mmap | bytes) -> None:
        """Check that the parts add up to the file; the content itself is checked by `is_whole`.

        Raises:
            ArtefactError: the bytes are no whole file of this format.
        """
        if len(data) < HEADER or data[: len(MAGIC)] != MAGIC:
            raise ArtefactError("the sentence model is torn or of another format", fix=FIX)
        self._data = data
        self.name = data[NAME_AT:DIGEST_AT].rstrip(b"\0").decode("ascii", "replace")
        self.digest = data[DIGEST_AT:HEADER].hex()
        self._known: dict[str, tuple[int, ...]] = {}
        reader = Reader(data, len(MAGIC))
        try:
            length, *sizes = reader.take("<u4", len(FIELDS)).tolist()
            if length != len(data) or not all(sizes) or sizes[1] % sizes[3]:
                raise ArtefactError("the sentence model is torn", fix=FIX)
            reader.at = HEADER
            self._read(reader, *sizes)
        except ValueError as error:
            raise ArtefactError("the parts of the sentence model do not add up", fix=FIX) from error

    def _read(self, reader: Reader, *sizes: int) -> None:
        tokens, wide, layers, self._heads, inner, positions = sizes
        self.dimensions = wide
        self._scales = reader.floats(tokens)
        self._places = reader.floats(positions, wide)
        self._norm = reader.floats(2, wide)
        if layers > MOST_LAYERS:
            raise ValueError
        self._layers = [Layer(reader, wide, inner) for _ in range(layers)]
        self._rows = reader.take("i1", tokens, wide)
        self._ends = reader.take("<u4", tokens + 1)
        self._texts = reader.at
        if reader.at + int(self._ends[-1]) != len(self._data):
            raise ValueError
        self._special = tuple([self.row(piece) for piece in ("[CLS]", "[SEP]", "[UNK]")])
        if -1 in self._special:
            raise ValueError

    def is_whole(self) -> bool:
        """Say whether the content is what its digest says; reads all of it, for a check-up and for tests."""
        import hashlib  # noqa: PLC0415 - opening does without it

        content = hashlib.sha256(self._data[:DIGEST_AT])
        content.update(self._data[HEADER:])
        return content.hexdigest() == self.digest

    def row(self, piece: str) -> int:
        """Give the number of a WordPiece (`##` before one that continues a word), or -1: they lie in order."""
        key = piece.encode("utf-8", "surrogatepass")
        count = len(self._rows)
        place = bisect_left(range(count), key, key=self._piece)
        return place if place < count and self._piece(place) == key else -1

    def _piece(self, number: int) -> bytes:
        start, end = self._ends[number : number + 2].tolist()
        return self._data[self._texts + start : self._texts + end]

    def tokens(self, text: str) -> list[int]:
        """Give the numbers of a text's tokens between `[CLS]` and `[SEP]`, as many as the model has positions for.

        A text cannot ask for a mark of the model: `[CLS]` in it is two brackets and a word.
        """
        first, last, _ = self._special
        most = len(self._places) - 1
        found = [first]
        for word in text[:MOST_READ].translate(CHARACTERS).split():
            known = self._known.get(word)
            if known is None:
                if len(self._known) > MOST_CACHED:
                    self._known.clear()
                known = self._known[word] = self.pieces(word)
            found += known
            if len(found) >= most:
                break
        return [*found[:most], last]

    def pieces(self, word: str) -> tuple[int, ...]:
        """Cut a normalised word into the longest known WordPieces, from the left; `[UNK]` where one is missing."""
        unknown = (self._special[2],)
        if len(word) > LONGEST_WORD:
            return unknown
        found: list[int] = []
        start, mark = 0, ""
        while start < len(word):
            for end in range(len(word), start, -1):
                row = self.row(mark + word[start:end])
                if row >= 0:
                    break
            else:
                return unknown
            found.append(row)
            start, mark = end, "##"
        return tuple(found)

    def encode_query(self, text: str) -> list[float]:
        """Give the vector of one text, of unit length."""
        vector: list[float] = self._pass([self.tokens(text)])[0].tolist()
        return vector

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Floats:
        """Give the vectors of texts, one a row, of unit length; with several `threads`, in as many at a time."""
        coded = [self.tokens(text) for text in texts]
        # Texts of a length go together, so that no thread is left with all the long ones.
        order = sorted(range(len(coded)), key=lambda number: len(coded[number]))
        batches = _batches(order, [len(one) for one in coded])
        found = np.empty((len(coded), self.dimensions), "f4")

        def work(batch: list[int]) -> None:
            """Put the vectors of some texts in their places."""
            found[batch] = self._pass([coded[number] for number in batch])

        if threads > 1 and len(batches) > 1:
            from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - dear, and of use to a compiler only

            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(work, reversed(batches)))
        else:
            for batch in batches:
                work(batch)
        return found

    def _pass(self, coded: Sequence[list[int]]) -> Floats:
        """Send texts through the network, all tokens one below the other: no text is padded to another's length."""
        ends = np.cumsum([0, *map(len, coded)]).tolist()
        spans = list(pairwise(ends))
        rows = np.array([row for one in coded for row in one])
        state = np.ascontiguousarray((self._rows[rows] * self._scales[rows, None]).T)
        for start, end in spans:
            state[:, start:end] += self._places[: end - start].T
        state = _normalised(state, self._norm)
        buffer = np.empty(max(len(state) * max(3 * len(state), len(one.inner_scales)) for one in self._layers), "f4")
        for layer in self._layers:
            attended = _attended(_applied(layer.mixed, state, buffer), spans, self._heads)
            state = _normalised(state + _applied(layer.attended, attended, buffer), layer.attended_norm)
            wide = _applied(layer.widened, state, buffer)
            _bend(wide, layer.inner_scales)
            state = _normalised(state + _applied(layer.narrowed, wide, buffer), layer.narrowed_norm)
        sums: Floats = np.add.reduceat(state, ends[:-1], axis=1).T
        sums /= np.sqrt(np.einsum("ij,ij->i", sums, sums))[:, None]
        return sums


def _batches(order: Sequence[int], lengths: Sequence[int]) -> list[list[int]]:
    batches: list[list[int]] = []
    held = MOST_TOGETHER
    for number in order:
        if held + lengths[number] > MOST_TOGETHER:
            batches.append([])
            held = 0
        batches[-1].append(number)
        held += lengths[number]
    return batches


def _applied(matrix: tuple[NDArray[np.int8], Floats, Floats], state: Floats, buffer: Floats) -> Floats:
    weights, scales, bias = matrix
    floats = buffer[: weights.size].reshape(weights.shape)
    np.copyto(floats, weights)
    made: Floats = floats @ state
    made *= scales[:, None]
    made += bias[:, None]
    return made


def _normalised(state: Floats, norm: Floats) -> Floats:
    state = state - state.mean(0)
    spread = np.einsum("ij,ij->j", state, state) / np.float32(len(state))
    state /= np.sqrt(spread + np.float32(EPSILON))
    state *= norm[0][:, None]
    state += norm[1][:, None]
    return state


def _attended(mixed: Floats, spans: Sequence[tuple[int, int]], heads: int) -> Floats:
    made = np.empty((len(mixed) // 3, mixed.shape[1]), "f4")
    scratch = np.empty(heads * max(end - start for start, end in spans) ** 2, "f4")
    for start, end in spans:
        size = end - start
        asked, keys, values = mixed[:, start:end].reshape(3, heads, -1, size)
        weights = scratch[: heads * size * size].reshape(heads, size, size)
        np.matmul(keys.transpose(0, 2, 1), asked, out=weights)
        weights -= weights.max(1, keepdims=True)
        np.exp(weights, out=weights)
        found = values @ weights
        found /= weights.sum(1)[:, None, :]
        made[:, start:end] = found.reshape(len(made), size)
    return made


def _bend(state: Floats, scales: Floats) -> None:
    """Apply the model's GELU in place, some rows at a time: what is needed in between stays in the cache."""
    first, second, third = map(np.float32, GELU)
    rows = max(1, IN_CACHE // state.shape[1])
    for start in range(0, len(state), rows):
        given = state[start : start + rows]
        squares = given * given
        np.minimum(squares, np.float32(FLAT), out=squares)
        turned = squares * third
        turned += second
        turned *= squares
        turned += first
        turned *= given
        np.tanh(turned, out=turned)
        turned += np.float32(1)
        given *= turned
        given *= scales[start : start + rows, None]


def open_compact(path: str = "") -> Compact:
    """Map the model that came with deia, or the one at `path`.

    Raises:
        ArtefactError: the file is missing, torn, or of another format.
    """
    place = path or f"{MODELS}/{FILE}"
    try:
        with open(place, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped, a NUL is no path
        raise ArtefactError("the sentence model cannot be read", where=place, fix=FIX) from error
    return Compact(data)
