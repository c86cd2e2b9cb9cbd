from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.durations import read_duration


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("30m", 1800), ("2h", 7200), ("7d", 604800), ("1 H", 3600)])
def test_a_length_of_time_is_read(text: str, seconds: int) -> None:
    assert read_duration(text) == seconds


@given(st.text(max_size=6))
@settings(max_examples=100)
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    if text[-1:].lower() in {*"smhd"} and text[:-1].strip().isdecimal() and text.isascii() and int(text[:-1]) > 0:
        assert read_duration(text) >= int(text[:-1])
        return
    with pytest.raises(ValueError, match="such as 2h"):
        read_duration(text)


@pytest.mark.parametrize("text", ["", "h", "2", "-2h", "0h", "2w", "1.5h", "٣h", "99999999h"])
def test_these_are_no_lengths_of_time(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        read_duration(text)
