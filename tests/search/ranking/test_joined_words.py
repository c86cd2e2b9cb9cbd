"""A joined word is taken apart into usual words, and a word that is one stays whole."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.catalog.code_terms import pieces_in
from deia.search.ranking.joined_words import LONGEST, MOST_PIECES, pieces


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("getlines", ("get", "lines")),
        ("fileno", ("file", "no")),
        ("getnewargs", ("get", "new", "args")),
        ("isinstance", ("is", "instance")),
    ],
)
def test_a_joined_word_is_taken_apart(word: str, found: tuple[str, ...]) -> None:
    assert tuple(pieces(word)) == found


@pytest.mark.parametrize(
    "word", ["forms", "returns", "therapist", "function", "logging", "xzqvkw", "a", "", "12345678"]
)
def test_a_word_that_is_one_stays_whole(word: str) -> None:
    assert not pieces(word)


@given(st.text(max_size=80))
@settings(max_examples=200)
def test_pieces_are_the_word_and_nothing_else(text: str) -> None:
    for word in text.split():
        found = pieces(word)
        assert not found or ("".join(found) == word and 1 < len(found) <= MOST_PIECES and len(word) <= LONGEST)
    assert isinstance(pieces_in(text), list)
