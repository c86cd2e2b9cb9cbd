"""Tests of files that are no text: whatever they are called, they are named as problems and never indexed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.commons.index.load_commons import load_commons

if TYPE_CHECKING:
    from pathlib import Path

INDEX = 'version: "1.0"\nclusters:\n  all:\n    description: All.\n    documents:\n      - {id: manual, path: bok/manual.pdf, title: M, summary: S, keywords: [m]}\n'  # noqa: E501
BINARY = (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3 words", b"\x89PNG\r\n words", b"words\x00words", b"PK\x03\x04words")


@pytest.mark.parametrize("data", BINARY)
@pytest.mark.parametrize("name", ["bok/manual.pdf", "bok/manual.md"])
def test_a_binary_file_is_never_indexed_as_text(tmp_path: Path, data: bytes, name: str) -> None:
    (tmp_path / "bok").mkdir()
    (tmp_path / name).write_bytes(data)
    (tmp_path / "commons_index.yaml").write_text(INDEX.replace("bok/manual.pdf", name), encoding="utf-8")
    commons = load_commons(str(tmp_path))
    assert [document.text for document in commons.documents if "words" in document.text] == []
    assert "binary-file" in {problem.code for problem in commons.problems}
