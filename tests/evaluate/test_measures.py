from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.audit.golden_run import Scores, mean, percentile, scores

GRADES = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 4), min_size=1)
ORDERS = st.permutations("abcdefghijkl")


def test_figures_of_a_ranking_worked_out_by_hand() -> None:
    told = scores(["x", "b", "a"], {"a": 2, "b": 1})
    ideal = 3 + 1 / math.log2(3)
    assert told.ndcg == pytest.approx((1 / math.log2(3) + 3 / 2) / ideal)
    assert told.recall == 1.0
    assert told.mrr == 0.5
    assert told.hit == 0.0


def test_recall_counts_of_at_most_five() -> None:
    every = dict.fromkeys("abcdefgh", 1)
    assert scores(list("abcde"), every).recall == 1.0
    assert scores(list("vwxyza"), {"a": 1}).recall == 0.0


def test_what_is_graded_zero_is_not_wanted() -> None:
    assert scores(["a"], {"a": 0, "b": 1}) == Scores()


@given(ORDERS, GRADES)
@settings(max_examples=100)
def test_the_best_order_is_worth_one_and_none_is_worth_more(order: list[str], grades: dict[str, int]) -> None:
    best = sorted(order, key=lambda name: -grades.get(name, 0))
    assert scores(best, grades).ndcg == pytest.approx(1.0)
    told = scores(order, grades).values()
    assert all(0.0 <= value <= 1.0 + 1e-9 for value in told.values())


def test_means_and_percentiles_of_nothing_are_nothing() -> None:
    assert mean([]) == Scores()
    assert percentile([], 0.5) == 0.0
    assert mean([Scores(ndcg=1.0, hit=1.0), Scores()]).ndcg == 0.5


@pytest.mark.parametrize(("share", "value"), [(0.5, 2.0), (0.95, 4.0), (0.0, 1.0), (1.0, 4.0)])
def test_a_percentile_is_one_of_the_values(share: float, value: float) -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], share) == value
