"""The sentence transformer all-MiniLM-L6-v2 in numpy, with one byte per weight and without its libraries.

Made for one query in a cold process as well as for all passages at compile time. The file is memory-mapped, only the
embedding rows of a text are read, and each matrix is converted to floats when it is needed, into one buffer that stays
in the CPU cache. At most 256 tokens of a text are read and the rest is ignored silently, because documents are split
into passages before.
"""

from __future__ import annotations

import mmap
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from deia.errors import ArtefactError
from deia.folders import MODELS
from deia.match.numerics import Floats, NDArray, has_one_thread, np
from deia.match.static_vectors import CHARACTERS, MOST_CACHED, longest_pieces, mapped_model
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    Matrix = tuple[NDArray[np.int8], Floats, Floats]  # bytes, the scales of its rows, its bias
    Network = Callable[[Sequence[list[int]]], Floats]  # from the tokens of texts to unit vectors

FILE = "compact.bin"
MAGIC = b"DEIA-M1\n"
# 32-bit numbers, little-endian on every machine
FIELDS = ("length", "tokens", "dimensions", "layers", "heads", "inner", "positions")
NAME_AT = len(MAGIC) + 4 * len(FIELDS)
DIGEST_AT = NAME_AT + 28
HEADER = DIGEST_AT + 32
MOST_LAYERS = 100  # more than any real model has
MOST_READ = 8_000  # characters of a text; 256 tokens are far fewer, unless the text is mostly blanks
MOST_TOGETHER = 512  # tokens per pass through the network; more cost memory and save no time
EPSILON = 1e-12  # of the model's layer norms
# GELU: x·Φ(x) = x/2·(1 + tanh(x·(a + b·x² + c·x⁴))), fitted for the smallest maximum error, 2.5e-5. (The exact form
# needs erf, which numpy lacks; the two coefficients of Hendrycks and Gimpel, 2016, err by 5e-4.)
# Beyond x² = 30, Φ is 0 or 1.
GELU = (0.7975072, 0.03700624, -0.00035161)
FLAT = 30.0
IN_CACHE = 1 << 16  # floats that GELU is applied to, or that weights of few tokens become, at a time
FEW = 24  # tokens, as a question has: a cold process then takes 19 ms and not 27; of more, whole matrices are faster
FIX = "Install deia again: its file of the sentence model is damaged."


class Layer:
    """One layer's weights as they are stored; a matrix is (out, in), and its scales belong to `out`."""

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
    """Reads consecutive arrays from the file; floats are aligned because all parts are whole words."""

    __slots__ = ("at", "data")

    def __init__(self, data: mmap.mmap | bytes, at: int) -> None:
        self.data = data
        self.at = at

    def take(self, kind: str, *shape: int) -> NDArray[Any]:
        """Return the next array without copying it; raise ValueError if the file ends too early."""
        count = 1
        for size in shape:
            count *= size
        array = np.frombuffer(self.data, kind, count=count, offset=self.at).reshape(shape)
        self.at += array.nbytes
        return array

    def floats(self, *shape: int) -> Floats:
        """Return the next array of floats."""
        return self.take("<f4", *shape)

    def matrix(self, out: int, inputs: int) -> Matrix:
        """Return the next matrix: its bytes, the scales of its rows, and its bias."""
        scales, bias = self.floats(2, out)
        return self.take("i1", out, inputs), scales, bias


