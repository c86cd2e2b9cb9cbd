"""Tests of document strengths: they decide between nearly equal documents, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deia.compile.catalog.build_catalog import build_catalog
from deia.knowledge import Document, Entry
from deia.search.catalog import open_catalog
from deia.search.pipeline import ranking

if TYPE_CHECKING:
    from pathlib import Path

    from deia.search.catalog import Catalog

TEXTS = {
    "a": "Rotating the signing key of a release.",
    "b": "Rotating the signing key of a release.",
    "c": "Lunch is at noon; a key hangs beside the door.",
}


def catalog(folder: Path, **strengths: Any) -> Catalog:
    folder.mkdir()
    extra = {name: {"strength": value} for name, value in strengths.items()}
    entries = [Entry(id=name, path=f"bok/{name}.md", title="Note", extra=extra.get(name, {})) for name in TEXTS]
    documents = [Document(path=f"bok/{name}.md", title="Note", text=text) for name, text in TEXTS.items()]
    build_catalog(entries, documents, [], [], str(folder))
    return open_catalog(str(folder))


def test_a_stronger_document_comes_first_among_equals(tmp_path: Path) -> None:
    query = "rotate the signing key"
    assert ranking(catalog(tmp_path / "even"), query)[:2] == ["a", "b"]
    assert ranking(catalog(tmp_path / "up", b=0.25), query)[:2] == ["b", "a"]
    assert ranking(catalog(tmp_path / "down", a=-0.25), query)[:2] == ["b", "a"]


def test_no_strength_lifts_an_unrelated_document(tmp_path: Path) -> None:
    assert ranking(catalog(tmp_path / "much", c=1000), "rotate the signing key")[0] == "a"


def test_a_strength_that_is_not_a_number_is_ignored(tmp_path: Path) -> None:
    opened = catalog(tmp_path / "odd", a="strong", b=True, c=[1])
    assert opened.strengths == {}
