"""A function is found by what its name says, in whole words, in pieces, and by what it is in."""

from __future__ import annotations

from collections import Counter

from deia.compile.catalog.code_terms import terms_of_code
from deia.knowledge import Chunk


def passage(symbol: str, text: str, heading: str = "") -> Chunk:
    """Return a passage of code."""
    return Chunk(document="shop.py", ordinal=0, heading=heading, text=text, lines=(1, 2), symbol=symbol)


def test_what_a_function_is_called_counts_more_than_what_it_is_in_and_that_more_than_its_text() -> None:
    counts = Counter(
        terms_of_code(passage("Basket.total", "price = rate\nprice = price * rate", "Basket > def total()"))
    )
    assert counts["total"] > counts["basket"] > counts["price"] == counts["rate"] == 1


def test_a_name_after_colons_counts_as_one_after_a_point_does() -> None:
    point, colons = (Counter(terms_of_code(passage(f"Basket{joint}total", "a = b"))) for joint in (".", "::"))
    assert colons == point


def test_pieces_are_terms_beside_the_whole() -> None:
    found = terms_of_code(passage("getlines", "def getlines(filename): pass"))
    assert {"getlines", "get", "lines", "filename", "file", "name"} <= set(found)
