"""A `.env` file: its DEIA_ lines are read, and all others ignored."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.dotenv import read_assignments
from deia.problems import SettingsError
from deia.settings import ignored_secrets, resolve, secret

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "not-to-be-shown-anywhere"  # noqa: S105 - of this test alone

TRUSTING = {"DEIA_TRUST": "*"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("DEIA_LIMIT=7", "7"),
        ("export DEIA_LIMIT = 7  # seven", "7"),
        ("DEIA_LIMIT='a # b $C \\n'", "a # b $C \\n"),
        ('DEIA_LIMIT="a\\n\\"b\\" \\$C" # more', 'a\n"b" $C'),
        ("DEIA_LIMIT=a#b", "a#b"),
        ("DEIA_LIMIT=", ""),
        ("DEIA_LIMIT=#", ""),
        ("\ufeffDEIA_LIMIT=7\r\n", "7"),
        ('DEIA_LIMIT="two\nlines"', "two\nlines"),
        ("DEIA_LIMIT=1\nDEIA_LIMIT=2", "2"),
    ],
)
def test_a_value_is_read_as_it_is_written(text: str, value: str) -> None:
    assert (read_assignments(text)[-1].name, read_assignments(text)[-1].value) == ("limit", value)


@pytest.mark.parametrize("text", ["#DEIA_LIMIT=7", "LIMIT=7", "DEIA_LIMIT", "x DEIA_LIMIT=7", 'A="\nDEIA_LIMIT=7\n"'])
def test_what_sets_nothing_of_deia_is_passed_over(text: str) -> None:
    assert read_assignments(text) == []


def test_somebody_elses_quotation_mark_that_is_never_closed_hides_nothing() -> None:
    (found,) = read_assignments("A='don't\nDEIA_LIMIT=7\n")
    assert (found.value, found.line, found.wrong) == ("7", 2, "")


@settings(max_examples=100)
@given(st.text(alphabet="DEIA_LIMT='\"\\\n #$ export7", max_size=60) | st.text(max_size=40))
def test_no_text_raises(text: str) -> None:
    for one in read_assignments(f"{text}\nDEIA_LIMIT=7"):
        assert one.line >= 1


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Return a commons, and a folder in which somebody works."""
    root, here = tmp_path / "commons", tmp_path / "here"
    root.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    return root, here


def test_the_environment_wins_over_both_files_and_they_over_the_settings_file(folders: tuple[Path, Path]) -> None:
    root, here = folders
    (root / "deia.toml").write_text("limit = 1\nrecent_turns = 11\ntelemetry_days = 1\nhold = false\n")
    (root / ".env").write_text("DEIA_LIMIT=2\nDEIA_RECENT_TURNS=12\nDEIA_TELEMETRY_DAYS=2\n")
    (here / ".env").write_text("OTHER=x\nDEIA_LIMIT=3\nDEIA_RECENT_TURNS=13\n")
    found = resolve(str(root), environ={**TRUSTING, "DEIA_LIMIT": "4"})
    assert (found.limit, found.recent_turns, found.telemetry_days, found.hold) == (4, 13, 2, False)
    names = ("limit", "recent_turns", "telemetry_days", "hold")
    where = f"{here}/.env:3".replace(os.sep, "/")
    assert [found.sources[name] for name in names] == ["DEIA_LIMIT", where, ".env:3", "deia.toml"]


@pytest.mark.parametrize(("line", "told"), [("DEIA_LIMIT=many", "whole number"), ("DEIA_LIMIT='7", "not closed")])
def test_a_line_that_cannot_be_read_is_told_with_its_place(folders: tuple[Path, Path], line: str, told: str) -> None:
    (folders[0] / ".env").write_text(f"A=1\n{line}\n")
    with pytest.raises(SettingsError, match=rf"\.env:2: (?s:.)*{told}"):
        resolve(str(folders[0]), environ=TRUSTING)


def test_a_secret_comes_from_the_environment_or_the_persons_own_env_file_and_never_from_a_project(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    root, here = folders
    state = tmp_path / "own state"
    environ = {"DEIA_STATE": str(state)}
    for folder in folders:
        (folder / ".env").write_text(f"DEIA_TOKEN={SECRET}\n")
    assert secret("token", environ=environ) == ("", "")
    assert ignored_secrets(str(root)) == ["DEIA_TOKEN in .env:1", f"DEIA_TOKEN in {here}/.env:1".replace(os.sep, "/")]
    state.mkdir()
    (state / ".env").write_text(f"# mine\nDEIA_TOKEN={SECRET}\n")
    assert secret("token", environ=environ) == (SECRET, f"{state}/.env:2")
    assert secret("token", environ={**environ, "DEIA_TOKEN": "other"}) == ("other", "DEIA_TOKEN")
    (state / ".env").write_text("DEIA_TOKEN='not closed\n")
    with pytest.raises(SettingsError, match="not closed"):
        secret("token", environ=environ)
    assert SECRET not in repr(resolve(str(root), environ=TRUSTING).values())
    (root / "deia.toml").write_text(f'token = "{SECRET}"\n')
    with pytest.raises(SettingsError, match="token is a secret") as caught:
        resolve(str(root), environ=TRUSTING)
    assert SECRET not in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_of_that_name_holds_nobody_up(folders: tuple[Path, Path]) -> None:
    os.mkfifo(folders[0] / ".env")
    assert resolve(str(folders[0]), environ=TRUSTING).limit == 5
