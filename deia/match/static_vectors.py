"""Meaning of short texts by static vectors: one small vector a token, added up, from a memory-mapped file.

The vectors imitate a sentence transformer (deia/models/README.md); the tokens are its WordPieces. Made for cold
processes: no numpy is imported, though one that is already there is used. Refuses a torn or foreign file, and promises
no more than the topic of a text: who does what to whom is not in a sum of words.
"""

from __future__ import annotations

import mmap
import sys
from itertools import repeat
from math import dist, sqrt

from deia.errors import ArtefactError
from deia.folders import MODELS
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

FILE = "static.bin"
MAGIC = b"DEIA-S1\n"
FIELDS = ("length", "tokens", "dimensions", "buckets", "longest")  # 32-bit, little-endian on every machine
NAME_AT = len(MAGIC) + 4 * len(FIELDS)
DIGEST_AT = NAME_AT + 20
HEADER = DIGEST_AT + 32
MOST_READ = 2_000  # characters of a text; a longer one is a document, to be cut into chunks before
LONGEST_WORD = 100  # BERT's tokenizer gives up on longer ones, and so did the model these vectors learned from
MOST_CACHED = 20_000  # characters
MOST_WORDS = 200_000  # that are remembered with their rows: a compile meets as many, a hook a few dozen
WHOLE = "="  # before a word that has a vector of its own: no word begins with it, for it is punctuation
MIDDLE = 128  # bytes stand for -127…127 around it; 0 is never a component
SCALE = 360.0  # of a unit vector's components in storage: ±.35, five standard deviations at 192 dimensions
BEYOND = -1.2  # a cosine that only the distance to a stored zero vector comes to
FIX = "Install deia again: its file of word vectors is damaged."


class _Characters(dict[int, str]):
    """What BERT's uncased normaliser makes of each character; filled as characters turn up."""

    def __missing__(self, code: int) -> str:
        """Give small letters without accents, spaces around punctuation and ideographs, nothing for controls."""
        if len(self) > MOST_CACHED:
            self.clear()
        self[code] = made = _ascii(chr(code)) if code < 0x80 else _beyond_ascii(code)
        return made


def _ascii(char: str) -> str:
    if char.isalnum():
        return char.lower()
    if char in " \t\n\r":
        return " "
    return f" {char} " if char.isprintable() else ""


def _beyond_ascii(code: int) -> str:
    import unicodedata  # noqa: PLC0415 - a megabyte that plain English does not need

    char = chr(code)
    category = unicodedata.category(char)
    if category in {"Cc", "Cf", "Co", "Cs"} or code == 0xFFFD:
        return ""
    if category[0] == "Z":
        return " "
    made = ""
    for part in unicodedata.normalize("NFD", char):
        kind = unicodedata.category(part)
        if kind[0] == "P" or (part.isascii() and not part.isalnum()):
            made += f" {part} "
        elif kind != "Mn":
            made += part.lower()
    return f" {made} " if _ideograph(code) else made


def _ideograph(code: int) -> bool:
    """Say whether BERT cuts around a character: the CJK blocks of its tokenizer, its gap at U+2B820 included."""
    return (
        0x4E00 <= code <= 0x9FFF
        or 0x3400 <= code <= 0x4DBF
        or 0x20000 <= code <= 0x2A6DF
        or 0x2A700 <= code <= 0x2B81F
        or 0x2B920 <= code <= 0x2CEAF
        or 0xF900 <= code <= 0xFAFF
        or 0x2F800 <= code <= 0x2FA1F
    )


CHARACTERS = _Characters()


def words(text: str) -> list[str]:
    """Cut the first 2,000 characters of a text into normalised words as the uncased BERT tokenizer does.

    Its marks (`[CLS]`) are plain text here, and characters younger than its Unicode tables may be judged differently.
    """
    return text[:MOST_READ].translate(CHARACTERS).split()


def bucket(piece: bytes, count: int) -> int:
    """Give the bucket of a piece; arithmetic, because `hash` of text is salted anew in every process."""
    return int.from_bytes(piece, "little") % count


