"""Notes are read as people write them, and no text breaks the reading."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.commons.notes.note_text import first_paragraph, links_in, plain_line, read_note, summary_callout

PIECES = st.sampled_from(
    [
        "[[", "]]", "|", "#", "#tag", "](", ")", "[", "`", "```\n", "\n", "> [!tldr] ", "Status: ",
        "* Date: ", "**", "%%",
        "::", "--force", "- ", "1. ", "## Decision\n", "\x00", "\ud800", "é", " ", "![", "a.md", "---", "=" * 30,
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=5), max_size=40).map("".join)


@pytest.mark.parametrize(
    ("text", "paragraph"),
    [
        ("--force is the flag that hurts.", "--force is the flag that hurts."),
        ("-- two dashes", "-- two dashes"),
        ("- an item\n- another", "an item another"),
        ("1. first\n2. second", "first second"),
        ("- [x] done", "done"),
        ("**Bold** words begin it.", "**Bold** words begin it."),
        ("**Platform:** x\n\nText.", "Text."),
        ("# T\n\n---\n\n```sh\nls\n```\n\nText [[nginx 502|there]], [docs](a.md) %%not this%%.", "Text there, docs ."),
        ("A sentence. #ops #nginx/proxy", "A sentence."),
        ("```\ncode only\n```", ""),
    ],
)
def test_the_first_paragraph_is_prose_as_a_reader_sees_it(text: str, paragraph: str) -> None:
    assert first_paragraph(text) == paragraph


def test_fields_count_above_the_first_section_in_all_their_forms() -> None:
    note = read_note(
        "# T\n\nDate: 2024-02-12\n* Status: accepted\n**Severity:** SEV1\ntags:: a, b\n\n## S\n\nStatus: no\n"
    )
    assert note.fields == {"created": "2024-02-12", "status": "accepted", "urgency": "SEV1", "tags": "a, b"}
    assert "accepted" not in note.prose
    assert "Status: no" in note.sections["s"]


def test_tags_are_found_outside_of_code_links_and_colours() -> None:
    text = "#ops and #ops/nginx (#7, C#, #fff, a/#b, `#no`)\n\n```\n#include\n```\n[t](#anchor) # heading"
    assert read_note(text).tags == ("ops", "ops/nginx")


def test_headings_are_compared_without_numbers_and_punctuation() -> None:
    assert set(read_note("## 1. Context:\na\n### Decision Outcome ##\nb").sections) == {"context", "decision outcome"}


def test_links_are_names_of_notes_and_paths_of_markdown_files() -> None:
    text = "[[Nginx 502#Details|it]] ![[pic.png]] [a](../b.md#c) [web](https://x.org) <[[Nginx 502]]>"
    assert links_in(text) == ["Nginx 502", "pic.png", "../b.md"]


def test_a_callout_that_sums_up_is_found() -> None:
    assert (
        summary_callout("> [!note] no\n> x\n\n> [!TLDR]- In short\n> - Do [[A]].\n> Then B.\n\nRest") == "Do A. Then B."
    )
    assert summary_callout("> [!warning] x\n> y") == ""


@given(TEXTS)
def test_no_text_breaks_the_reading(text: str) -> None:
    note = read_note(text)
    assert len(note.prose) <= len(text)
    assert all(tag in text for tag in note.tags)
    assert "\n" not in first_paragraph(text) + summary_callout(text) + plain_line(text.replace("\n", ""))
    assert all(link in text for link in links_in(text))
