"""Tests of stored vectors: their cosines are nearly exact, for all of them or for a selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from deia.match.numerics import np
from deia.match.quantised import BLOCK, middle, quantised, similarities

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHANCE = np.random.default_rng(1)


def unit(count: int, dimensions: int = 384) -> NDArray[np.float32]:
    made = CHANCE.standard_normal((count, dimensions))
    found: NDArray[np.float32] = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    return found


@pytest.mark.parametrize("dimensions", [64, 384, 1024])
def test_a_stored_vector_keeps_its_cosines(dimensions: int) -> None:
    stored, query = unit(500, dimensions), unit(1, dimensions)[0]
    codes = quantised(stored)
    assert len(codes) == 500 * dimensions
    assert similarities(query, codes) == pytest.approx(stored @ query, abs=0.01)
    assert similarities(stored[7], codes).argmax() == 7
    assert similarities(stored[7], codes)[7] == pytest.approx(1, abs=0.01)


def test_vectors_can_be_selected_by_number() -> None:
    codes, query = quantised(unit(BLOCK + 10)), unit(1)[0].tolist()
    cosines = similarities(query, memoryview(codes))
    assert similarities(query, codes, numbers=[BLOCK + 3, 0, 5]) == pytest.approx(cosines[[BLOCK + 3, 0, 5]])
    assert len(similarities(query, codes, numbers=[])) == 0


def test_the_middle_is_the_mean_of_the_stored_vectors() -> None:
    stored = unit(50)
    assert middle(quantised(stored), 384) == pytest.approx(stored.mean(0), abs=0.001)
    assert not middle(b"", 384).any()
    with pytest.raises(ValueError, match="384"):
        middle(bytes(1000), 384)


def test_no_stored_vectors_give_no_cosines() -> None:
    assert len(similarities(unit(1)[0], b"")) == 0


def test_a_partial_vector_is_an_error() -> None:
    with pytest.raises(ValueError, match="384"):
        similarities(unit(1)[0], bytes(1000))
    with pytest.raises(IndexError):
        similarities(unit(1)[0], bytes(384), numbers=[1])


@given(some.lists(some.floats(-1, 1, width=32), min_size=2, max_size=40).filter(lambda row: sum(map(abs, row)) > 0.01))
@settings(max_examples=60, deadline=None)
def test_no_unit_vector_seems_further_than_it_is(row: list[float]) -> None:
    vector = (np.array(row) / np.linalg.norm(row)).astype(np.float32)
    found = similarities(vector, quantised(vector[None, :]))[0]
    assert found <= 1.05
    assert found > 0