class Static:
    """The open vectors. `name`, `dimensions` and `digest` say which they are: vectors of two models do not compare."""

    __slots__ = (
        "_buckets",
        "_data",
        "_known",
        "_longest",
        "_numbers",
        "_rows",
        "_texts",
        "_tokens",
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
            raise ArtefactError("the word vectors are torn or of another format", fix=FIX)
        self._data = data
        fields = [self._number(len(MAGIC) + 4 * field) for field in range(len(FIELDS))]
        length, self._tokens, self.dimensions, self._buckets, self._longest = fields
        self._texts = HEADER + 8 * (self._buckets + 1)
        if length != len(data) or self._texts > length or not self._buckets or not self.dimensions:
            raise ArtefactError("the word vectors are torn", fix=FIX)
        self._rows = self._texts + self._number(self._texts - 8)
        if self._rows + self._tokens * self.dimensions != length or self._number(self._texts - 4) != self._tokens:
            raise ArtefactError("the parts of the word vectors do not add up", fix=FIX)
        self.name = data[NAME_AT:DIGEST_AT].rstrip(b"\0").decode("ascii", "replace")
        self.digest = data[DIGEST_AT:HEADER].hex()
        self._known: dict[str, tuple[int, ...]] = {}
        self._numbers: dict[str, int] | None = None

    def _number(self, at: int) -> int:
        return int.from_bytes(self._data[at : at + 4], "little")

    def is_whole(self) -> bool:
        """Say whether the content is what its digest says; reads all of it, for a check-up and for tests."""
        import hashlib  # noqa: PLC0415 - opening does without it

        content = hashlib.sha256(self._data[:DIGEST_AT])
        content.update(self._data[HEADER:])
        return content.hexdigest() == self.digest

    def row(self, piece: str) -> int:
        """Give the number of a WordPiece (`##` before one that continues a word) or whole word (`=`), or -1."""
        if self._numbers is not None:
            return self._numbers.get(piece, -1)
        key = piece.encode("utf-8", "surrogatepass")
        at = HEADER + 8 * bucket(key, self._buckets)
        start, end = self._texts + self._number(at), self._texts + self._number(at + 8)
        held = self._data[start : min(end, self._rows)]
        place = held.find(b"\0" + key + b"\0")
        if place < 0:
            return -1
        row = self._number(at + 4) + held.count(b"\0", 0, place)
        return row if row < self._tokens else -1

    def rows(self, text: str) -> list[int]:
        """Give the numbers of the vectors that make up a text's first 2,000 characters, in order.

        A word is one vector where it has its own, else those of its WordPieces, else none.
        """
        found: list[int] = []
        for word in words(text):
            known = self._known.get(word)
            if known is None:
                if len(self._known) > MOST_WORDS:
                    self._known.clear()
                known = self._known[word] = self.word(word)
            found += known
        return found

    def word(self, word: str) -> tuple[int, ...]:
        """Give the numbers of the vectors of one normalised word: its own, or those of its WordPieces."""
        whole = self.row(WHOLE + word)
        return (whole,) if whole >= 0 else self.pieces(word)

    def pieces(self, word: str) -> tuple[int, ...]:
        """Cut a normalised word into the longest known WordPieces, from the left; none where one is missing."""
        if len(word) > LONGEST_WORD:
            return ()
        found: list[int] = []
        start, mark = 0, ""
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                row = self.row(mark + word[start:end])
                if row >= 0:
                    break
            else:
                return ()
            found.append(row)
            start, mark = end, "##"
        return tuple(found)

    def learn(self) -> None:
        """Read all pieces into memory, for who is about to look up hundreds of thousands: worth it from a few hundred.

        Costs 50 ms and some megabytes.
        """
        if self._numbers is None:
            self._numbers = dict(self._pieces())

    def codes(self) -> memoryview:
        """Give all vectors as they are stored, row after row."""
        return memoryview(self._data)[self._rows :]

    def whole_words(self) -> Iterator[tuple[str, int]]:
        """Give every word that is one vector, with its row; of a word that the model has also in pieces, its own."""
        whole, begun = dict[str, int](), dict[str, int]()
        for text, row in self._pieces():
            (whole if text.startswith(WHOLE) else begun)[text.removeprefix(WHOLE)] = row
        yield from sorted({word: row for word, row in {**begun, **whole}.items() if word[:2] != "##"}.items())

    def _pieces(self) -> Iterator[tuple[str, int]]:
        """Give every WordPiece and whole word, as `row` takes it, with its row."""
        for number in range(self._buckets):
            at = HEADER + 8 * number
            start, end, row = *map(self._number, (at, at + 8)), self._number(at + 4)
            held = self._data[self._texts + start : self._texts + end].strip(b"\0")
            for place, key in enumerate(held.split(b"\0") if held else ()):
                yield key.decode("utf-8", "replace"), row + place

    def code(self, row: int) -> bytes:
        """Give one vector as it is stored, one byte a dimension around 128."""
        if not 0 <= row < self._tokens:
            raise IndexError(f"the word vectors have no row {row}")
        at = self._rows + row * self.dimensions
        return self._data[at : at + self.dimensions]

    def encode(self, text: str) -> list[float]:
        """Give the vector of a text, of unit length; all zeros where no token is known."""
        sums = self.sums(text)
        length = sqrt(sum([value * value for value in sums]))
        return [value / length for value in sums] if length else [0.0] * self.dimensions

    def sums(self, text: str) -> list[int]:
        """Give the sum of a text's vectors, not scaled to any length; zeros where no token is known."""
        rows = self.rows(text)
        return self._sums(rows) if rows else [0] * self.dimensions

    def _sums(self, rows: list[int]) -> list[int]:
        numpy, wide = _numpy(), self.dimensions
        if numpy is not None:
            table = numpy.frombuffer(self._data, "u1", offset=self._rows).reshape(-1, wide)
            sums: list[int] = (table[rows].sum(0, dtype="i8") - MIDDLE * len(rows)).tolist()
            return sums
        places = [self._rows + row * wide for row in rows]
        columns = zip(*[self._data[place : place + wide] for place in places], strict=True)
        middle = MIDDLE * len(rows)
        return [sum(column) - middle for column in columns]


def _numpy() -> Any:
    """Give numpy where this process has it loaded already; half loaded by another thread does not count."""
    numpy = sys.modules.get("numpy")
    return numpy if hasattr(numpy, "frombuffer") else None


def open_static(path: str = "") -> Static:
    """Map the vectors that came with deia, or those at `path`.

    Raises:
        ArtefactError: the file is missing, torn, or of another format.
    """
    place = path or f"{MODELS}/{FILE}"
    try:
        with open(place, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped, a NUL is no path
        raise ArtefactError("the word vectors cannot be read", where=place, fix=FIX) from error
    return Static(data)


def similarity(left: Sequence[float], right: Sequence[float]) -> float:
    """Give the cosine of two vectors of `encode`; 0 where one of them is zero."""
    return sum([one * other for one, other in zip(left, right, strict=True)])


def quantised(vector: Sequence[float]) -> bytes:
    """Give a vector of `encode` as one byte a dimension, for storage; a zero vector as zeros, which fit nothing."""
    if not any(vector):
        return bytes(len(vector))
    return bytes([min(255, max(1, round(value * SCALE) + MIDDLE)) for value in vector])


def similarities(vector: Sequence[float], codes: bytes | memoryview, dimensions: int) -> list[float]:
    """Give the cosine of a vector with each of those in `codes` (one after another, from `quantised`).

    Exact to about .01: for unit vectors the cosine is 1 - d²/2, and the distance d is what C computes fastest.
    """
    if not any(vector):
        return [0.0] * (len(codes) // dimensions)
    if (numpy := _numpy()) is not None:
        cosines = 1 - _squares(numpy, vector, codes, dimensions) / (2 * SCALE * SCALE)
        found: list[float] = numpy.where(cosines < BEYOND, 0, numpy.clip(cosines, -1, 1)).tolist()
        return found
    return [_cosine(distance) for distance in _distances(vector, codes, dimensions)]


def middle(codes: bytes, dimensions: int) -> list[float]:
    """Give the mean of the vectors in `codes`; what stands for a zero vector does not count."""
    every = [codes[at : at + dimensions] for at in range(0, len(codes) // dimensions * dimensions, dimensions)]
    rows = [row for row in every if any(row)]
    unit, zero = SCALE * len(rows), MIDDLE * len(rows)
    return [(sum(column) - zero) / unit for column in zip(*rows, strict=True)] if rows else [0.0] * dimensions


def best(vector: Sequence[float], codes: bytes | memoryview, dimensions: int) -> tuple[int, float]:
    """Give the number and the cosine of the most similar of the vectors in `codes`; (-1, 0) where there is none."""
    if not any(vector) or len(codes) < dimensions:
        return -1, 0.0
    distances = _distances(vector, codes, dimensions)
    nearest = min(distances)
    found = _cosine(nearest)
    return (distances.index(nearest), found) if found else (-1, 0.0)


def _cosine(distance: float) -> float:
    """Turn a distance into a cosine; further off than any two unit vectors lies what was stored of a zero vector."""
    found = 1 - distance * distance / (2 * SCALE * SCALE)
    return 0.0 if found < BEYOND else min(1.0, max(-1.0, found))


def _distances(vector: Sequence[float], codes: bytes | memoryview, dimensions: int) -> list[float]:
    numpy = _numpy()
    if numpy is None:
        centre, flat = tuple([value * SCALE + MIDDLE for value in vector]), iter(bytes(codes))
        return list(map(dist, repeat(centre), zip(*[flat] * dimensions, strict=False)))
    found: list[float] = numpy.sqrt(_squares(numpy, vector, codes, dimensions)).tolist()
    return found


def _squares(numpy: Any, vector: Sequence[float], codes: bytes | memoryview, dimensions: int) -> Any:
    """Give the squares of the distances, at once."""
    rows = numpy.frombuffer(codes, "u1").reshape(-1, dimensions).astype("f4") - numpy.float32(MIDDLE)
    wanted = numpy.asarray(vector, "f4") * numpy.float32(SCALE)
    squares = numpy.einsum("ij,ij->i", rows, rows) - 2 * (rows @ wanted) + wanted @ wanted
    return numpy.maximum(squares, 0)
