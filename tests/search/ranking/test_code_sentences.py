"""The sentence model reads a function's name in words before its code, and its vectors come near to docstrings."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.errors import ArtefactError
from deia.match.encoding import encoded_by
from deia.match.numerics import Floats, np
from deia.match.tiers import open_tier
from deia.search.ranking.code_sentences import FIX, code_map, mapped, path_of, sentence_of_code

REMOVE = "def rmtree(path):\n    for name in os.listdir(path):\n        os.unlink(name)\n    os.rmdir(path)"
SUM = "def fsum(seq):\n    total = 0.0\n    for x in seq:\n        total += x\n    return total"


def test_the_name_stands_in_words_before_the_code() -> None:
    sentence = sentence_of_code("shop/files", "Basket.getlines", "Basket > def getlines(self)", "return self.rows")
    assert sentence == "get lines def get lines self. basket, shop files\nreturn self.rows"


def test_the_path_of_a_document_has_neither_its_collection_nor_its_suffix() -> None:
    assert path_of("library:shop/src/basket.test.py") == "src/basket.test"
    assert path_of("library:shop") == ""


def test_code_comes_nearer_to_what_it_does_than_to_what_other_code_does() -> None:
    tier, functions = open_tier("compact"), {"rmtree": REMOVE, "fsum": SUM}
    plain = encoded_by(tier, [sentence_of_code("", name, "", text) for name, text in functions.items()])
    asked = np.array([tier.encode(text) for text in ("Delete a directory tree.", "Add up the numbers of an iterable.")])

    def apart(cosines: Floats) -> float:
        return float(cosines.diagonal().mean() - cosines[[0, 1], [1, 0]].mean())

    assert apart(asked @ mapped(plain).T) > apart(asked @ plain.T) > 0
    assert np.allclose(np.linalg.norm(mapped(plain), axis=1), 1)


def test_no_passages_have_no_vectors() -> None:
    assert mapped(np.zeros((0, open_tier("compact").dimensions), "f4")).shape == (0, open_tier("compact").dimensions)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null\n123456",
        b'{"dimensions": 2, "step": 1}\n12345',
        b'{"dimensions": 2}\n123456',
        b'{"dimensions": "2", "step": 1}\n123456',
        b'{"dimensions": 2, "step": "x"}\n123456',
        b'{"d\xc3\xa9": 2}\n123456',
        bytes(100),
    ],
)
def test_a_damaged_map_is_told(data: bytes) -> None:
    with pytest.raises(ArtefactError) as caught:
        code_map(data)
    assert caught.value.fix == FIX


def test_a_map_is_what_it_adds() -> None:
    data = json.dumps({"dimensions": 2, "step": 0.5}).encode() + b"\n" + bytes((2, 0, 0, 254, 4, 0))
    assert code_map(data).tolist() == [[1, 0], [0, -1], [2, 0]]


@given(*[st.text(max_size=60)] * 4)
@settings(max_examples=100)
def test_any_text_has_a_sentence(path: str, symbol: str, heading: str, text: str) -> None:
    assert "\n" in sentence_of_code(path, symbol, heading, text)
