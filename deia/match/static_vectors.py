"""Static vectors of short texts: one small vector per token, summed, from a memory-mapped file.

The vectors imitate a sentence transformer (deia/models/README.md), and the tokens are its WordPieces. This is made for
cold processes: numpy is not imported, but it is used if it is already loaded. A sum of words captures the topic of a
text and no more: who does what to whom is lost.
"""

from __future__ import annotations

import mmap
import sys
from itertools import repeat
from math import dist, sqrt
from operator import mul

from deia.errors import ArtefactError
from deia.folders import MODELS
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import ModuleType

    from numpy import float32
    from numpy.typing import NDArray

FILE = "static.bin"
MAGIC = b"DEIA-S1\n"
FIELDS = ("length", "tokens", "dimensions", "buckets", "longest")  # 32-bit numbers, little-endian on every machine
NAME_AT = len(MAGIC) + 4 * len(FIELDS)
DIGEST_AT = NAME_AT + 20
HEADER = DIGEST_AT + 32
MOST_READ = 2_000  # characters of a text; callers split longer documents into chunks
LONGEST_WORD = 100  # characters; BERT's tokenizer gives up on longer words, and so did the model that was imitated
MOST_CACHED = 20_000  # characters
MOST_WORDS = 200_000  # cached with their rows; a compile meets that many, the hook a few dozen
WHOLE = "="  # prefix of a word with its own vector; no word begins with it because it is punctuation
MIDDLE = 128  # bytes encode -127…127 around this value; 0 is never a component
SCALE = 360.0  # of a unit vector's components in storage: ±.35, five standard deviations at 192 dimensions
LETTERS = "abcdefghijklmnopqrstuvwxyz"
BEYOND = -1.2  # below this, a computed cosine comes from a stored zero vector
FIX = "Install deia again: its file of word vectors is damaged."


class _Characters(dict[int, str]):
    """The output of BERT's uncased normaliser for each character; filled as characters turn up."""

    def __missing__(self, code: int) -> str:
        """Return lower case without accents, spaces around punctuation and ideographs, nothing for controls."""
        if len(self) > MOST_CACHED:
            self.clear()
        self[code] = normalised = _ascii(chr(code)) if code < 0x80 else _beyond_ascii(code)
        return normalised


def _ascii(char: str) -> str:
    if char.isalnum():
        return char.lower()
    if char in " \t\n\r":
        return " "
    return f" {char} " if char.isprintable() else ""


def _beyond_ascii(code: int) -> str:
    import unicodedata  # noqa: PLC0415 - takes a megabyte, and plain English does not need it

    char = chr(code)
    category = unicodedata.category(char)
    if category in {"Cc", "Cf", "Co", "Cs"} or code == 0xFFFD:
        return ""
    if category[0] == "Z":
        return " "
    normalised = ""
    for part in unicodedata.normalize("NFD", char):
        kind = unicodedata.category(part)
        if kind[0] == "P" or (part.isascii() and not part.isalnum()):
            normalised += f" {part} "
        elif kind != "Mn":
            normalised += part.lower()
    return f" {normalised} " if _ideograph(code) else normalised


def _ideograph(code: int) -> bool:
    """Return whether BERT splits around a character: the CJK blocks of its tokenizer, with its gap at U+2B820."""
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
    """Return the normalised words in the first 2,000 characters of a text, split as the uncased BERT tokenizer does.

    BERT's markers (`[CLS]`) are plain text here, and characters newer than its Unicode tables may be treated
    differently.
    """
    return text[:MOST_READ].translate(CHARACTERS).split()


def bucket(piece: bytes, count: int) -> int:
    """Return the bucket of a piece. This is arithmetic because `hash` of text changes with every process."""
    return int.from_bytes(piece, "little") % count


