"""A summary and a heading that nobody wrote follow the text and the title; those that a person wrote stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.commons.index.load_commons import load_commons
from deia.commons.write.add_lesson import add_lesson
from deia.commons.write.index_store import build
from deia.commons.write.revise_lesson import revise_lesson
from deia.commons.write.trash import restore_document

if TYPE_CHECKING:
    from pathlib import Path

    from deia.commons.write.add_lesson import Lesson
    from deia.knowledge import Entry

DAY, LATER, STAMP = "2026-11-20", "2026-11-21", "20261121T120000"
OLD, NEW = "Wash hands with cold water.", "Never use cold water; use warm water."
NOTE = "# Bees\n\n> [!tldr]\n> Keep bees dry.\n\nA first paragraph.\n"


def entry_of(root: Path, ident: str = "hot-water") -> Entry:
    return next(entry for entry in load_commons(str(root)).entries if entry.id == ident)


def add(root: Path, *, title: str = "Hot water", text: str = OLD, summary: str = "") -> Lesson:
    return add_lesson(str(root), title=title, today=DAY, text=text, summary=summary)


def revise(root: Path, ident: str = "hot-water", *, text: str | None = NEW, **changes: str) -> Lesson:
    return revise_lesson(str(root), ident, text=text, today=LATER, stamp=STAMP, changes={**changes})


@pytest.mark.parametrize("text", [OLD, "", f"# Hot water\n\n{OLD}", f"{'long words ' * 60}.\n\nMore."])
def test_a_summary_that_nobody_wrote_follows_the_new_text(tmp_path: Path, text: str) -> None:
    add(tmp_path, text=text)
    build(str(tmp_path), write=True, today=DAY)
    lesson = revise(tmp_path)
    assert (entry_of(tmp_path).summary, lesson.kept_summary) == (NEW, "")


def test_undo_brings_back_the_summary_of_the_old_text(tmp_path: Path) -> None:
    add(tmp_path)
    before = (tmp_path / "commons_index.yaml").read_text(encoding="utf-8")
    revise(tmp_path)
    restore_document(str(tmp_path), "hot-water", today=DAY)
    assert (tmp_path / "commons_index.yaml").read_text(encoding="utf-8") == before


def test_a_summary_that_a_person_wrote_stays_and_is_told(tmp_path: Path) -> None:
    add(tmp_path, summary="Mind the water.")
    lesson = revise(tmp_path)
    assert (entry_of(tmp_path).summary, lesson.kept_summary) == ("Mind the water.", "Mind the water.")


def test_a_summary_that_a_person_wrote_above_an_outline_stays(tmp_path: Path) -> None:
    add(tmp_path, text="", summary="Mind the water.")
    assert revise(tmp_path).kept_summary == "Mind the water."


def test_a_summary_that_is_given_with_the_text_is_taken(tmp_path: Path) -> None:
    add(tmp_path)
    lesson = revise(tmp_path, summary="Use warm water.")
    assert (entry_of(tmp_path).summary, lesson.kept_summary) == ("Use warm water.", "")


def test_the_summary_of_a_note_is_taken_from_it_as_before(tmp_path: Path) -> None:
    (tmp_path / "bok").mkdir()
    (tmp_path / "bok/bees.md").write_text(NOTE, encoding="utf-8")
    build(str(tmp_path), write=True, today=DAY)
    assert entry_of(tmp_path, "bees").summary == "Keep bees dry."
    revise(tmp_path, "bees", text=NOTE.replace("dry", "warm"))
    assert entry_of(tmp_path, "bees").summary == "Keep bees warm."


def test_nothing_is_written_into_an_index_that_has_no_summary(tmp_path: Path) -> None:
    add(tmp_path)
    index = tmp_path / "commons_index.yaml"
    lines = index.read_text(encoding="utf-8").splitlines(keepends=True)
    index.write_text("".join(line for line in lines if "summary:" not in line), encoding="utf-8")
    assert revise(tmp_path).kept_summary == ""
    assert "summary:" not in index.read_text(encoding="utf-8")
    assert entry_of(tmp_path).summary == NEW


@pytest.mark.parametrize("metadata", ["---\ntitle: Hot water\n---\n\n", ""])
def test_a_heading_that_was_the_title_follows_a_new_title(tmp_path: Path, metadata: str) -> None:
    path = tmp_path / add(tmp_path, text=f"# Hot water\n\n{OLD}").entry.path
    path.write_text(f"{metadata}# Hot water\n\n{OLD}\n", encoding="utf-8")
    revise(tmp_path, text=None, title="Warm water")
    assert path.read_text(encoding="utf-8").endswith(f"# Warm water\n\n{OLD}\n")
    assert entry_of(tmp_path).summary == OLD


def test_a_heading_of_other_words_stays_with_a_new_title(tmp_path: Path) -> None:
    path = tmp_path / add(tmp_path, text=f"# Washing\n\n{OLD}").entry.path
    revise(tmp_path, text=None, title="Warm water")
    assert path.read_text(encoding="utf-8").endswith(f"# Washing\n\n{OLD}\n")


def test_a_summary_that_is_the_title_follows_a_new_title(tmp_path: Path) -> None:
    add(tmp_path, text="")
    revise(tmp_path, text=None, title="Warm water")
    assert entry_of(tmp_path).summary == "Warm water"
