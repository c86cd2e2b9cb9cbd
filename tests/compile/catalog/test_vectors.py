from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.catalog.vectors import WordSums
from deia.match.static_vectors import MOST_READ, open_static

PLAIN, LEARNED = open_static(), open_static()
SUMS = WordSums(LEARNED)
PARTS = st.sampled_from(
    ["Deploy", "it's", "snake_case", "\x0b", "\x1c", "\x85", "\xa0", "é", "中", "\ud800", "x" * 120]
)
TEXTS = st.lists(PARTS | st.text(max_size=20), max_size=30).map(" ".join)


@given(TEXTS)
@settings(max_examples=100)
def test_many_texts_come_to_the_same_sums_as_each_alone(text: str) -> None:
    assert [row.tolist() for row in SUMS.of([text, "", text[::-1]])] == [
        PLAIN.sums(text),
        [0] * PLAIN.dimensions,
        PLAIN.sums(text[::-1]),
    ]


def test_a_long_text_is_read_as_far_as_alone() -> None:
    text = "pods restart again, " * MOST_READ
    assert SUMS.of([text])[0].tolist() == PLAIN.sums(text)


def test_a_model_that_learned_its_pieces_finds_what_it_found_before() -> None:
    pieces = [*dict(PLAIN._pieces()), "##ing", "=netlify", "zzzz", "", "\ud800", "##"]
    assert [LEARNED.row(piece) for piece in pieces[::7]] == [PLAIN.row(piece) for piece in pieces[::7]]
