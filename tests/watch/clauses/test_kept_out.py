"""Whether `git add -A` takes a file in follows from git's own files."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from deia.watch.clauses.folder_signs import SWEPT_IN, signs_around
from deia.watch.clauses.kept_out import is_kept_out

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with an env file in a folder below, and a home folder without rules."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "repository"
    (folder / "web").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / "web" / ".env").write_text("KEY=1\n")
    return folder


@pytest.mark.parametrize(
    ("place", "rules", "kept_out"),
    [
        (".gitignore", "node_modules\n", False),
        (".gitignore", "# secrets\n.env\n", True),
        (".gitignore", ".env*\n!.env.example\n", True),
        (".gitignore", ".env\n!web/.env\n", False),
        (".gitignore", "/web/.env", True),
        (".gitignore", "/.env", False),
        (".gitignore", "**/.env", True),
        ("web/.gitignore", ".env", True),
        (".git/info/exclude", ".env", True),
        ("../home/.gitignore", ".env", True),
    ],
)
def test_rules_are_read_as_git_reads_them(repository: Path, place: str, rules: str, *, kept_out: bool) -> None:
    path = repository / place
    path.parent.mkdir(exist_ok=True)
    path.write_text(rules)
    assert is_kept_out(f"{repository}/web/.env", str(repository)) is kept_out


def test_a_file_that_is_tracked_is_not_taken_in_anew(repository: Path) -> None:
    assert not is_kept_out(f"{repository}/web/.env", str(repository))
    subprocess.run(["git", "-C", str(repository), "add", "web/.env"], check=True)
    assert is_kept_out(f"{repository}/web/.env", str(repository))


def test_a_secret_is_a_sign_of_the_folder_only_if_git_would_take_it_in(repository: Path) -> None:
    find = signs_around(str(repository / "web"))
    assert find([SWEPT_IN]) == SWEPT_IN
    (repository / ".gitignore").write_text(".env\n")
    assert find([SWEPT_IN]) == ""
    (repository / "credentials.json").touch()
    assert find([SWEPT_IN]) == SWEPT_IN


def test_where_there_is_no_repository_nothing_is_taken_in(tmp_path: Path) -> None:
    (tmp_path / ".env").touch()
    assert is_kept_out(f"{tmp_path}/.env", str(tmp_path))
