"""Whose word counts: a commons is trusted by its real path, its owner, and the person's own list."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia import files
from deia.folders import STARTER
from deia.trust import distrust, is_trusted, trust, trusted_paths


@pytest.fixture
def state(tmp_path: Path) -> str:
    return str(tmp_path / "state")


def test_a_folder_that_was_merely_entered_is_not_trusted(tmp_path: Path, state: str) -> None:
    assert not is_trusted(str(tmp_path), environ={}, state=state)
    assert is_trusted(STARTER, environ={}, state=state)


def test_a_trusted_folder_stays_trusted_until_the_person_says_otherwise(tmp_path: Path, state: str) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    assert trust(str(root), state=state)
    assert trust(str(root), state=state)
    assert trusted_paths(state) == [str(root)]
    assert is_trusted(str(root), environ={}, state=state)
    assert not is_trusted(str(root / "inner"), environ={}, state=state)
    assert distrust(str(root), state=state)
    assert not distrust(str(root), state=state)
    assert not is_trusted(str(root), environ={}, state=state)


def test_everything_below_a_trusted_folder_is_trusted_and_nothing_beside_it(tmp_path: Path, state: str) -> None:
    for name in ("work/a/b", "works"):
        (tmp_path / name).mkdir(parents=True)
    assert trust(str(tmp_path / "work"), state=state, below=True)
    assert is_trusted(str(tmp_path / "work/a/b"), environ={}, state=state)
    assert not is_trusted(str(tmp_path / "works"), environ={}, state=state)


def test_a_link_is_trusted_for_where_it_leads_and_not_for_where_it_is(tmp_path: Path, state: str) -> None:
    (tmp_path / "trusted").mkdir()
    (tmp_path / "stranger").mkdir()
    trust(str(tmp_path / "trusted"), state=state, below=True)
    (tmp_path / "trusted" / "link").symlink_to(tmp_path / "stranger")
    (tmp_path / "alias").symlink_to(tmp_path / "trusted")
    assert not is_trusted(str(tmp_path / "trusted" / "link"), environ={}, state=state)
    assert is_trusted(str(tmp_path / "alias"), environ={}, state=state)


def test_a_circle_of_links_is_trusted_by_nobody(tmp_path: Path, state: str) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert not is_trusted(str(tmp_path / "a"), environ={"DEIA_TRUST": "*"}, state=state)


def test_a_machine_that_starts_anew_trusts_by_its_environment(tmp_path: Path, state: str) -> None:
    root = tmp_path / "job" / "repo"
    root.mkdir(parents=True)
    for value in (str(tmp_path / "job"), f"/elsewhere{os.pathsep}{root}", "*"):
        assert is_trusted(str(root), environ={"DEIA_TRUST": value}, state=state), value
    for value in ("", str(tmp_path / "jo"), os.pathsep):
        assert not is_trusted(str(root), environ={"DEIA_TRUST": value}, state=state), value


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a folder to somebody else")
def test_another_users_folder_is_trusted_only_by_its_own_name(
    tmp_path: Path, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    root = tmp_path / "theirs"
    root.mkdir()
    os.chown(root, 54321, 54321)
    assert not is_trusted(str(root), environ={"DEIA_TRUST": "*"}, state=state)
    trust(str(tmp_path), state=state, below=True)
    assert not is_trusted(str(root), environ={}, state=state)
    trust(str(root), state=state)
    assert is_trusted(str(root), environ={}, state=state)


def test_a_folder_with_a_line_break_in_its_name_cannot_list_another(tmp_path: Path, state: str) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    root = tmp_path / f"x\n{str(victim).lstrip('/')}"
    root.mkdir(parents=True)
    assert not trust(str(root), state=state)
    assert trusted_paths(state) == []


@given(st.text(alphabet="ab./~\\ \n", max_size=30))
def test_a_real_path_is_what_the_system_makes_of_it(path: str) -> None:
    if os.sep == "/" and "\\" not in path and path:
        assert files.real(path) == os.path.realpath(path)
