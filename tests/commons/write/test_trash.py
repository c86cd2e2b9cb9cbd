"""A removed document can be restored unchanged, and the old text of a revised lesson is kept."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.index.load_commons import load_commons
from deia.commons.write.add_lesson import add_lesson
from deia.commons.write.index_store import rewrite
from deia.commons.write.revise_lesson import revise_lesson, revised_text
from deia.commons.write.trash import FOLDER, remove_document, restore_document
from deia.problems import CommonsError

if TYPE_CHECKING:
    from pathlib import Path

INDEX = """\
# our lessons
version: "1.0"
total_documents: 2
clusters:
  sites:
    description: Sites  # where they live
    keywords: [site]
    documents:
      - id: first
        path: bok/first.md
        title: The first
        summary: Of two
        keywords: [one]   # a comment of its own
        owner: "somebody"
      - id: second
        path: bok/second.md
        title: The second
        summary: Of two
        keywords: [two]
        related_docs: [first]
  views:
    description: Borrowed
    documents: [first]
query_patterns:
  - query_keywords: [one]
    natural_language: ["one?"]
    common_docs: [first]
"""
STAMP, DAY = "20261120T120000", "2026-11-20"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "bok").mkdir()
    (tmp_path / "triggers").mkdir()
    (tmp_path / "commons_index.yaml").write_text(INDEX, encoding="utf-8")
    (tmp_path / "bok/first.md").write_text("---\ntitle: The first # of all\nowner: x\n---\n\n# The first\n\nOld.\n")
    (tmp_path / "bok/second.md").write_text("# The second\n\nText.\n")
    trigger = (
        "- {id: t, title: T, urgency: low, message: m, documents: [{id: first, mode: summary_only}],"
        " when: {any: [{phrase: one two}]}}\n"
    )
    (tmp_path / "triggers/t.yaml").write_text(trigger)
    return tmp_path


def files_of(root: Path) -> dict[str, str]:
    found = (path for path in root.rglob("*") if path.is_file() and FOLDER not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in found}


def test_a_document_goes_with_its_entries_and_what_still_names_it_is_told(root: Path) -> None:
    removed = remove_document(str(root), "first", stamp=STAMP, today=DAY)
    commons = load_commons(str(root))
    assert [entry.id for entry in commons.entries] == ["second"]
    assert not (root / "bok/first.md").exists()
    assert set(removed.named_by) == {"trigger t", "document second", "query pattern at line 25"}
    index = (root / "commons_index.yaml").read_text(encoding="utf-8")
    assert "total_documents: 1" in index
    assert "# our lessons" in index


def test_brought_back_everything_is_as_it_was_to_the_byte(root: Path) -> None:
    before = files_of(root)
    remove_document(str(root), "first", stamp=STAMP, today=DAY)
    restore_document(str(root), "first", today=DAY)
    assert files_of(root) == before


def test_brought_back_after_others_changed_the_index_it_is_added_to_what_they_did(root: Path) -> None:
    remove_document(str(root), "first", stamp=STAMP, today=DAY)
    rewrite(str(root), lambda text: text.replace("Borrowed", "Changed since"))
    restore_document(str(root), "first", today=DAY)
    commons = load_commons(str(root))
    entry = next(one for one in commons.entries if one.id == "first")
    assert (entry.title, entry.clusters, entry.extra["owner"]) == ("The first", ("sites", "views"), "somebody")
    assert "Changed since" in (root / "commons_index.yaml").read_text(encoding="utf-8")


def test_a_document_that_the_index_does_not_list_goes_and_comes_too(root: Path) -> None:
    (root / "bok/third.md").write_text("# The third\n\nText.\n")
    ident = next(one.id for one in load_commons(str(root)).entries if one.path == "bok/third.md")
    before = files_of(root)
    remove_document(str(root), ident, stamp=STAMP, today=DAY)
    assert not (root / "bok/third.md").exists()
    restore_document(str(root), ident, today=DAY)
    assert files_of(root) == before


def test_the_last_removal_is_the_one_that_is_undone_and_only_once(root: Path) -> None:
    remove_document(str(root), "first", stamp="20261120T120000", today=DAY)
    (root / "bok/first.md").write_text("# In its place\n")
    with pytest.raises(CommonsError, match="exists already"):
        restore_document(str(root), "first", today=DAY)
    (root / "bok/first.md").unlink()
    restore_document(str(root), "first", today=DAY)
    with pytest.raises(CommonsError, match="no document 'first'"):
        restore_document(str(root), "first", today=DAY)


@pytest.mark.parametrize("asked", ["bee-suit", ""])
def test_what_was_removed_does_not_come_back_beside_another_lesson_of_its_id(root: Path, asked: str) -> None:
    add_lesson(str(root), title="Bee suit", today=DAY, text="Wear one.")
    removed = remove_document(str(root), "bee-suit", stamp=STAMP, today=DAY)
    add_lesson(str(root), title="Bee suit", today=DAY, text="Wash it.", category="gear")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    with pytest.raises(CommonsError) as refused:
        restore_document(str(root), asked, today=DAY)
    assert "bee-suit" in str(refused.value)
    assert "bok/gear/bee-suit.md" in str(refused.value), "the lesson that has the id now"
    assert f"{removed.trash}/{removed.path}" in refused.value.fix, "where the removed one lies"
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_undo_takes_back_the_update_of_a_lesson_that_took_the_id_of_a_removed_one(root: Path) -> None:
    add_lesson(str(root), title="Bee suit", today=DAY, text="Wear one.")
    remove_document(str(root), "bee-suit", stamp=STAMP, today=DAY)
    add_lesson(str(root), title="Bee suit", today=DAY, text="Wash it.", category="gear")
    before = files_of(root)
    revise_lesson(str(root), "bee-suit", text="Burn it.", today=DAY, stamp=STAMP)
    restore_document(str(root), "bee-suit", today=DAY)
    assert files_of(root) == before
    with pytest.raises(CommonsError, match="another lesson now"):
        restore_document(str(root), "bee-suit", today=DAY)


def test_what_is_superseded_by_a_removed_document_is_named(root: Path) -> None:
    (root / "bok/old.md").write_text("---\nsuperseded_by: second\n---\n\n# Old\n\nText.\n")
    old = next(entry.id for entry in load_commons(str(root)).entries if entry.path == "bok/old.md")
    assert remove_document(str(root), "second", stamp=STAMP, today=DAY).named_by == (f"document {old}",)


def test_within_one_second_it_may_go_and_come_again_and_again(root: Path) -> None:
    for _ in range(12):
        remove_document(str(root), "first", stamp=STAMP, today=DAY)
        assert not (root / "bok/first.md").exists()
        restore_document(str(root), "first", today=DAY)
        assert (root / "bok/first.md").is_file()
    assert (root / "commons_index.yaml").read_text(encoding="utf-8") == INDEX


def test_nothing_outside_the_project_is_taken_out(root: Path) -> None:
    for ident in ("nonesuch", "../first", ""):
        with pytest.raises(CommonsError, match="no document"):
            remove_document(str(root), ident, stamp=STAMP, today=DAY)


def test_a_note_in_the_trash_that_points_out_of_the_commons_moves_nothing(root: Path, tmp_path: Path) -> None:
    remove_document(str(root), "first", stamp=STAMP, today=DAY)
    note = root / FOLDER / f"{STAMP}-first" / "removed.yaml"
    note.write_text(note.read_text().replace("bok/first.md", "../../stolen.md"))
    with pytest.raises(CommonsError, match="leaves the commons"):
        restore_document(str(root), "first", today=DAY)
    assert not (tmp_path.parent / "stolen.md").exists()


def test_of_several_removals_each_undo_brings_back_another_one_whoever_is_first(root: Path) -> None:
    before = files_of(root)
    (root / "bok/third.md").write_text("# The third\n\nText.\n")
    third = next(one.id for one in load_commons(str(root)).entries if one.path == "bok/third.md")
    for number, ident in enumerate(("first", third)):
        remove_document(str(root), ident, stamp=f"20261120T12000{number}", today=DAY)
    code = (
        "import sys; from deia.commons.write import trash; print(trash.restore_document(sys.argv[1], '', today='').id)"
    )
    command = [sys.executable, "-c", code, str(root)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sorted(process.communicate(timeout=60)[0].strip() for process in both) == sorted(("first", third))
    assert files_of(root).keys() == {*before, "bok/third.md"}
    with pytest.raises(CommonsError, match="no lesson is in the trash"):
        restore_document(str(root), "", today=DAY)


# --- changing a lesson ---


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_a_lesson_is_not_emptied(root: Path, text: str) -> None:
    before = (root / "bok/first.md").read_bytes()
    with pytest.raises(CommonsError, match="empty"):
        revise_lesson(str(root), "first", text=text, today=DAY, stamp=STAMP)
    assert (root / "bok/first.md").read_bytes() == before


def test_a_changed_lesson_keeps_its_old_text_its_comments_and_what_nobody_changed(root: Path) -> None:
    changes = {"title": "The very first", "tags": ["a", "b"], "summary": ""}
    done = revise_lesson(str(root), "first", text="New.", today=DAY, stamp=STAMP, changes=changes)
    *written, kept = done.paths
    assert written == ["bok/first.md", "commons_index.yaml"]
    text = (root / "bok/first.md").read_text(encoding="utf-8")
    assert text == "---\ntitle: The very first # of all\nowner: x\n---\n\n# The very first\n\nNew.\n"
    assert "Old." in (root / kept / "bok/first.md").read_text(encoding="utf-8")
    index = (root / "commons_index.yaml").read_text(encoding="utf-8")
    entry = next(one for one in load_commons(str(root)).entries if one.id == "first")
    assert (entry.title, entry.tags, entry.summary, entry.updated) == ("The very first", ("a", "b"), "Of two", DAY)
    assert "# a comment of its own" in index


FACTS = {"title": "The very first", "urgency": "critical", "tags": ["a"]}


@pytest.mark.parametrize("text", ["New.", None])
def test_undo_brings_back_what_the_index_said_before_an_update(root: Path, text: str | None) -> None:
    before = files_of(root)
    revise_lesson(str(root), "first", text=text, today=DAY, stamp=STAMP, changes=FACTS)
    after = files_of(root)
    restored = restore_document(str(root), "first", today=DAY)
    assert files_of(root) == before
    kept = root / restored.trash
    assert [(kept / name).read_text() for name in ("bok/first.md", "index.before")] == [
        after["bok/first.md"], after["commons_index.yaml"],
    ]  # fmt: skip


def test_undo_of_an_update_leaves_what_the_index_says_of_others(root: Path) -> None:
    revise_lesson(str(root), "first", text=None, today=DAY, stamp=STAMP, changes=FACTS)
    revise_lesson(str(root), "second", text=None, today=DAY, stamp=STAMP, changes={"title": "Another"})
    restore_document(str(root), "first", today=DAY)
    first, second = load_commons(str(root)).entries
    assert (first.title, first.urgency, first.tags, first.updated) == ("The first", "", (), "")
    assert second.title == "Another"
    assert "# a comment of its own" in (root / "commons_index.yaml").read_text()


def test_each_undo_takes_back_one_update(root: Path) -> None:
    before = files_of(root)
    for number, title in enumerate(("One", "Two")):
        revise_lesson(
            str(root), "first", text=title, today=DAY, stamp=f"20261120T12000{number}", changes={"title": title}
        )
    restore_document(str(root), "first", today=DAY)
    assert load_commons(str(root)).entries[0].title == "One"
    restore_document(str(root), "first", today=DAY)
    assert files_of(root) == before


def test_an_unknown_urgency_changes_nothing(root: Path) -> None:
    before = files_of(root)
    with pytest.raises(CommonsError, match="critical, high"):
        revise_lesson(str(root), "first", text="New.", today=DAY, stamp=STAMP, changes={"urgency": "bad"})
    assert files_of(root) == before


def test_metadata_in_toml_becomes_yaml_with_a_new_text_unless_it_cannot_be_read() -> None:
    old = '+++\ntitle = "One"\ntags = ["x"]\n+++\nOld.\n'
    assert revised_text(old, "New.", {"title": "T"}) == "---\ntitle: T\ntags: [x]\n---\n\n# T\n\nNew.\n"
    with pytest.raises(CommonsError, match="The front matter is not valid TOML"):
        revised_text(old.replace('"One"', "One"), "New.", {"title": "T"})


@settings(max_examples=60)
@given(st.text(max_size=200), st.text(min_size=1, max_size=100))
def test_any_file_takes_any_new_text(old: str, text: str) -> None:
    try:
        revised = revised_text(old, text, {"title": "T", "updated": DAY})
    except CommonsError:
        return  # metadata that cannot be changed safely is left alone
    assert text.strip().replace("\r\n", "\n") in revised.replace("\r\n", "\n")
