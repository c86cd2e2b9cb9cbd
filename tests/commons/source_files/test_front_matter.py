"""A Markdown text can always be split; invalid metadata is reported with its line and the body is kept."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.index.documents import as_document
from deia.commons.source_files.front_matter import split
from deia.commons.source_files.yaml_reader import plain


def test_fields_between_dashes_are_metadata_and_the_body_knows_its_line() -> None:
    front = split("---\ntitle: A\ntags: [x, y]\n---\n\n# Heading\n", path="bok/a.md")
    assert plain(front.metadata) == {"title": "A", "tags": ["x", "y"]}
    assert (front.body, front.first_line, front.metadata.at("tags")) == ("\n# Heading\n", 5, 3)


def test_windows_line_ends_and_a_byte_order_mark_do_not_matter() -> None:
    front = split("\ufeff---\r\ntitle: A\r\n---\r\nBody\r\n", path="bok/a.md")
    assert (plain(front.metadata), front.body, front.problems) == ({"title": "A"}, "Body\r\n", ())


def test_invalid_front_matter_is_a_problem_with_its_line_and_the_text_stays() -> None:
    front = split("---\ntitle: ok\ntags: [x\n---\nBody\n", path="bok/a.md")
    assert [(p.path, p.line, p.code) for p in front.problems] == [("bok/a.md", 3, "yaml-syntax")]
    assert front.body == "Body\n"


def test_a_repeated_field_is_reported_on_its_line_in_the_file() -> None:
    front = split("---\ntitle: a\nurgency: low\ntitle: b\n---\n", path="bok/a.md")
    assert [(p.line, p.code) for p in front.problems] == [(4, "duplicate-key")]
    assert front.metadata["title"] == "a"


def test_front_matter_that_never_ends_is_a_warning_and_all_is_text() -> None:
    front = split("---\ntitle: a\n", path="bok/a.md")
    assert front.body == "---\ntitle: a\n"
    assert [p.severity for p in front.problems] == ["warning"]


def test_text_between_two_rules_is_a_warning_not_metadata() -> None:
    front = split("---\njust a sentence\n---\nBody", path="bok/a.md")
    assert not front.metadata
    assert [p.code for p in front.problems] == ["front-matter"]


def test_toml_between_plus_signs_is_metadata_too() -> None:
    text = "+++\r\ntitle = 'Bee: suit'\ndate = 2024-05-07\nweight = 1.50\ntags = ['x']\n[extra]\na = true\n+++\nBody\n"
    front = split(text, path="bok/a.md")
    expected = {
        "title": "Bee: suit",
        "date": "2024-05-07",
        "weight": "1.50",
        "tags": ["x"],
        "extra": {"a": True},
    }
    assert (plain(front.metadata), front.body, front.first_line, front.problems) == (expected, "Body\n", 9, ())


@pytest.mark.parametrize("source", ["title = A", "a" + ".a" * 5000 + " = 1", "a = " + "[" * 9000, "a = " + "9" * 9000])
def test_toml_that_cannot_be_read_is_a_warning_and_no_text(source: str) -> None:
    front = split(f"+++\nb = 1\n{source}\n+++\nBody\n", path="bok/a.md")
    assert (plain(front.metadata).get("title"), front.body) == (None, "Body\n")
    assert [(p.severity, p.code) for p in front.problems] == [("warning", "front-matter")]


def test_plus_signs_without_an_end_are_text() -> None:
    front = split("+++\ntitle = 'A'\n", path="bok/a.md")
    assert (plain(front.metadata), front.body) == ({}, "+++\ntitle = 'A'\n")


def test_bold_lines_at_the_head_stand_in_for_front_matter() -> None:
    head = "# Title\n\n**Platform:** Netlify\n**Tags:** `a`, `#b`\n**Created By**: someone\n"
    text = f"{head}\n## More\n\n**Status:** late\n"
    front = split(text, path="bok/a.md")
    assert plain(front.metadata) == {"platform": "Netlify", "tags": ["a", "b"], "created_by": "someone"}
    assert (front.body, front.first_line, front.metadata.at("tags")) == (text, 1, 4)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Given\n---\n# Heading\n", "Given"),
        ("```sh\n# a comment\n```\n# Heading #\n", "Heading"),
        ("no heading", "My long name"),
        ("---\ntitle: [a, b]\n---\n", "My long name"),
        ("---\ntitle: 404\n---\n", "404"),
    ],
)
def test_the_title_comes_from_the_best_place_there_is(text: str, title: str) -> None:
    assert as_document(split(text, path="bok/my-long_name.md"), "bok/my-long_name.md").title == title


@given(st.text(alphabet=st.sampled_from("-+=\n ab:*`[]{}#\x00\ud800\r~&!|>"), max_size=80))
@settings(max_examples=100, deadline=None)
def test_no_text_raises_and_the_body_is_the_end_of_the_text(text: str) -> None:
    front = split(text, path="bok/a.md")
    assert text.endswith(front.body)
    assert text.count("\n") - front.body.count("\n") == front.first_line - 1
