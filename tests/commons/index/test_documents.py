"""Documents are read in a fixed order and only from inside the commons; anything else is reported."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.index.documents import DOCUMENT_BYTES, read_documents
from deia.commons.source_files import safe_files, slugs

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commons.conftest import Write


def test_documents_are_sorted_and_only_markdown(tmp_path: Path, write: Write) -> None:
    for path in ("bok/b.md", "bok/a/z.MD", "bok/a.txt", "bok/.hidden.md", "other/c.md"):
        write(path, "# T\n")
    read = read_documents(str(tmp_path), also=("other/c.md", "other/none.md"))
    assert list(read.by_path) == ["bok/a/z.MD", "bok/b.md", "other/c.md"]
    assert read.problems == ()


def test_links_that_leave_the_commons_are_problems(tmp_path: Path, write: Write) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret", encoding="utf-8")
    write("bok/a.md", "# A\n")
    (tmp_path / "bok/link.md").symlink_to(outside / "secret.md")
    (tmp_path / "bok/folder").symlink_to(outside)
    read = read_documents(str(tmp_path), also=("bok/folder/secret.md",))
    assert list(read.by_path) == ["bok/a.md"]
    assert [(p.path, p.code) for p in read.problems] == [("bok/link.md", "path-leaves-commons")]


def test_a_document_that_is_too_large_is_a_problem(tmp_path: Path, write: Write) -> None:
    write("bok/a.md", "x" * (DOCUMENT_BYTES + 1))
    read = read_documents(str(tmp_path))
    assert ([p.code for p in read.problems], read.by_path) == (["file-too-large"], {})


def test_bytes_that_are_no_text_are_a_problem_with_their_line_and_the_rest_is_kept(tmp_path: Path) -> None:
    (tmp_path / "bok").mkdir()
    (tmp_path / "bok/a.md").write_bytes(b"# A\n\nb\xffc\n")
    read = read_documents(str(tmp_path))
    assert [(p.line, p.code) for p in read.problems] == [(3, "not-utf-8")]
    assert "b\ufffdc" in read.by_path["bok/a.md"].text


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such file names")
def test_a_file_name_with_a_line_break_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "bok").mkdir()
    (tmp_path / "bok/a\nb.md").write_text("x", encoding="utf-8")
    assert [p.code for p in read_documents(str(tmp_path)).problems] == ["file-name"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_among_the_documents_does_not_hang(tmp_path: Path) -> None:
    (tmp_path / "bok").mkdir()
    os.mkfifo(tmp_path / "bok/pipe.md")
    assert [p.code for p in read_documents(str(tmp_path)).problems] == ["special-file"]


@given(st.text(max_size=30))
@settings(max_examples=100, deadline=None)
def test_no_written_path_gets_out(path: str) -> None:
    root = os.path.realpath(os.path.dirname(__file__))
    place = safe_files.resolve(root, path)
    assert place == "" or os.path.commonpath([root, place]) == root


@given(st.text(max_size=80))
@settings(max_examples=100, deadline=None)
def test_any_title_gets_a_safe_name(title: str) -> None:
    name = slugs.slug(title)
    assert name == slugs.slug(title)
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert 0 < len(name) <= slugs.LONGEST + len("-lesson")
    assert name not in slugs.RESERVED
    assert not name.startswith("-")


def test_titles_in_other_scripts_stay_distinct() -> None:
    names = {
        slugs.slug(title) for title in ("データベース", "База данных", "قاعدة البيانات", "数据库", "CON", "Café DNS")
    }
    assert len(names) == 6
    assert {"con-lesson", "cafe-dns"} <= names
