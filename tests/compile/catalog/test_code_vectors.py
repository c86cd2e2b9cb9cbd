"""A passage of code has a vector near to the words that people have for it, and other passages keep theirs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.catalog.code_vectors import MOST, CodeWords, code_words, fields_of, vectors_of_code
from deia.compile.catalog.vectors import Encoder
from deia.errors import ArtefactError
from deia.knowledge import Chunk
from deia.match.numerics import np
from deia.match.tiers import open_tier

REMOVE = "def rmtree(path):\n    for name in os.listdir(path):\n        os.unlink(name)\n    os.rmdir(path)"
SUM = "def fsum(seq):\n    total = 0.0\n    for x in seq:\n        total += x\n    return total"


def passage(symbol: str, text: str) -> Chunk:
    """Return a passage of code."""
    heading = text.partition(":")[0]
    return Chunk(document="library:shop/tools.py", ordinal=0, heading=heading, text=text, lines=(1, 2), symbol=symbol)


def test_a_function_is_nearer_to_what_it_does_than_to_what_another_one_does() -> None:
    removes, sums = vectors_of_code([passage("rmtree", REMOVE), passage("fsum", SUM)], "library:shop/tools.py")
    encode = open_tier("static").encode
    deletes, adds = encode("delete a directory and everything in it"), encode("add up the numbers of a list")
    assert removes @ deletes > sums @ deletes
    assert sums @ adds > removes @ adds


def test_what_is_no_code_is_encoded_as_ever() -> None:
    texts = [["delete a directory"], ["os.rmdir(path)"], ["add up", "the numbers"]]
    made = {1: vectors_of_code([passage("rmtree", REMOVE)], "library:shop/tools.py")}
    plain, mixed = (Encoder("static").of(["", "", ""], texts, *more) for more in ((), (made,)))
    wide = open_tier("static").dimensions
    assert plain.passages == mixed.passages
    for at, same in enumerate((True, False, True, True)):
        rows = slice(at * wide, (at + 1) * wide)
        assert (plain.codes[rows] == mixed.codes[rows]) is same


def test_a_damaged_file_is_told() -> None:
    with pytest.raises(ArtefactError):
        CodeWords(b'{"dimensions": 4, "fields": [1, 1, 1, 1, 1], "step": 1}\nget\nset\n\n1234567')


def test_every_word_of_the_table_is_found_by_its_stem() -> None:
    fields = fields_of("shop/tools", "Basket.getlines", "def getlines(filename)", "return lines")
    known = code_words().numbers
    assert [len(field) <= most for field, most in zip(fields, MOST, strict=True)] == [True] * len(MOST)
    assert {"get", "line", "file", "name", "return"} <= {stem for field in fields for stem in field if stem in known}


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=60)
def test_any_text_has_a_vector(symbol: str, text: str) -> None:
    (found,) = vectors_of_code([passage(symbol, text)], f"library:{symbol}")
    assert not found.any() or abs(float(np.linalg.norm(found)) - 1) < 1e-5
