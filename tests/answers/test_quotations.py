"""Whatever a text is, its sentences are on the lines that are named for them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deia.answers.quotations import LONGEST, is_quoted, lines_of, quotations

PIECES = ("# Title", "- an item", "1. first", "| a | b |", "```", "~~~", "    code()", "One. Two! Three?", "e.g. this.",
          "half a", "sentence. And", "", "\t", "> quoted", "終わり。次", "a" * 700, "x " * 500)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=60), max_size=12).map("\n".join)


@given(TEXTS, st.integers(1, 10_000), st.booleans())
def test_every_sentence_stands_on_its_lines(text: str, first: int, is_code: bool) -> None:  # noqa: FBT001 - drawn
    lines = text.split("\n")
    for one in quotations(lines, first, is_code=is_code):
        assert first <= one.first <= one.last < first + len(lines)
        assert is_quoted(one.text, lines[one.first - first : one.last - first + 1])
        assert len(one.text) <= LONGEST
        found = lines_of(one.text, lines, first)
        assert found is not None
        assert is_quoted(one.text, lines[found[0] - first : found[1] - first + 1])


def test_a_sentence_spans_lines_and_stops_at_blocks() -> None:
    text = "# Title\nOne is\nhere. Two, e.g. this,\nis too.\n- an item\n\n```\na = 1\n```"
    told = [(one.text, one.first, one.last) for one in quotations(text.split("\n"), 10)]
    assert told == [
        ("# Title", 10, 10), ("One is here.", 11, 12), ("Two, e.g. this, is too.", 12, 13), ("- an item", 14, 14),
        ("a = 1", 17, 17),
    ]  # fmt: skip


@given(TEXTS, st.text(max_size=30))
def test_what_is_not_there_has_no_lines(text: str, quote: str) -> None:
    lines = text.split("\n")
    assert (lines_of(quote, lines, 1) is not None) == is_quoted(quote, lines)


def test_only_headings_are_headings() -> None:
    lines = ["# Title", "#4711 says so", "```sh", "# Never stop the queue", "```", "####### seven"]
    assert [one.text for one in quotations(lines, 1) if one.is_heading] == ["# Title"]
    assert not any(one.is_heading for one in quotations(lines, 1, is_code=True))