class Compact:
    """The open model; `name`, `dimensions` and `digest` identify it, as vectors of two models cannot be compared."""

    __slots__ = (
        "_data",
        "_ends",
        "_known",
        "_special",
        "_texts",
        "digest",
        "dimensions",
        "heads",
        "layers",
        "name",
        "norm",
        "places",
        "rows",
        "scales",
    )

    def __init__(self, data: mmap.mmap | bytes) -> None:
        """Check that the parts match the file's size."""
        if len(data) < HEADER or data[: len(MAGIC)] != MAGIC:
            raise ArtefactError("the sentence model's file is damaged or of another format", fix=FIX)
        self._data = data
        self.name = data[NAME_AT:DIGEST_AT].rstrip(b"\0").decode("ascii", "replace")
        self.digest = data[DIGEST_AT:HEADER].hex()
        self._known: dict[str, tuple[int, ...]] = {}
        reader = Reader(data, len(MAGIC))
        try:
            length, *sizes = reader.take("<u4", len(FIELDS)).tolist()
            if length != len(data) or not all(sizes) or sizes[1] % sizes[3]:
                raise ArtefactError("the sentence model's file is damaged", fix=FIX)
            reader.at = HEADER
            self._read(reader, *sizes)
        except ValueError as error:
            raise ArtefactError("the parts of the sentence model's file do not match its size", fix=FIX) from error

    def _read(self, reader: Reader, *sizes: int) -> None:
        tokens, wide, layers, self.heads, inner, positions = sizes
        self.dimensions = wide
        self.scales = reader.floats(tokens)
        self.places = reader.floats(positions, wide)
        self.norm = reader.floats(2, wide)
        if layers > MOST_LAYERS:
            raise ValueError
        self.layers = [Layer(reader, wide, inner) for _ in range(layers)]
        self.rows = reader.take("i1", tokens, wide)
        self._ends = reader.take("<u4", tokens + 1)
        self._texts = reader.at
        if reader.at + int(self._ends[-1]) != len(self._data):
            raise ValueError
        self._special = tuple([self.row(piece) for piece in ("[CLS]", "[SEP]", "[UNK]")])
        if -1 in self._special:
            raise ValueError

    def row(self, piece: str) -> int:
        """Return the row of a WordPiece (`##` marks a continuation), or -1; the pieces are sorted."""
        key = piece.encode("utf-8", "surrogatepass")
        count = len(self.rows)
        place = bisect_left(range(count), key, key=self._piece)
        return place if place < count and self._piece(place) == key else -1

    def _piece(self, number: int) -> bytes:
        start, end = self._ends[number : number + 2].tolist()
        return self._data[self._texts + start : self._texts + end]

    def tokens(self, text: str) -> list[int]:
        """Return the token numbers of a text between `[CLS]` and `[SEP]`, as many as the model has positions for.

        A marker in the text is plain text: `[CLS]` is read as two brackets and a word.
        """
        first, last, _ = self._special
        most = len(self.places) - 1
        numbers = [first]
        for word in self.normalised(text).split():
            known = self._known.get(word)
            if known is None:
                if len(self._known) > MOST_CACHED:
                    self._known.clear()
                known = self._known[word] = self.pieces(word)
            numbers += known
            if len(numbers) >= most:
                break
        return [*numbers[:most], last]

    def normalised(self, text: str) -> str:
        """Return the words of a text that the model reads, as it knows them: texts that share these are one to it."""
        return " ".join(text[:MOST_READ].translate(CHARACTERS).split()[: len(self.places)])

    def pieces(self, word: str) -> tuple[int, ...]:
        """Split a normalised word into the longest known WordPieces, from the left; `[UNK]` if one is missing."""
        return longest_pieces(word, self.row) or (self._special[2],)

    def encode_query(self, text: str) -> list[float]:
        """Return the unit vector of one text."""
        vector: list[float] = self._pass([self.tokens(text)])[0].tolist()
        return vector

    def encode(self, texts: Sequence[str], *, threads: int = 1, network: Network | None = None) -> Floats:
        """Return the unit vectors of texts, one per row, computed in this many `threads` if numpy has one of its own.

        `network` is what runs the model instead of numpy (`deia.match.onnx_network`).
        """
        coded = [self.tokens(text) for text in texts]
        # Texts of similar length share a batch, so that no thread gets all the long ones.
        order = sorted(range(len(coded)), key=lambda number: len(coded[number]))
        batches = _batches(order, [len(tokens) for tokens in coded])
        vectors = np.empty((len(coded), self.dimensions), "f4")
        run = network or self._pass

        def work(batch: list[int]) -> None:
            """Encode one batch and store its vectors in their rows."""
            vectors[batch] = run([coded[number] for number in batch])

        if threads > 1 and len(batches) > 1 and (network or has_one_thread()):
            from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - slow to import, and only the compiler needs it

            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(work, reversed(batches)))
        else:
            for batch in batches:
                work(batch)
        return vectors

    def _pass(self, coded: Sequence[list[int]]) -> Floats:
        """Run texts through the network with their tokens concatenated, so that no text needs padding."""
        ends = np.cumsum([0, *map(len, coded)]).tolist()
        spans = list(pairwise(ends))
        rows = np.array([row for tokens in coded for row in tokens])
        state = np.ascontiguousarray((self.rows[rows] * self.scales[rows, None]).T)
        for start, end in spans:
            state[:, start:end] += self.places[: end - start].T
        state = _normalised(state, self.norm)
        most = max(len(state) * max(3 * len(state), len(layer.inner_scales)) for layer in self.layers)
        buffer = np.empty(most, "f4")
        for layer in self.layers:
            attended = _attended(_applied(layer.mixed, state, buffer), spans, self.heads)
            state = _normalised(state + _applied(layer.attended, attended, buffer), layer.attended_norm)
            widened = _applied(layer.widened, state, buffer)
            _bend(widened, layer.inner_scales)
            state = _normalised(state + _applied(layer.narrowed, widened, buffer), layer.narrowed_norm)
        return unit(np.add.reduceat(state, ends[:-1], axis=1).T)


