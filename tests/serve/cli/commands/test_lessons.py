"""Tests of changing lessons at the command line, and of the options that name files and folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.errors import QueryError
from deia.librarian import Librarian
from deia.serve.cli.quick_path import PLACES, take_places

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia

PLAIN = ("search", "--limit", "3", "words", "-", "--", "--json")


@pytest.fixture
def lesson(deia: Deia, commons: Path) -> Path:
    assert deia("add", "--title", "Draining the queue", "--text", "Stop it first.").code == 0
    return next(commons.glob("bok/**/draining-the-queue.md"))


def test_a_lesson_is_updated_removed_and_brought_back(deia: Deia, commons: Path, lesson: Path) -> None:
    ident = lesson.stem
    updated = deia("update", ident, "--text", "Pause it first.", "--urgency", "critical")
    assert updated.code == 0, updated.err
    assert "Pause it first." in lesson.read_text(encoding="utf-8")
    assert "The old text is in .trash/" in updated.out
    assert deia("update", ident, "--summary", "Pause, drain, go on.").code == 0
    assert "Pause it first." in lesson.read_text(encoding="utf-8"), "facts change no text"
    assert f"deia undo {ident}" in deia("remove", ident).out
    assert not lesson.exists()
    assert deia("undo").code == 0
    assert "Pause it first." in lesson.read_text(encoding="utf-8")
    index = (commons / "commons_index.yaml").read_text(encoding="utf-8")
    assert "Pause, drain, go on." in index


def test_undo_brings_back_the_text_before_an_update_and_then_the_one_before_that(deia: Deia, lesson: Path) -> None:
    first = lesson.read_text(encoding="utf-8")
    for text in ("Pause it first.", "Ask first."):
        assert f"deia undo {lesson.stem}" in deia("update", lesson.stem, "--text", text).out
    for text in ("Pause it first.", first):
        assert deia("undo", lesson.stem).code == 0
        assert text in lesson.read_text(encoding="utf-8")
    assert "no document" in deia("undo", lesson.stem).err
    kept = [path.read_text(encoding="utf-8") for path in lesson.parents[2].glob(".trash/restored-*/**/*.md")]
    assert "Ask first." in "".join(kept), "what was taken back is not lost"


def test_undo_brings_back_the_facts_before_an_update(deia: Deia, commons: Path, lesson: Path) -> None:
    before = [path.read_text(encoding="utf-8") for path in (lesson, commons / "commons_index.yaml")]
    assert deia("update", lesson.stem, "--urgency", "critical", "--title", "Foo").code == 0
    assert deia("undo", lesson.stem).code == 0
    assert [path.read_text(encoding="utf-8") for path in (lesson, commons / "commons_index.yaml")] == before


def test_a_search_shows_what_a_lesson_says_since_its_update(deia: Deia) -> None:
    assert deia("add", "Hot water for washing hands", "--text", "Wash hands with cold water.").code == 0
    updated = deia("update", "hot-water-for-washing-hands", "--text", "Never use cold water; use warm water.")
    assert "The summary was kept" not in updated.out
    found = deia("search", "washing hands").out
    assert "Wash hands with cold water." not in found
    assert "Never use cold water; use warm water." in found


def test_a_summary_that_somebody_wrote_is_kept_with_what_to_type(deia: Deia, lesson: Path) -> None:
    assert deia("update", lesson.stem, "--summary", "Mind the order.").code == 0
    updated = deia("update", lesson.stem, "--text", "Pause it first.").out.splitlines()
    told = [line for line in updated if line.startswith("The summary")]
    assert told == [
        f'The summary was kept: "Mind the order.". To change it, type: deia update {lesson.stem} --summary "…"'
    ]


def test_an_empty_tag_is_refused(deia: Deia, lesson: Path) -> None:
    refused = deia("update", lesson.stem, "--tag", " ")
    assert (refused.code, "One of the tags is empty." in refused.err) == (2, True)


def test_what_cannot_be_changed_is_refused_with_what_to_type(deia: Deia) -> None:
    nothing = deia("undo")
    assert (nothing.code, "deia learn undo" in nothing.err) == (2, True)
    assert "--text" in deia("update", "x").err
    assert "no document 'x'" in deia("remove", "x").err


def test_a_folder_of_documents_answers_without_any_file_of_settings(
    deia: Deia, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*PLACES.values(), "DEIA_COMMONS"):
        monkeypatch.setenv(name, "")  # so that the options' values end with the test
    notes = tmp_path / "notes"
    (notes / "pumps").mkdir(parents=True)
    (notes / "pumps/p17.md").write_text("# Pump P-17\n\nVent pump P-17 before it starts.\n", encoding="utf-8")
    monkeypatch.setenv("DEIA_STATE", str(tmp_path / "s"))
    found = deia("search", "before pump P-17 starts", "--docs", str(notes), "--format", "paths")
    assert found.out.splitlines()[0] == "pumps/p17.md"
    added = deia("add", "--title", "Venting", "--docs", str(notes))
    assert (added.code, f"deia init {notes}" in added.err) == (2, True)
    assert sorted(path.name for path in notes.rglob("*")) == ["p17.md", "pumps"], "nothing is written there"
    assert deia("search", "delete a netlify site", "--docs", str(notes)).code == 1, "nothing else answers"
    both = deia("search", "pump", "--docs", str(notes), "--commons", str(notes))
    assert (both.code, "--docs and --commons both say what is searched" in both.err) == (2, True)


def test_the_variable_for_a_folder_of_documents_is_enough_alone(
    deia: Deia, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEIA_COMMONS", raising=False)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/p17.md").write_text("# Pump P-17\n\nVent pump P-17 before it starts.\n", encoding="utf-8")
    monkeypatch.setenv("DEIA_DOCS", str(tmp_path / "notes"))
    assert deia("search", "before pump P-17 starts", "--format", "paths").out == "p17.md\n"
    assert [result.path for result in Librarian().query("before pump P-17 starts").documents] == ["p17.md"]


def test_a_folder_with_nothing_to_read_is_refused_with_what_is_read(
    deia: Deia, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*PLACES.values(), "DEIA_COMMONS"):
        monkeypatch.setenv(name, "")
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "a.txt").write_text("Vent the pump first.\n", encoding="utf-8")
    refused = deia("search", "vent the pump", "--docs", str(texts))
    assert refused.code == 2
    assert "there is nothing to read" in refused.err
    assert "Notes are .md, " in refused.err
    assert f"To have other files searched, type: deia ingest {texts}" in refused.err
    (texts / "b.md").write_text("# Pumps\n\nVent the pump first.\n", encoding="utf-8")
    found = deia("search", "vent the pump", "--docs", str(texts), "--format", "paths")
    assert found.out == "b.md\n"
    assert f"--docs {texts}: not read, since they are no notes: 1 .txt. To have other files searched" in found.err


def test_a_port_that_there_is_not_is_refused_in_any_file(
    deia: Deia, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEIA_CONFIG", "")
    (tmp_path / "my.toml").write_text("port = 99999\n", encoding="utf-8")
    refused = deia("--config", str(tmp_path / "my.toml"), "config")
    assert (refused.code, "Expected: a whole number from 0 to 65535." in refused.err) == (2, True)


def test_settings_and_own_files_are_where_the_options_say(
    deia: Deia, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in PLACES.values():
        monkeypatch.setenv(name, "")
    (tmp_path / "my.toml").write_text("limit = 2\nport = 9000\ntransport = 'stdio'\n", encoding="utf-8")
    shown = deia("--config", str(tmp_path / "my.toml"), "config", f"--data={tmp_path / 'mine'}").out
    assert "limit = 2" in shown
    assert "port = 9000" in shown
    assert f"state = {tmp_path.as_posix()}/mine" in shown


def test_the_variable_of_other_librarians_is_accepted_and_explained(
    deia: Deia, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENABLE_CROSS_MODAL_SEARCH", "true")
    assert "changes nothing: one search always finds" in deia("config").out


def test_a_place_that_is_not_there_is_refused() -> None:
    with pytest.raises(QueryError, match="--docs nowhere: there is no such folder"):
        take_places(["search", "x", "--docs", "nowhere"])
    with pytest.raises(QueryError, match="--config : there is no such file"):
        take_places(["--config"])
    with pytest.raises(QueryError, match="--config /dev/null: there is no such file"):
        take_places(["--config", "/dev/null"])
    with pytest.raises(QueryError, match="there is no such folder"):
        take_places(["--data", __file__, "search", "x"])


@given(st.lists(st.sampled_from(PLAIN)))
def test_a_command_line_without_places_stays_as_it_is(arguments: list[str]) -> None:
    assert take_places(arguments) == arguments
    assert take_places([*arguments, "--", "--docs"]) == [*arguments, "--", "--docs"]
