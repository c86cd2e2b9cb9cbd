from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.catalog import code_vectors, vectors
from deia.compile.catalog.vectors import FEW, Coded, Encoder, WordSums
from deia.knowledge import Chunk
from deia.match.numerics import load_numpy, np
from deia.match.static_vectors import MOST_READ, open_static

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def encoded(documents: Sequence[tuple[str, list[str], bool]], *, with_numpy: bool) -> Coded:
    """Return the vectors of documents, each with its subject, its passages, and whether they are code."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (vectors, code_vectors):
            patch.setattr(module, "loaded_numpy", lambda: np if with_numpy else None)
        made = {
            at: code_vectors.vectors_of_code([chunk(text) for text in texts], "library:shop/tools.py")
            for at, (_, texts, is_code) in enumerate(documents)
            if is_code
        }
        return Encoder("static").of([subject for subject, *_ in documents], [texts for _, texts, _ in documents], made)


def chunk(text: str) -> Chunk:
    """Return a passage of code."""
    return Chunk(document="library:shop/tools.py", ordinal=0, heading=text[:20], text=text, lines=(1, 2), symbol="run")


DOCUMENTS = st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=4), st.booleans()), min_size=1, max_size=4)


@given(DOCUMENTS)
@settings(max_examples=60, deadline=None)
def test_a_few_documents_have_the_same_vectors_without_numpy(documents: list[tuple[str, list[str], bool]]) -> None:
    load_numpy()
    assert encoded(documents, with_numpy=False) == encoded(documents, with_numpy=True)


def test_many_passages_are_encoded_with_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_coded_few", None)
    many = [("Pods", ["pods restart"] * (FEW + 1), False)]
    assert encoded(many, with_numpy=False) == encoded(many, with_numpy=True)