def unit(sums: Floats) -> Floats:
    """Scale vectors, one per row, to the length 1."""
    sums /= np.sqrt(np.einsum("ij,ij->i", sums, sums))[:, None]
    return sums


def _batches(order: Sequence[int], lengths: Sequence[int]) -> list[list[int]]:
    batches: list[list[int]] = []
    tokens = MOST_TOGETHER
    for number in order:
        if tokens + lengths[number] > MOST_TOGETHER:
            batches.append([])
            tokens = 0
        batches[-1].append(number)
        tokens += lengths[number]
    return batches


def _applied(matrix: Matrix, state: Floats, buffer: Floats) -> Floats:
    """Multiply a matrix with the state of all tokens; of few, some rows at a time, which stay in the CPU cache."""
    weights, scales, bias = matrix
    result = np.empty((len(weights), state.shape[1]), "f4")
    rows = len(weights) if state.shape[1] > FEW else max(1, IN_CACHE // weights.shape[1])
    for start in range(0, len(weights), rows):
        block = weights[start : start + rows]
        floats = buffer[: block.size].reshape(block.shape)
        np.copyto(floats, block)
        np.matmul(floats, state, out=result[start : start + rows])
    result *= scales[:, None]
    result += bias[:, None]
    return result


def _normalised(state: Floats, norm: Floats) -> Floats:
    state = state - state.mean(0)
    spread = np.einsum("ij,ij->j", state, state) / np.float32(len(state))
    state /= np.sqrt(spread + np.float32(EPSILON))
    state *= norm[0][:, None]
    state += norm[1][:, None]
    return state


def _attended(mixed: Floats, spans: Sequence[tuple[int, int]], heads: int) -> Floats:
    result = np.empty((len(mixed) // 3, mixed.shape[1]), "f4")
    scratch = np.empty(heads * max(end - start for start, end in spans) ** 2, "f4")
    for start, end in spans:
        size = end - start
        queries, keys, values = mixed[:, start:end].reshape(3, heads, -1, size)
        weights = scratch[: heads * size * size].reshape(heads, size, size)
        np.matmul(keys.transpose(0, 2, 1), queries, out=weights)
        weights -= weights.max(1, keepdims=True)
        np.exp(weights, out=weights)
        attended = values @ weights
        attended /= weights.sum(1)[:, None, :]
        result[:, start:end] = attended.reshape(len(result), size)
    return result


def _bend(state: Floats, scales: Floats) -> None:
    """Apply the model's GELU in place, some rows at a time so that intermediate values stay in the CPU cache."""
    first, second, third = map(np.float32, GELU)
    rows = max(1, IN_CACHE // state.shape[1])
    for start in range(0, len(state), rows):
        block = state[start : start + rows]
        squares = block * block
        np.minimum(squares, np.float32(FLAT), out=squares)
        inner = squares * third
        inner += second
        inner *= squares
        inner += first
        inner *= block
        np.tanh(inner, out=inner)
        inner += np.float32(1)
        block *= inner
        block *= scales[start : start + rows, None]


def installed_digest() -> str:
    """Return the digest of the model that is installed with deia, without opening it, which takes numpy."""
    data = mapped_model(f"{MODELS}/{FILE}", "the sentence model's file", fix=FIX)
    return data[DIGEST_AT:HEADER].hex()


def open_compact(path: str = "") -> Compact:
    """Map the model that is installed with deia, or the one at `path`."""
    return Compact(mapped_model(path or f"{MODELS}/{FILE}", "the sentence model's file", fix=FIX))
