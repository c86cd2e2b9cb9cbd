from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.source_files.outline import OUTLINE
from deia.search.rendering.columns import columns
from deia.search.rendering.terminal_answer import Marker, best_rows

PASSAGE = """\
# Deleting a site

Everything begins with a plan. Nothing of it is about the matter, and it goes on for quite some time.

- **Deleting** a site drops its `domains`, see docs/** for more.
- Another item.
"""


def marked(text: str, *asked: str) -> list[str]:
    return [piece for piece, found in Marker(asked).marked(text) if found]


def test_words_are_marked_in_all_their_forms() -> None:
    pieces = marked("Deleted sites, deleting a site; the deletion of it", "delete", "site")
    assert pieces == ["Deleted", "sites", "deleting", "site", "deletion"]


def test_a_name_is_marked_if_a_part_of_it_matches() -> None:
    assert marked("see KubePodCrashLooping and ERR_PNPM", "pod", "pnpm") == ["KubePodCrashLooping", "PNPM"]


def test_without_query_words_nothing_is_marked() -> None:
    assert marked("anything at all") == []


def test_the_rows_with_most_of_the_query_are_shown() -> None:
    pieces = best_rows(PASSAGE, Marker(["delete", "domain"]), room=60, most=2)
    assert pieces[0].startswith("- Deleting a site drops its `domains`")
    assert "**Deleting" not in "".join(pieces)
    assert "docs/**" in " ".join(pieces)


def test_without_a_match_the_beginning_is_shown_without_headings() -> None:
    pieces = best_rows(PASSAGE, Marker([]), room=40, most=2)
    assert pieces[0].startswith("Everything begins")
    assert pieces[-1].endswith("…")


def test_a_passage_that_is_only_a_heading_is_shown() -> None:
    assert best_rows("## Recovery\n", Marker([]), room=40, most=2) == ["Recovery"]
    assert best_rows("\n\n```\n```\n", Marker(["x"]), room=40, most=2) == []


@given(st.text(max_size=400), st.lists(st.text(max_size=12), max_size=4), st.integers(10, 60))
@settings(max_examples=100)
def test_any_passage_is_shown_in_few_rows_that_fit(passage: str, asked: list[str], room: int) -> None:
    marker = Marker(asked)
    rows = best_rows(passage, marker, room=room, most=3)
    assert len(rows) <= 3
    for row in rows:
        assert columns(row) <= room + 2  # room for an ellipsis on both sides
        assert "".join(piece for piece, _ in marker.marked(row)) == row


def test_placeholders_that_nobody_filled_in_are_not_shown() -> None:
    passage = f"# A lesson\n\nThe queue drops its jobs.\n\n{OUTLINE}"
    assert best_rows(passage, Marker(("queue",)), room=80, most=3) == ["The queue drops its jobs."]