class Static:
    """The open vectors; `name`, `dimensions` and `digest` identify them: vectors of two models cannot be compared."""

    __slots__ = (
        "_buckets",
        "_data",
        "_known",
        "_longest",
        "_numbers",
        "_respelled",
        "_rows",
        "_texts",
        "_tokens",
        "digest",
        "dimensions",
        "name",
    )

    def __init__(self, data: mmap.mmap | bytes) -> None:
        """Check that the parts match the file's size."""
        if len(data) < HEADER or data[: len(MAGIC)] != MAGIC:
            raise ArtefactError("the file of word vectors is damaged or of another format", fix=FIX)
        self._data = data
        fields = [self._number(len(MAGIC) + 4 * field) for field in range(len(FIELDS))]
        length, self._tokens, self.dimensions, self._buckets, self._longest = fields
        self._texts = HEADER + 8 * (self._buckets + 1)
        if length != len(data) or self._texts > length or not self._buckets or not self.dimensions:
            raise ArtefactError("the file of word vectors is damaged", fix=FIX)
        self._rows = self._texts + self._number(self._texts - 8)
        if self._rows + self._tokens * self.dimensions != length or self._number(self._texts - 4) != self._tokens:
            raise ArtefactError("the parts of the file of word vectors do not match its size", fix=FIX)
        self.name = data[NAME_AT:DIGEST_AT].rstrip(b"\0").decode("ascii", "replace")
        self.digest = data[DIGEST_AT:HEADER].hex()
        self._known: dict[str, tuple[int, ...]] = {}
        self._numbers: dict[str, int] | None = None
        self._respelled: dict[str, str] = {}

    def _number(self, at: int) -> int:
        return int.from_bytes(self._data[at : at + 4], "little")

    def row(self, piece: str) -> int:
        """Return the row of a WordPiece (`##` marks a continuation) or of a whole word (`=`), or -1."""
        if self._numbers is not None:
            return self._numbers.get(piece, -1)
        key = piece.encode("utf-8", "surrogatepass")
        at = HEADER + 8 * bucket(key, self._buckets)
        start, end = self._texts + self._number(at), self._texts + self._number(at + 8)
        bucket_text = self._data[start : min(end, self._rows)]
        place = bucket_text.find(b"\0" + key + b"\0")
        if place < 0:
            return -1
        row = self._number(at + 4) + bucket_text.count(b"\0", 0, place)
        return row if row < self._tokens else -1

    def rows(self, text: str) -> list[int]:
        """Return the rows of the vectors that make up a text's first 2,000 characters, in order.

        A word has one row if it has its own vector, otherwise those of its WordPieces, otherwise none.
        """
        numbers: list[int] = []
        for word in words(text):
            cached = self._known.get(word)
            if cached is None:
                if len(self._known) > MOST_WORDS:
                    self._known.clear()
                cached = self._known[word] = self.word(word)
            numbers += cached
        return numbers

    def word(self, word: str) -> tuple[int, ...]:
        """Return the rows of one normalised word: its own, or those of its WordPieces."""
        whole = self.row(WHOLE + word)
        return (whole,) if whole >= 0 else self.pieces(word)

    def pieces(self, word: str) -> tuple[int, ...]:
        """Split a normalised word into the longest known WordPieces, from the left; empty if one is missing."""
        return longest_pieces(word, self.row, longest=self._longest)

    def respelled(self, word: str) -> str:
        """Return the most usual known word that is one edit from a word, or "" if the word is known or none is.

        The first letter stays. Letters in another order come before others; the shorter its vector, the more usual is
        a word.
        """
        if len(self._respelled) > MOST_WORDS:
            self._respelled.clear()
        nearest = self._respelled.get(word)
        if nearest is None:
            letters, known = sorted(word), [] if self._has(word) else [*filter(self._has, one_edit_away(word))]
            by_length = {near: sum(map(mul, *[self.sums(near)] * 2)) for near in known}
            nearest = min(known, key=lambda near: (sorted(near) != letters, by_length[near]), default="")
            self._respelled[word] = nearest
        return nearest

    def _has(self, word: str) -> bool:
        return self.row(WHOLE + word) >= 0 or self.row(word) >= 0

    def learn(self) -> None:
        """Read all pieces into memory, for callers with hundreds of lookups or more. Costs 50 ms and some megabytes."""
        if self._numbers is None:
            self._numbers = dict(self._pieces())

    def codes(self) -> memoryview:
        """Return all vectors as they are stored, row after row."""
        return memoryview(self._data)[self._rows :]

    def _pieces(self) -> Iterator[tuple[str, int]]:
        """Yield every WordPiece and whole word, spelled as `row` expects, with its row."""
        for number in range(self._buckets):
            at = HEADER + 8 * number
            start, end, row = *map(self._number, (at, at + 8)), self._number(at + 4)
            bucket_text = self._data[self._texts + start : self._texts + end].strip(b"\0")
            for place, key in enumerate(bucket_text.split(b"\0") if bucket_text else ()):
                yield key.decode("utf-8", "replace"), row + place

    def code(self, row: int) -> bytes:
        """Return one stored vector, one byte per dimension around 128."""
        if not 0 <= row < self._tokens:
            raise IndexError(f"the word vectors have no row {row}")
        at = self._rows + row * self.dimensions
        return self._data[at : at + self.dimensions]

    def encode(self, text: str) -> list[float]:
        """Return the unit vector of a text, or zeros if none of its tokens are known."""
        return unit(self.sums(text))

    def sums(self, text: str) -> list[int]:
        """Return the sum of a text's vectors, not normalised; zeros if none of its tokens are known."""
        rows = self.rows(text)
        return self._sums(rows) if rows else [0] * self.dimensions

    def _sums(self, rows: list[int]) -> list[int]:
        numpy, wide = loaded_numpy(), self.dimensions
        if numpy is not None:
            table = numpy.frombuffer(self._data, "u1", offset=self._rows).reshape(-1, wide)
            sums: list[int] = (table[rows].sum(0, dtype="i8") - MIDDLE * len(rows)).tolist()
            return sums
        places = [self._rows + row * wide for row in rows]
        columns = zip(*[self._data[place : place + wide] for place in places], strict=True)
        middle = MIDDLE * len(rows)
        return [sum(column) - middle for column in columns]


