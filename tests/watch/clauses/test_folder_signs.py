"""Platforms are recognised by the files in a working folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deia.watch.clauses.folder_signs import MOST_FOLDERS, SIGNS, signs_among, signs_around

if TYPE_CHECKING:
    from pathlib import Path


def test_a_platform_shows_in_the_folder_or_above_it(tmp_path: Path) -> None:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "netlify.toml").touch()
    assert signs_around(str(tmp_path / "src" / "deep"))(["vercel", "netlify"]) == "netlify"
    assert signs_around(str(tmp_path / "src" / "deep"))(["vercel"]) == ""


def test_nobody_looks_above_the_repository_or_too_far_up(tmp_path: Path) -> None:
    (tmp_path / "netlify.toml").touch()
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    assert signs_around(str(tmp_path / "repo"))(["netlify"]) == ""
    deep = tmp_path.joinpath(*"abcdefghij")
    deep.mkdir(parents=True)
    assert len("abcdefghij") > MOST_FOLDERS
    assert signs_around(str(deep))(["netlify"]) == ""


def test_strange_folders_show_nothing() -> None:
    for folder in ("", "a\0b", "/no/such/folder", "x" * 10_000, "\ud800", "..", "relative/path"):
        assert signs_around(folder)(["hugo", "unknown"]) == ""


def test_a_list_of_names_will_do_for_a_case() -> None:
    assert signs_among(("vercel.json",))(["netlify", "vercel"]) == "vercel"
    assert signs_among(())(["netlify"]) == ""


def test_signs_are_relative_names() -> None:
    assert all(name and not name.startswith("/") and ".." not in name for names in SIGNS.values() for name in names)
