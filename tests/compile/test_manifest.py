"""The manifest of compiled files: a damaged or foreign one counts as missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deia.compile.manifest import NAME, Manifest, read_manifest, write_manifest
from deia.problems import Problem

MANIFEST = Manifest(
    deia="1.0",
    triggers=2,
    problems=(Problem(path="bok/\udcff.md", line=3, found="No title."),),
    ungated=("shop",),
    left_out=True,
)


def test_a_manifest_comes_back_as_it_was_written(tmp_path: Path) -> None:
    write_manifest(str(tmp_path), MANIFEST)
    assert read_manifest(str(tmp_path)) == MANIFEST


def test_a_missing_manifest_is_an_empty_one(tmp_path: Path) -> None:
    assert read_manifest(str(tmp_path)) == Manifest()


@pytest.mark.parametrize(
    "damage", [{"format": 0}, {"triggers": "2"}, {"ungated": "shop"}, {"ungated": [1]}, {"problems": [["a"]]}]
)
def test_a_foreign_manifest_is_an_empty_one(tmp_path: Path, damage: dict[str, object]) -> None:
    write_manifest(str(tmp_path), MANIFEST)
    path = tmp_path / NAME
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **damage}), encoding="utf-8")
    assert read_manifest(str(tmp_path)) == Manifest()


@pytest.mark.parametrize("content", [b"", b"[]", b"null", b"{", b"\xff", b"{}"])
def test_a_torn_manifest_is_an_empty_one(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    assert read_manifest(str(tmp_path)) == Manifest()
