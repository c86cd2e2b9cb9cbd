"""Filter values are normalised in the same way when they are indexed and when they are queried."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.catalog.writers import _Keys
from deia.match.keyword import LONGEST_KEY, filter_key

VALUES = st.text(st.characters(max_codepoint=127), max_size=30) | st.text(max_size=30)


@given(VALUES)
@settings(max_examples=100)
def test_a_value_is_spelt_as_a_question_spells_it(value: str) -> None:
    assert _Keys()[value] == filter_key(value)


def test_a_long_value_is_cut_as_a_question_cuts_it() -> None:
    for length in (LONGEST_KEY - 1, LONGEST_KEY, LONGEST_KEY + 1):
        assert _Keys()["A" * length] == filter_key("A" * length)
