from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.search.rendering.columns import columns, cut, plain, wrap


@pytest.mark.parametrize(
    ("text", "wide"), [("abc", 3), ("設定", 4), ("e\u0301", 1), ("", 0), ("⚠\ufe0f", 1), ("コード", 6)]
)
def test_wide_characters_have_two_columns_and_accents_none(text: str, wide: int) -> None:
    assert columns(text) == wide


@given(st.text(max_size=80), st.integers(2, 30))
@settings(max_examples=100)
def test_cut_text_fits_and_wrapped_text_is_complete(text: str, room: int) -> None:
    assert columns(cut(text, room)) <= room
    rows = list(wrap(text, room))
    assert all(columns(row) <= room for row in rows)
    assert "".join("".join(rows).split()) == "".join(text.split())


@given(st.text())
@settings(max_examples=100)
def test_plain_text_has_no_control_characters(text: str) -> None:
    assert plain(text).isprintable()
    assert len(plain(text)) == len(text)
