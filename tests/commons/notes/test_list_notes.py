"""Globs name notes inside a folder, and nothing that is no note, hidden, or outside of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.commons.notes.list_notes import escaped, find_notes, list_notes
from deia.globs import matches_glob

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commons.conftest import Write

FILES = (
    "a.md", "docs/b.md", "docs/deep/c.markdown", "docs/CHANGELOG.md", "docs/pic.png", "docs/node_modules/x.md",
    "docs/templates/t.md", ".git/x.md", ".obsidian/x.md", ".cursor/rules/r.mdc", ".cursor/notes.md", "bok/own.md",
    ".cursorrules", "docs/[x]/y.md",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, write: Write) -> Path:
    for path in FILES:
        write(path, "text")
    return tmp_path


@pytest.mark.parametrize(
    ("glob", "paths"),
    [
        ("docs/**", ["docs/[x]/y.md", "docs/b.md", "docs/deep/c.markdown"]),
        ("docs/**/*.md", ["docs/[x]/y.md", "docs/b.md"]),
        ("a.md", ["a.md"]),
        ("docs/[[]x]/**", ["docs/[x]/y.md"]),
        (".cursor/rules/**", [".cursor/rules/r.mdc"]),
        (".cursorrules", [".cursorrules"]),
        (".git/x.md", []),
        (".git/**", []),
        ("../**", []),
        ("missing/**", []),
        (
            "**",
            [".cursor/rules/r.mdc", ".cursorrules", "a.md", "docs/[x]/y.md", "docs/b.md", "docs/deep/c.markdown"],
        ),
    ],
)
def test_a_glob_names_the_notes_that_a_person_means(folder: Path, glob: str, paths: list[str]) -> None:
    assert list_notes(str(folder), [glob]) == paths


def test_what_is_no_note_is_counted(folder: Path) -> None:
    left_out = find_notes(str(folder), "docs").left_out
    assert left_out == {"CHANGELOG.md": 1, ".png": 1, "node_modules/": 1, "templates/": 1}


def test_links_to_folders_outside_are_not_followed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.md").write_text("x", encoding="utf-8")
    (folder / "docs" / "out").symlink_to(outside)
    (folder / "out").symlink_to(outside)
    assert not [path for path in list_notes(str(folder), ["**", "out/**", "out/secret.md"]) if "out" in path]


@pytest.mark.slow
@given(st.text(alphabet="ab[]*?/.", max_size=12))
def test_an_escaped_path_matches_itself_only(path: str) -> None:
    assert matches_glob(escaped(path), path)
    assert not matches_glob(escaped(path), path + "a")
