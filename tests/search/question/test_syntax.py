"""Tests of query syntax, and of text that only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.search.question.dates import day_number, days
from deia.search.question.syntax import FIELDS, Field, Typed, read_syntax

MEANT = [
    ('"dead site" netlify', Typed(words="dead site netlify", phrases=("dead site",))),
    ("“dead site” netlify", Typed(words="dead site netlify", phrases=("dead site",))),
    ('what about "dead site"?', Typed(words="what about dead site", phrases=("dead site",), sentence=True)),
    ("netlify -dns", Typed(words="netlify", without=("dns",))),
    ('deploy -"build failed"', Typed(words="deploy", without_phrases=("build failed",))),
    ("site platform:Netlify", Typed(words="site", fields=(Field(name="platform", value="Netlify"),))),
    ("site -tag:dns", Typed(words="site", fields=(Field(name="tag", value="dns", negated=True),))),
    ('title:"dead site"', Typed(words="", fields=(Field(name="title", value="dead site"),))),
    ("verified:<2026-01-01", Typed(words="", fields=(Field(name="verified", value="<2026-01-01"),))),
    ("path:bok/netlify dns", Typed(words="dns", fields=(Field(name="path", value="bok/netlify"),))),
    ("find the guide -dns", Typed(words="find the guide", without=("dns",), sentence=True)),
]
WORDS = [
    "", "   ", "netlify", "rm -rf node_modules", "tar -xvf file", "find . -name foo", "git push --force", "-netlify",
    "temperature -5 degrees", 'unclosed "quote here', 'say "x', '""', '"-"', "NOT netlify OR dns", "foo:bar baz:1",
    "TypeError: x is undefined", "id:12:33", "path:/usr/bin x", "platform:", "http://example.com/a:b", "C:\\temp\\x",
    "a - b", "state-of-the-art", "12:30:01 platform", "title: something", "don't \"", "std::vector -> int",
    'Copy the owner and group of "oldfile" to "newfile" here', "line one\nplatform:netlify -dns",
]  # fmt: skip


@pytest.mark.parametrize(("text", "read"), MEANT)
def test_syntax_is_read(text: str, read: Typed) -> None:
    assert read_syntax(text) == read


@pytest.mark.parametrize("text", WORDS)
def test_text_that_only_looks_like_syntax_is_words(text: str) -> None:
    assert read_syntax(text) == Typed(words=text)


@given(
    st.lists(st.sampled_from([*'"“”-: \n', "a", "dns", "netlify", "-dns", "tag:", "title:x", "<2026", *FIELDS])).map(
        "".join
    )
)
@settings(max_examples=100, deadline=None)
def test_any_text_keeps_its_words(text: str) -> None:
    read = read_syntax(text)
    assert read.plain == (read == Typed(words=text))
    kept = " ".join([read.words, *read.without, *read.without_phrases, *(field.value for field in read.fields)])
    assert kept.count("netlify") >= min(1, text.replace('"', "").count("netlify") - text.count("netlify:"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2026", range(2026_01_01, 2027_01_01)), ("2026-01", range(2026_01_01, 2026_02_01)),
        ("2026-01-05", range(2026_01_05, 2026_01_06)), ("=2026-01-05", range(2026_01_05, 2026_01_06)),
        (">2026-01-31", range(2026_01_32, 9999_12_32)), (">=2026", range(2026_01_01, 9999_12_32)),
        ("<2026", range(1, 2026_01_01)), ("<=2026-01", range(1, 2026_02_01)),
        ("2026-01..2026-03", range(2026_01_01, 2026_04_01)), ("2026..2025", range(2026_01_01, 2026_01_01)),
        ("yesterday", None), ("2026-13", None), ("2026-00", None), ("0000", None), ("", None), ("01.02.2026", None),
        ("2026-02-31", None), ("2026-02-29", None), ("2024-02-29", range(2024_02_29, 2024_02_30)),
        ("1900-02-29", None), (">2026-04-31", None), ("2026-01..2026-06-31", None), ("2026-1-1", None),
        ("٢٠٢٦", None), (">", None), ("..", None),
    ],
)  # fmt: skip
def test_days_are_ranges_of_numbers(text: str, found: range | None) -> None:
    assert days(text) == found


def test_the_day_of_an_entry_may_have_a_time_or_be_missing() -> None:
    assert day_number("2026-11-20T10:00:00Z") == 2026_11_20
    assert day_number("2026-11") == 2026_11_01
    assert day_number("last spring") == 0
