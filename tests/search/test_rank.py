from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.knowledge import Hit
from deia.search.question import Question, Term
from deia.search.rank import confidence, coverage, primary_count, rank

HITS = st.lists(
    st.builds(
        Hit,
        document=st.sampled_from("abc"),
        ordinal=st.integers(0, 5),
        score=st.floats(0, 50),
        matcher=st.just("keyword"),
    ),
    max_size=12,
)


def term(name: str, information: float, **changes: str) -> Term:
    """Give a known term whose stem is its name."""
    return Term(asked=name, stem=name, information=information).but(**changes)


def asked(*terms: Term) -> Question:
    """Give a question of these terms."""
    return Question(text="", terms=terms)


def test_a_document_is_its_best_passage_and_a_share_of_the_next() -> None:
    hits = [
        Hit(document=d, ordinal=n, score=s, matcher="keyword")
        for d, n, s in (("a", 0, 8.0), ("b", 3, 9.0), ("a", 1, 8.0))
    ]
    first, second = rank(hits)
    assert (first.document, first.score, first.ordinal) == ("a", 10.0, 0)
    assert (second.document, second.score, second.ordinal) == ("b", 9.0, 3)


@given(HITS)
@settings(max_examples=60)
def test_the_order_does_not_depend_on_the_order_of_the_hits(hits: list[Hit]) -> None:
    assert [each.document for each in rank(hits)] == [each.document for each in rank(sorted(hits, key=repr))]
    assert {each.document for each in rank(hits)} == {hit.document for hit in hits}


def test_all_words_in_one_passage_are_full_coverage_and_scattered_ones_are_less() -> None:
    question = asked(term("a", 1.0), term("b", 1.0))
    assert coverage(question, {0: {"a", "b"}}) == 1.0
    assert coverage(question, {0: {"a"}, 1: {"b"}}) == pytest.approx(0.75)
    assert coverage(question, {}) == 0.0
    assert coverage(asked(), {0: {"a"}}) == 0.0


def test_a_rare_word_weighs_more_and_a_corrected_one_less() -> None:
    question = asked(term("rare", 4.0), term("common", 1.0))
    assert coverage(question, {0: {"rare"}}) > 0.5 > coverage(question, {0: {"common"}})
    typed, corrected = (
        asked(term("migration", 4.0), other) for other in (term("pod", 1.0), term("pdo", 1.0, corrected="pod"))
    )
    held = {0: {"migration", "pod", "pdo"}}
    assert coverage(typed, held) > coverage(corrected, held)


def test_the_whole_of_a_name_is_not_counted_beside_its_parts() -> None:
    whole = Term(asked="kubepod", stem="kubepod", information=9.0, part=False)
    assert coverage(asked(whole, term("kube", 1.0), term("pod", 1.0)), {0: {"kube", "pod"}}) == 1.0


def test_confidence_has_three_names() -> None:
    assert [confidence(share) for share in (1.0, 0.75, 0.6, 0.4)] == ["high", "high", "medium", "low"]


def test_the_documents_near_the_best_are_primary() -> None:
    assert [primary_count(scores) for scores in ([10, 9, 8, 7.5], [10, 5], [10], [])] == [3, 1, 1, 0]
