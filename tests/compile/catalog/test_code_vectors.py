"""A passage of code has a vector near to the words that people have for it, and other passages keep theirs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.catalog.code_vectors import (
    FIX,
    MOST,
    CodeWords,
    code_words,
    fields_of,
    vectors_of_code,
)
from deia.compile.catalog.vectors import Encoder
from deia.errors import ArtefactError
from deia.knowledge import Chunk
from deia.match.numerics import np
from deia.match.tiers import open_tier
from deia.search.ranking.code_sentences import signature_of

REMOVE = "def rmtree(path):\n    for name in os.listdir(path):\n        os.unlink(name)\n    os.rmdir(path)"
SUM = "def fsum(seq):\n    total = 0.0\n    for x in seq:\n        total += x\n    return total"


def passage(symbol: str, text: str) -> Chunk:
    """Return a passage of code."""
    heading = text.partition(":")[0]
    return Chunk(document="library:shop/tools.py", ordinal=0, heading=heading, text=text, lines=(1, 2), symbol=symbol)


def test_a_function_is_nearer_to_what_it_does_than_to_what_another_one_does() -> None:
    removes, sums = np.array(
        vectors_of_code([passage("rmtree", REMOVE), passage("fsum", SUM)], "library:shop/tools.py")
    )
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


@pytest.mark.parametrize(
    "data",
    [
        b'{"dimensions": 4, "fields": [1, 1, 1, 1, 1], "step": 1}\nget\nset\n\n1234567',
        b'{"dimensions": 4, "fields": [1, 1, 1, 1, 1], "step": 1}\nget\n\xff\n\n12345678',
        b'{"dimensions": 4, "fields": [1, 1], "step": 1}\nget\nset\n\n12345678',
        b'{"dimensions": 4, "step": 1}\nget\nset\n\n12345678',
        b'{"dimensions": 4, "fie',
        b'{"d\xc3\xa9": 4}\nget\n\n1234',
        b"null\nget\n\n1234",
        bytes(100),
        b"",
    ],
)
def test_a_damaged_file_is_told(data: bytes) -> None:
    with pytest.raises(ArtefactError) as caught:
        CodeWords(data)
    assert caught.value.fix == FIX


def test_a_file_without_passages_has_no_vectors() -> None:
    assert len(vectors_of_code([], "library:shop/empty.py")) == 0


@pytest.mark.parametrize(
    ("heading", "signature"),
    [
        (
            "Basket > def total(self, rates: dict[str, float]) -> int",
            "def total(self, rates: dict[str, float]) -> int",
        ),
        ("shop::Basket > fn rates(&self) -> Vec<Vec<f32>>", "fn rates(&self) -> Vec<Vec<f32>>"),
        ("def total(rates, some=ONE > TWO)", "def total(rates, some=ONE > TWO)"),
        ("def total() -> int", "def total() -> int"),
        ("Basket", "Basket"),
        ("", ""),
    ],
)
def test_a_signature_is_all_that_follows_what_it_is_in(heading: str, signature: str) -> None:
    assert signature_of(heading) == signature
    assert fields_of("", "", heading, "")[3] == fields_of("", "", signature, "")[3]


@pytest.mark.parametrize("symbol", ["shop.Basket.lines", "shop::Basket::lines"])
def test_names_are_joined_by_points_or_colons(symbol: str) -> None:
    assert fields_of("", symbol, "", "")[1:3] == [["shop", "basket"], ["line"]]


def test_every_word_of_the_table_is_found_by_its_stem() -> None:
    fields = fields_of("shop/tools", "Basket.getlines", "def getlines(filename)", "return lines")
    known = code_words().numbers
    assert [len(field) <= most for field, most in zip(fields, MOST, strict=True)] == [True] * len(MOST)
    assert {"get", "line", "file", "name", "return"} <= {stem for field in fields for stem in field if stem in known}


def test_no_more_of_a_long_text_is_read_than_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(word: str) -> Sequence[str]:
        read.append(word)
        return ()

    monkeypatch.setattr("deia.compile.catalog.code_vectors.pieces", counted)
    assert len(fields_of("", "", "", " ".join(f"w{number}" for number in range(1_000)))[-1]) == MOST[-1]
    assert len(read) <= MOST[-1] + 1


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=60)
def test_any_text_has_a_vector(symbol: str, text: str) -> None:
    (found,) = np.array(vectors_of_code([passage(symbol, text)], f"library:{symbol}"))
    assert not found.any() or abs(float(np.linalg.norm(found)) - 1) < 1e-5
