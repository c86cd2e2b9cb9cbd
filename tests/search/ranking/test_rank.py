from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.search.ranking.rank import APART, Evidence, Likeness, apart, code_weight, primary_count, rank, scaled

HITS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 5), st.floats(0, 50)),
    max_size=12,
    unique_by=lambda hit: hit[:2],
)
COSINES = st.floats(-1, 1)


def likeness(passages: dict[tuple[int, int], float], documents: dict[int, float] | None = None) -> Likeness:
    """Return likenesses; documents are as near as their passages unless given."""
    return Likeness(
        passages=passages, documents=documents or {number: cosine for (number, _), cosine in passages.items()}
    )


def test_a_score_is_that_of_the_best_passage_and_shares_of_the_next() -> None:
    first, second = rank([(0, 0, 8.0), (1, 3, 9.0), (0, 1, 8.0)])
    assert (first.number, first.score, first.ordinal) == (0, 10.0, 0)
    assert (second.number, second.score, second.ordinal) == (1, 9.0, 3)


@given(HITS)
@settings(max_examples=60)
def test_the_order_does_not_depend_on_the_order_of_the_hits(hits: list[tuple[int, int, float]]) -> None:
    assert rank(hits) == rank(sorted(hits, key=repr))
    assert {document.number for document in rank(hits)} == {number for number, _, _ in hits}


@given(HITS, st.floats(0, 1), st.data())
@settings(max_examples=60)
def test_fused_scores_stay_on_the_common_scale(
    hits: list[tuple[int, int, float]], meaning: float, data: st.DataObject
) -> None:
    places = [(number, ordinal) for number, ordinal, _ in hits] + [(9, 0)]
    ranked = rank(hits, likeness=likeness({place: data.draw(COSINES) for place in places}), meaning=meaning)
    assert {document.number for document in ranked} == {number for number, _ in places}
    assert all(0 <= document.score <= 1.000001 for document in ranked)
    assert ranked == sorted(ranked, key=lambda document: (-document.score, document.number))


def test_meaning_decides_between_documents_with_the_same_words() -> None:
    hits, near = [(0, 0, 5.0), (1, 0, 5.0), (2, 0, 1.0)], likeness({(0, 0): 0.2, (1, 0): 0.7, (2, 0): 0.1})
    assert [document.number for document in rank(hits, likeness=near, meaning=0.5)] == [1, 0, 2]


def test_of_code_the_meaning_counts_less_by_word_vectors_and_as_much_by_a_sentence_model() -> None:
    assert (code_weight("static", 0.6), code_weight("static", 0.1), code_weight("compact", 0.6)) == (0.45, 0.1, 0.6)
    function = APART * 2
    hits = [(function, 0, 5.0), (1, 0, 3.0), (2, 0, 1.0)]
    near = likeness({(function, 0): 0.1, (1, 0): 0.9, (2, 0): 0.1})
    assert rank(hits, likeness=near, meaning=0.6, code_meaning=0.6)[0].number == 1
    both = likeness({(function, 0): 0.1, (function + 1, 0): 0.9, (2, 0): 0.1})
    hits = [(function, 0, 5.0), (function + 1, 0, 3.5), (2, 0, 1.0)]
    assert rank(hits, likeness=both, meaning=0.6, code_meaning=0.2)[0].number == function
    assert rank(hits, likeness=both, meaning=0.6, code_meaning=0.6)[0].number == function + 1


def test_each_passage_of_code_is_a_document_of_its_own() -> None:
    hits = [(4, 0, 2.0), (4, 1, 1.0), (5, 0, 3.0)]
    near = likeness({(4, 0): 0.5, (4, 1): 0.4, (5, 0): 0.3}, {4: 0.9, 5: 0.3})
    parted = apart(Evidence(hits=hits, likeness=near, code={4}))
    assert {number % APART for number, _, _ in parted.hits} == {4, 5}
    assert len({number for number, _, _ in parted.hits}) == 3
    assert parted.likeness
    assert parted.likeness.documents[5] == 0.3
    assert sorted(parted.likeness.documents.values()) == [0.3, 0.4, 0.5]
    assert apart(Evidence(hits=hits, likeness=near)).hits == hits


def test_a_document_found_only_by_meaning_is_ranked_too() -> None:
    ranked = rank([(0, 0, 5.0), (1, 0, 2.0)], likeness=likeness({(0, 0): 0.1, (1, 0): 0.1, (2, 4): 0.9}), meaning=0.6)
    assert (ranked[0].number, ranked[0].ordinal, ranked[0].words) == (2, 4, 0.0)


def test_without_weight_the_meaning_changes_no_order() -> None:
    hits, near = [(0, 0, 5.0), (1, 0, 2.0)], likeness({(0, 0): 0.1, (1, 0): 0.9})
    assert [document.number for document in rank(hits, likeness=near, meaning=0.0)] == [0, 1]


def test_the_shown_passage_has_the_best_combined_score() -> None:
    near = likeness({(0, 0): 0.1, (0, 1): 0.6, (0, 2): 0.7})
    assert rank([(0, 0, 5.0), (0, 1, 4.9)], likeness=near, meaning=0.5)[0].ordinal == 1


def test_the_subject_of_a_document_counts_in_part() -> None:
    near = likeness({(0, 0): 0.5, (1, 0): 0.5, (2, 0): 0.0}, {0: 0.1, 1: 0.6, 2: 0.0})
    assert [document.number for document in rank([], likeness=near, meaning=0.5)] == [1, 0, 2]


def test_documents_tied_with_the_last_are_kept() -> None:
    assert len(rank([(number, 0, 1.0) for number in range(5)], most=2)) == 5
    assert len(rank([(number, 0, float(number)) for number in range(5)], most=2)) == 2


def test_the_hundredth_best_is_the_bottom_of_the_scale() -> None:
    values = scaled({number: float(number) for number in range(150)}, among=150)
    assert (values[149], values[50], values[0]) == (1.0, 0.0, 0.0)
    assert scaled({1: 4.0, 2: 2.0}, among=3) == {1: 1.0, 2: 0.5}
    assert scaled({1: 4.0, 2: 2.0}, among=2) == {1: 1.0, 2: 0.0}
    assert scaled({1: 3.0}, among=1) == {1: 0.0}
    assert scaled({}, among=4) == {}


@pytest.mark.parametrize(("scores", "count"), [([10, 9, 8, 7.5], 3), ([10, 5], 1), ([10], 1), ([], 0)])
def test_the_documents_near_the_best_are_primary(scores: list[float], count: int) -> None:
    assert primary_count(scores) == count