def one_edit_away(word: str) -> list[str]:
    """Return what one deletion, swap, substitution or insertion of a letter makes of a word, but for its beginning."""
    made: dict[str, None] = {}
    for at in range(1, len(word) + 1):
        start, end = word[:at], word[at:]
        made.update(dict.fromkeys([start + end[1:], start + end[1:2] + end[:1] + end[2:]] if end else []))
        made.update(dict.fromkeys(start + letter + rest for letter in LETTERS for rest in (end, end[1:])))
    made.pop(word, None)
    return list(made)


def longest_pieces(word: str, row: Callable[[str], int], *, longest: int = LONGEST_WORD) -> tuple[int, ...]:
    """Return the rows of the longest known WordPieces of a word, from the left; none if one is missing.

    `row` returns the row of a piece, or -1; no piece has more than `longest` characters.
    """
    rows: list[int] = []
    start, mark = 0, ""
    while start < len(word) <= LONGEST_WORD:
        for end in range(min(len(word), start + longest), start, -1):
            number = row(mark + word[start:end])
            if number >= 0:
                break
        else:
            return ()
        rows.append(number)
        start, mark = end, "##"
    return tuple(rows)


def mapped_model(path: str, what: str, *, fix: str) -> mmap.mmap:
    """Map a model's file into memory; raise ArtefactError if it is missing or empty."""
    try:
        with open(path, "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # ValueError: the file is empty, or the path contains NUL
        raise ArtefactError(f"{what} cannot be read", where=path, fix=fix) from error


def loaded_numpy() -> ModuleType | None:
    """Return numpy if this process has fully loaded it already, else None."""
    numpy = sys.modules.get("numpy")
    return numpy if hasattr(numpy, "frombuffer") else None


def open_static(path: str = "") -> Static:
    """Map the vectors that are installed with deia, or those at `path`."""
    return Static(mapped_model(path or f"{MODELS}/{FILE}", "the file of word vectors", fix=FIX))


def unit(vector: Sequence[float]) -> list[float]:
    """Return a vector at the length 1; a zero vector stays."""
    length = sqrt(sum([value * value for value in vector])) or 1.0
    return [value / length for value in vector]


def similarities(vector: Sequence[float], codes: bytes | memoryview, dimensions: int) -> list[float]:
    """Return the cosine of a vector with each of the concatenated vectors in `codes`.

    Exact to about .01. For unit vectors the cosine is 1 - d²/2, and C computes the distance d fastest.
    """
    if not any(vector):
        return [0.0] * (len(codes) // dimensions)
    if (numpy := loaded_numpy()) is not None:
        cosines = 1 - _squares(numpy, vector, codes, dimensions) / (2 * SCALE * SCALE)
        clipped: list[float] = numpy.where(cosines < BEYOND, 0, numpy.clip(cosines, -1, 1)).tolist()
        return clipped
    centre, flat = tuple([value * SCALE + MIDDLE for value in vector]), iter(bytes(codes))
    return [*map(_cosine, map(dist, repeat(centre), zip(*[flat] * dimensions, strict=False)))]


def middle(codes: bytes, dimensions: int) -> list[float]:
    """Return the mean of the vectors in `codes`, not counting stored zero vectors."""
    stored = [codes[at : at + dimensions] for at in range(0, len(codes) // dimensions * dimensions, dimensions)]
    rows = [row for row in stored if any(row)]
    unit, zero = SCALE * len(rows), MIDDLE * len(rows)
    return [(sum(column) - zero) / unit for column in zip(*rows, strict=True)] if rows else [0.0] * dimensions


def _cosine(distance: float) -> float:
    """Return a distance as a cosine; a distance greater than any between unit vectors means a stored zero vector."""
    cosine = 1 - distance * distance / (2 * SCALE * SCALE)
    return 0.0 if cosine < BEYOND else min(1.0, max(-1.0, cosine))


def _squares(
    numpy: ModuleType, vector: Sequence[float], codes: bytes | memoryview, dimensions: int
) -> NDArray[float32]:
    """Return the squared distances, computed together."""
    rows = numpy.frombuffer(codes, "u1").reshape(-1, dimensions).astype("f4") - numpy.float32(MIDDLE)
    scaled = numpy.asarray(vector, "f4") * numpy.float32(SCALE)
    squares = numpy.einsum("ij,ij->i", rows, rows) - 2 * (rows @ scaled) + scaled @ scaled
    nonnegative: NDArray[float32] = numpy.maximum(squares, 0)
    return nonnegative
