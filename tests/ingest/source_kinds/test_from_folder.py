from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from deia import freshness
from deia.ingest.source import FolderSource, described
from deia.ingest.source_kinds.from_folder import FolderFiles

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LONG_AGO = 1_700_000_000


def made(top: Path) -> FolderFiles:
    """Return a folder whose files and folders are old."""
    (top / "deep").mkdir(parents=True)
    for name in (".gitignore", "a.md", "deep/b.md"):
        (top / name).write_text("*.log\n", encoding="utf-8")
    for place in (*top.rglob("*"), top):
        os.utime(place, (LONG_AGO, LONG_AGO))
    return FolderFiles(described(FolderSource(path=str(top))))


def place(opened: FolderFiles, name: str) -> str:
    """Return the path of a file as its folder gives it."""
    return next(path for path in opened.places() if path.endswith(f"/{name}"))


def changed(opened: FolderFiles, meanwhile: Callable[[], object], most: int, derived: Path) -> str:
    """Return what the stamps of a listing say has changed after something happened behind it."""
    found = list(opened.files())
    meanwhile()
    derived.mkdir()
    (derived / "stamps").write_text(freshness.stamp_text("", opened.stamps(found, most)), encoding="utf-8")
    return freshness.changed(str(derived), "", "stamps")


def test_stamps_of_a_folder_that_stays_as_it_is_say_so(tmp_path: Path) -> None:
    opened = made(tmp_path / "docs")
    assert not changed(opened, lambda: None, 100, tmp_path / "derived")


@pytest.mark.parametrize("most", [0, 100])
@pytest.mark.parametrize("name", ["new.md", "deep/new.md"])
def test_a_file_that_comes_after_its_folder_was_listed_shows(tmp_path: Path, name: str, most: int) -> None:
    opened = made(tmp_path / "docs")
    assert changed(opened, (tmp_path / "docs" / name).touch, most, tmp_path / "derived")


@pytest.mark.parametrize("name", [".gitignore", "a.md", "deep/b.md"])
def test_a_file_that_is_written_after_it_was_listed_shows(tmp_path: Path, name: str) -> None:
    opened = made(tmp_path / "docs")
    path = tmp_path / "docs" / name
    assert changed(opened, lambda: path.write_text("other"), 100, tmp_path / "derived") == place(opened, name)


def test_of_many_files_only_the_folders_are_stamped(tmp_path: Path) -> None:
    opened = made(tmp_path / "docs")
    found = list(opened.files())
    assert place(opened, "a.md") in opened.stamps(found, 100)
    assert not any(place.endswith(".md") for place in opened.stamps(found, 1))


def test_a_file_that_was_written_by_another_of_its_names_is_not_called_changed(tmp_path: Path) -> None:
    opened = made(tmp_path / "docs")
    os.link(tmp_path / "docs" / "a.md", tmp_path / "elsewhere.md")
    (tmp_path / "elsewhere.md").write_text("longer than before", encoding="utf-8")
    os.utime(tmp_path / "elsewhere.md", (LONG_AGO + 9, LONG_AGO + 9))
    assert not changed(opened, lambda: None, 100, tmp_path / "derived")


@pytest.mark.parametrize("inner", ["deep", "deep/deeper"])
def test_a_folder_that_became_a_link_after_it_was_listed_does_not_lead_out_of_the_source(
    tmp_path: Path, inner: str
) -> None:
    top = tmp_path / "docs"
    opened = made(top)
    (top / "deep" / "deeper").mkdir()
    (top / "deep" / "deeper" / "b.md").write_text("own", encoding="utf-8")
    found = {file.path: file for file in opened.files()}[f"{inner}/b.md"]
    assert opened.read(found)
    (top / inner).rename(tmp_path / "moved")
    (top / inner).symlink_to(tmp_path / "moved")
    assert opened.read(found) is None
