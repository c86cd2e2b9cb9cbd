"""The terms of a passage of code: those of its text, its name and what contains it, with joined words taken apart."""

from __future__ import annotations

from deia.knowledge import Chunk
from deia.match.tokeniser import terms, words
from deia.search.ranking.code_sentences import parts_of
from deia.search.ranking.joined_words import pieces

# How often the words of a field are counted. Those of the text count once, since how often a variable is used means
# nothing. (Tuned on one half of the questions of bench/functions.py; name 3 to 8 measured alike.)
NAME, AROUND, PIECES = 5, 2, 4


def terms_of_code(chunk: Chunk) -> list[str]:
    """Return the terms of a passage of code, each as often as it counts."""
    around, name = parts_of(chunk.symbol)
    text_terms = terms(f"{chunk.heading}\n{chunk.text}")
    whole_terms = [*dict.fromkeys(text_terms), *terms(name) * NAME, *terms(around) * AROUND]
    return [*whole_terms, *dict.fromkeys(pieces_in(f"{chunk.heading}\n{chunk.text}")), *pieces_in(name) * PIECES]


def pieces_in(text: str) -> list[str]:
    """Return the pieces of the joined words of a text."""
    return [piece for word in words(text) for part in (word[1:] or word) for piece in pieces(part)]
