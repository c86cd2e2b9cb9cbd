"""Code for the sentence model: what it reads of a passage, and how its vectors come near to what people write.

The model knows sentences, so what a function is called, taken apart into words, comes before its code. Its vectors then
go through a matrix that was learned from documented functions (tools/train_code_map.py), after which they are near to
those of the docstrings. Questions are encoded as ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from deia import fast_json, files
from deia.errors import ArtefactError
from deia.folders import LIBRARY_PREFIX, MODELS
from deia.match.numerics import Floats, np
from deia.match.passage_vectors import scaled_to_one
from deia.match.tokeniser import spelled_out, words
from deia.search.ranking.joined_words import pieces
from deia.search.ranking.weights import CODE_MAP

MOST_SIGNATURE = 200  # characters of a signature's words
FIX = "Install deia again: its map of code is damaged."


def sentence_of_code(path: str, symbol: str, heading: str, text: str) -> str:
    """Return what the sentence model reads of a passage of code: its name in words, where it is, and its text."""
    around, name = parts_of(symbol)
    signature = " ".join(_in_words(signature_of(heading)))[:MOST_SIGNATURE]
    head = f"{' '.join(_in_words(name))} {signature}. {' '.join(_in_words(around))}, {path.replace('/', ' ')}"
    return f"{head}\n{spelled_out(text)}"


def path_of(ident: str) -> str:
    """Return the path of a document of the library within its collection, without its suffix."""
    return ident.removeprefix(LIBRARY_PREFIX).partition("/")[2].rpartition(".")[0]


def parts_of(symbol: str) -> tuple[str, str]:
    """Return what contains a symbol, and its own name; `::` joins names in some languages as `.` does in others."""
    around, _, name = symbol.replace("::", ".").rpartition(".")
    return around, name


def signature_of(heading: str) -> str:
    """Return the signature in a heading, which is `outer > signature`; an outer symbol has no blanks in it."""
    outer, _, signature = heading.partition(" > ")
    return signature if signature and " " not in outer else heading


def _in_words(text: str) -> Iterator[str]:
    """Yield the words of a text, with joined ones taken apart."""
    for word in words(text):
        for part in word[1:] or word:
            yield from pieces(part) or (part,)


def mapped(vectors: Floats) -> Floats:
    """Return the sentence model's unit vectors of code, one per row, as they are compared with questions."""
    change = _installed_map()
    return scaled_to_one(vectors + vectors @ change[:-1] + change[-1])


@cache
def _installed_map() -> Floats:
    return code_map(files.read(f"{MODELS}/{CODE_MAP}") or b"")


def code_map(data: bytes) -> Floats:
    """Return what the map in a file adds to a vector: a matrix, and a last row that is added to every vector.

    Raise ArtefactError if the file is damaged.
    """
    head, _, codes = data.partition(b"\n")
    try:
        header = fast_json.loads(head.decode("ascii"))
        size = header["dimensions"]
        change: Floats = np.frombuffer(codes, "i1").reshape(size + 1, size) * np.float32(header["step"])
    except (ValueError, TypeError, KeyError) as error:
        raise ArtefactError(
            f"the map of code cannot be read: {error!r}", where=f"{MODELS}/{CODE_MAP}", fix=FIX
        ) from error
    return change
