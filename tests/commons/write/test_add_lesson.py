"""New lessons and new commons are complete, and existing files are never overwritten."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deia.commons.checks import lint
from deia.commons.index.load_commons import load_commons
from deia.commons.write.add_lesson import add_lesson, cases_text, trigger_text
from deia.commons.write.init import create_commons
from deia.fast_json import Json
from deia.problems import CommonsError
from tests.commons.write.test_index_store import files

if TYPE_CHECKING:
    from deia.knowledge import Entry
    from tests.commons.conftest import Write

TODAY = "2026-11-20"


def drafted(entry: Entry) -> tuple[str, str]:
    """Return a trigger and its cases for a lesson."""
    trigger: dict[str, Json] = {
        "id": entry.id, "title": entry.title, "status": "experimental", "urgency": entry.urgency, "action": "note",
        "message": entry.summary, "documents": [{"id": entry.id, "mode": "summary_only"}],
        "when": {"any": [{"phrase": "delete … site"}]},
    }  # fmt: skip
    return trigger_text(trigger), cases_text(entry.id, fires=["I'll delete the site"], silent=["the site is up"])


def test_a_new_commons_has_no_problems_and_one_of_everything(tmp_path: Path) -> None:
    started = create_commons(str(tmp_path), today=TODAY)
    assert lint(str(tmp_path)) == []
    commons = load_commons(str(tmp_path))
    assert (len(commons.entries), len(commons.triggers), len(commons.query_patterns)) == (1, 1, 1)
    assert {case.fires for case in commons.cases} == {True, False}
    assert set(started.written) == set(files(tmp_path))
    assert (tmp_path / ".gitignore").read_text(encoding="utf-8") == ".deia-writing\n.trash/\ntelemetry/events/\n"


def test_making_a_commons_again_changes_nothing_and_says_so(tmp_path: Path) -> None:
    create_commons(str(tmp_path), today=TODAY)
    before = files(tmp_path)
    again = create_commons(str(tmp_path), today="2027-01-01")
    assert (again.written, files(tmp_path)) == ((), before)
    assert "commons_index.yaml" in again.existed


def test_a_folder_with_lessons_keeps_them_and_gets_an_index_of_them(tmp_path: Path, write: Write) -> None:
    write("bok/mine.md", "# Mine\n\nText.\n")
    write(".gitignore", "build/\n/.deia/")
    started = create_commons(str(tmp_path), today=TODAY)
    assert [entry.id for entry in load_commons(str(tmp_path)).index.entries] == ["mine"]
    assert "bok/patterns/read-before-you-overwrite.md" not in started.written
    assert (tmp_path / ".gitignore").read_text(
        encoding="utf-8"
    ) == "build/\n/.deia/\n.deia-writing\n.trash/\ntelemetry/events/\n"


def test_a_lesson_brings_document_entry_trigger_and_cases(tmp_path: Path) -> None:
    create_commons(str(tmp_path), today=TODAY)
    lesson = add_lesson(
        str(tmp_path), title='Netlify: "deleting" a site', text="It drops everything.", platform="Netlify",
        urgency="critical",
        tags=("dns", "yes"), category="platforms/netlify", today=TODAY, draft=drafted,
    )  # fmt: skip
    assert lesson.paths == (
        "bok/platforms/netlify/netlify-deleting-a-site.md",
        "triggers/netlify-deleting-a-site.yaml",
        "triggers/netlify-deleting-a-site.cases.yaml",
        "commons_index.yaml",
    )
    assert lint(str(tmp_path)) == []
    commons = load_commons(str(tmp_path))
    entry = next(entry for entry in commons.entries if entry.id == "netlify-deleting-a-site")
    assert (entry.title, entry.summary, entry.tags) == (
        'Netlify: "deleting" a site',
        "It drops everything.",
        ("dns", "yes"),
    )
    trigger = next(trigger for trigger in commons.triggers if trigger.id == entry.id)
    assert (trigger.status, trigger.action) == ("experimental", "note")
    assert {case.fires for case in commons.cases if case.trigger == entry.id} == {True, False}


def test_a_lesson_never_overwrites(tmp_path: Path) -> None:
    create_commons(str(tmp_path), today=TODAY)
    add_lesson(str(tmp_path), title="One thing", today=TODAY)
    before = files(tmp_path)
    for title in ("One thing", "one  THING!"):
        with pytest.raises(CommonsError, match="exists already"):
            add_lesson(str(tmp_path), title=title, today=TODAY, draft=drafted)
    with pytest.raises(CommonsError, match="already has"):
        add_lesson(str(tmp_path), title="One thing", category="elsewhere", today=TODAY)
    assert files(tmp_path) == before


@pytest.mark.parametrize("folder", ["taken", "a\0b"])
def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path, write: Write, folder: str) -> None:
    write("taken", "a file")
    with pytest.raises(CommonsError, match="cannot be created"):
        create_commons(str(tmp_path / folder), today=TODAY)


def test_a_file_in_the_place_of_a_folder_is_said_and_nothing_is_left(tmp_path: Path, write: Write) -> None:
    write("bok/git", "a file")
    before = files(tmp_path)
    with pytest.raises(CommonsError, match="cannot be written"):
        add_lesson(str(tmp_path), title="One thing", category="git", today=TODAY, draft=drafted)
    assert files(tmp_path) == before


def test_a_lesson_that_the_index_refuses_leaves_no_files(tmp_path: Path, write: Write) -> None:
    write("commons_index.yaml", "{version: '1.0', clusters: {}}\n")
    before = files(tmp_path)
    with pytest.raises(CommonsError):
        add_lesson(str(tmp_path), title="One thing", today=TODAY, draft=drafted)
    assert files(tmp_path) == before


@pytest.mark.parametrize("given", [{"title": " … "}, {"title": "x", "urgency": "severe"}])
def test_a_lesson_that_cannot_be_written_says_what_is_wanted(tmp_path: Path, given: dict[str, Any]) -> None:
    with pytest.raises(CommonsError) as error:
        add_lesson(str(tmp_path), today=TODAY, **given)
    assert error.value.fix


@pytest.mark.parametrize("title", ["🔥🔥", " … ", ""])
def test_a_title_without_a_letter_is_refused_with_an_example(tmp_path: Path, title: str) -> None:
    with pytest.raises(CommonsError, match="at least one letter, because its id") as refused:
        add_lesson(str(tmp_path), title=title, today=TODAY)
    assert '"Restarting the queue drops its jobs"' in refused.value.fix


def test_a_lesson_without_a_draft_has_no_trigger(tmp_path: Path) -> None:
    lesson = add_lesson(str(tmp_path), title="One thing", today=TODAY, draft=lambda _: None)
    assert lesson.paths == ("bok/patterns/one-thing.md", "commons_index.yaml")
    assert load_commons(str(tmp_path)).triggers == ()


def test_control_characters_do_not_reach_the_files(tmp_path: Path) -> None:
    add_lesson(
        str(tmp_path),
        title="A\x1b[31m b",
        text="\x1b",
        tags=("\x85", "x\ny"),
        platform="\x00",
        today=TODAY,
        draft=drafted,
    )
    assert [problem for problem in lint(str(tmp_path)) if problem.severity == "error"] == []
    (entry,) = load_commons(str(tmp_path)).entries
    assert (entry.title, entry.summary, entry.tags, entry.platforms) == ("A [31m b", "A [31m b", ("x y",), ())


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_lesson_does_not_follow_a_link_out_of_the_commons(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    create_commons(str(root), today=TODAY)
    outside.mkdir()
    (root / "bok/away").symlink_to(outside)
    with pytest.raises(CommonsError, match="leaves the commons"):
        add_lesson(str(root), title="One thing", category="away", today=TODAY)
    assert list(outside.iterdir()) == []


@given(
    st.text(min_size=1, max_size=40),
    st.text(max_size=60),
    st.text(max_size=20),
    st.lists(st.text(max_size=8), max_size=2),
)
@example("0", "", "", ["?\u00d0"])
@example("0", "", "", ["-x", ": y"])
@example("0", "\0", "", [])
@settings(max_examples=40, deadline=None)
def test_whatever_a_person_types_gives_a_sound_lesson_or_says_why_not(
    title: str, text: str, category: str, tags: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as root:
        try:
            lesson = add_lesson(
                root, title=title, text=text, category=category, tags=tuple(tags), today=TODAY, draft=drafted
            )
        except CommonsError as error:
            fixes = error.fix
            lesson = None
        if lesson is None:
            assert fixes
            return
        errors = [problem for problem in lint(root, starter=False) if problem.severity == "error"]
        assert errors == [], (lesson, [str(error) for error in errors])
        assert all(Path(root, path).resolve().is_relative_to(Path(root).resolve()) for path in lesson.paths)
        assert {trigger.id for trigger in load_commons(root).triggers} == {lesson.entry.id}


@pytest.mark.parametrize(
    ("category", "problem"),
    [
        ("../../..", "leads out of bok/"),
        ("/etc", "leads out of bok/"),
        ("a/.git", "has a hidden part: .git"),
        ("a/!", "has a part without a letter: !"),
        ("a/b/c/d/e", "has 5 parts; at most 4 are accepted"),
    ],
)
def test_a_category_that_is_no_folder_below_bok_is_refused_and_nothing_written(
    tmp_path: Path, category: str, problem: str
) -> None:
    with pytest.raises(CommonsError) as refused:
        add_lesson(str(tmp_path), title="One thing", category=category, today=TODAY)
    assert refused.value.message == f"The category {category!r} {problem}."
    assert refused.value.fix == "Name a folder below bok/, such as patterns or platforms/netlify."
    assert list(tmp_path.iterdir()) == []
