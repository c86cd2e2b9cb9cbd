from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deia.serve.cli.output import printable


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    shown = printable(text)
    assert len(shown) == len(text)
    assert not {char for char in shown if ord(char) < 32 or 127 <= ord(char) < 160} - {"\n", "\t"}


def test_words_in_any_script_stay() -> None:
    assert printable("naïve 日本 ✓\n\tनमस्ते") == "naïve 日本 ✓\n\tनमस्ते"
