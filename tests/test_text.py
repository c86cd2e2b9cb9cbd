"""Words and shortening: triggers and turns are normalised in the same way."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.text import flat, one_line, period, shorten, spans, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Delete the site!", "delete the site"),
        ("don't re-create sites:delete", "don t re create sites delete"),
        ("snake_case a.b/c", "snake case a b c"),
        ("\u201cquoted\u201d \u2014 \u2026", "quoted"),
        ("CAF\u00c9 \u00dcber", "caf\u00e9 \u00fcber"),
        ("\u5220\u9664\u3002\u6570\u636e", "\u5220 \u9664 \u6570 \u636e"),
        ("API\u30c7\u30fc\u30bf\u3092v2\u3067\u524a\u9664", "api \u30c7 \u30fc \u30bf \u3092 v2 \u3067 \u524a \u9664"),
        ("\uc0ad\uc81c\ud574 \u0443\u0434\u0430\u043b\u0438", "\uc0ad \uc81c \ud574 \u0443\u0434\u0430\u043b\u0438"),
        ("v1.2.3", "v1 2 3"),
        ("a\u00a0b\u2009c\u3000d", "a b c d"),
        ("\u2502netlify\u2502 drop\u2192recreate 3\u00d7now \U0001f525fire", "netlify drop recreate 3 now fire"),
        ("", ""),
    ],
)
def test_words_are_runs_of_letters_and_digits_in_small_letters(text: str, found: str) -> None:
    assert words(text) == found.split()


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40))
def test_words_end_where_a_regular_expression_sees_them_end(text: str) -> None:
    runs = re.findall(r"[^\W_]+", text)
    assert "".join(runs).lower() == "".join(words(text))
    assert [word for run in runs for word in words(run)] == words(text)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_words_and_spans_agree_and_lie_where_they_say(text: str) -> None:
    placed = spans(text)
    assert [word for word, _, _ in placed] == [word for part in flat(text).split() for word in words(part)]
    assert len(flat(text)) == len(text)
    for word, start, end in placed:
        assert words(text[start:end]) == [word]
    assert [start for _, start, _ in placed] == sorted(start for _, start, _ in placed)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60), st.integers(-1, 70))
def test_a_shortened_text_is_short_enough_and_says_that_something_is_missing(text: str, most: int) -> None:
    short = shorten(text, most)
    assert len(short) <= max(most, 0)
    assert short == text or most < 2 or short.endswith("\u2026")
    assert text.startswith(short.removesuffix("\u2026").rstrip()) or most < 2


def test_a_text_is_cut_between_words() -> None:
    assert shorten("one two three", 9) == "one two\u2026"
    assert shorten("onetwothree", 5) == "onet\u2026"


@settings(max_examples=100, deadline=None)
@given(st.text(st.one_of(st.characters(), st.sampled_from("\n\r\x0b\x1b\u2028\x85\u202e ")), max_size=40))
def test_one_line_is_one_line_without_control_characters(text: str) -> None:
    line = one_line(text)
    assert line.isprintable()
    assert len(line.splitlines()) <= 1
    assert line == " ".join(line.split(" "))


def test_a_period_of_one_day_is_that_day() -> None:
    assert period("2026-11-23", "2026-11-23") == "on 2026-11-23"
    assert period("2026-11-20", "2026-11-23") == "from 2026-11-20 to 2026-11-23"
