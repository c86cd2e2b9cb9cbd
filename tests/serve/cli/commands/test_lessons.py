"""Tests of changing lessons at the command line, and of the options that name files and folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.errors import QueryError
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
    assert sorted(path.name for path in notes.rglob("*")) == ["p17.md", "pumps"], "nothing is written there"


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
