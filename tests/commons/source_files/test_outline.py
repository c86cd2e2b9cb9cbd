"""Recognising what is left of the outline that `deia add` wrote into a document."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.source_files.outline import OUTLINE, outline_lines, without_outline


def test_an_untouched_outline_says_nothing() -> None:
    assert without_outline(f"# Red paint\n\n{OUTLINE}") == ""
    assert len(outline_lines(OUTLINE)) == 3


def test_what_was_written_stays_and_empty_headings_go() -> None:
    text = f"# Red paint\n\nIt dries slowly.\n\n{OUTLINE}"
    told = without_outline(text.replace("The steps that avoid it, with exact commands.", "Wait."))
    assert told == "# Red paint\n\nIt dries slowly.\n\n## Do instead\n\nWait.\n"


def test_a_summary_above_the_outline_is_something() -> None:
    assert without_outline(f"# Red paint\n\nIt dries slowly.\n\n{OUTLINE}") == "# Red paint\n\nIt dries slowly.\n"


def test_a_document_of_ones_own_keeps_its_headings_though_nothing_stands_below() -> None:
    text = "# A\n\n## Recover\n\n## More\n"
    assert without_outline(text) == text


@given(st.lists(st.sampled_from([*OUTLINE.splitlines(), "# T", "text", "  "])).map("\n".join))
@settings(max_examples=60, deadline=None)
def test_nothing_of_the_outline_is_left_in_any_mixture(text: str) -> None:
    assert not outline_lines(without_outline(text))
    assert ("text" in without_outline(text)) == ("text" in text)
