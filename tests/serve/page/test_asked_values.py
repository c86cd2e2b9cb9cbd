"""What a browser sends is checked before anything uses it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.errors import QueryError
from deia.serve.page.asked_values import MOST_NAME, MOST_TEXT, choice, name, number, read_asked, text


@given(st.binary(max_size=200))
def test_any_body_is_an_object_or_an_error_that_says_what_to_do(body: bytes) -> None:
    try:
        value = read_asked(body)
    except QueryError as error:
        value = {"fix": error.fix}
    assert isinstance(value, dict)
    assert value.get("fix", "x")


@pytest.mark.parametrize("value", [1, None, [], {}, True, "x" * (MOST_TEXT + 1)])
def test_what_is_no_text_of_bounded_length_is_refused(value: object) -> None:
    with pytest.raises(QueryError):
        text({"text": value}, "text")


def test_texts_names_choices_and_numbers_have_defaults_and_bounds() -> None:
    assert text({}, "text") == ""
    assert choice({}, "role", ("user", "assistant")) == "user"
    assert number({}, "last", default=5, most=9) == 5
    with pytest.raises(QueryError, match="at most"):
        name({"id": "x" * (MOST_NAME + 1)}, "id")
    with pytest.raises(QueryError, match="one of"):
        choice({"role": "nobody"}, "role", ("user",))
    for value in (0, 10, True, "3", 2.5):
        with pytest.raises(QueryError, match="between 1 and 9"):
            number({"last": value}, "last", default=5, most=9)
