"""A collection that keeps to word vectors is not encoded, and is found beside those that are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from deia.compile.library_encoding import encode_library
from deia.compile.take_in import bring_up_to_date, open_library, take_in
from deia.errors import QueryError
from deia.folders import derived_folder
from deia.ingest.source import FOLDER, Source
from deia.librarian import Librarian
from deia.search.catalog import open_catalog

if TYPE_CHECKING:
    from pathlib import Path

    from deia.search.catalog import Catalog


pytestmark = pytest.mark.slow


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    for name in ("HOME", "DEIA_STATE", "DEIA_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / "home" / name))
    monkeypatch.setenv("DEIA_TRUST", "*")
    commons = tmp_path / "commons"
    commons.mkdir()
    (commons / "commons_index.yaml").write_text('version: "1.0"\nclusters: {}\n')
    for name, text in (
        ("handbook", "The gasket of the pump is graphite."),
        ("sources", "A gasket wears out in the pump."),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "page.md").write_text(f"# Pumps in the {name}\n\n{text}\n")
        take_in(str(commons), [Source(kind=FOLDER, place=str(tmp_path / name), collection=name)], os.environ)
    return str(commons)


def set_tier(root: str, collection: str, tier: str) -> Catalog:
    with open_library(root, os.environ) as library:
        library.set_tier(collection, tier)
    bring_up_to_date(root, os.environ)
    encode_library(root, os.environ)
    folder = f"{derived_folder(root, os.environ)}/library"
    with open(f"{folder}/catalog", encoding="ascii") as file:
        return open_catalog(f"{folder}/{file.read()}")


def test_a_tier_decides_what_is_encoded_and_what_a_question_is_compared_by(root: str) -> None:
    whole = set_tier(root, "handbook", "")
    assert (whole.plain, len(whole.vectors("compact"))) == (None, len(whole.vectors("static")))
    mixed = set_tier(root, "sources", "static")
    assert mixed.plain == ["sources"]
    assert 0 < len(mixed.vectors("compact")) < len(mixed.vectors("static"))
    librarian = Librarian(root)
    by_tier = {
        name: librarian.query("gasket of the pump", collection=name).audit.tier for name in ("handbook", "sources")
    }
    assert by_tier == {"handbook": "compact", "sources": "static"}
    for tier in ("compact", None):  # it is not compared by the sentence model after all, passage by passage
        assert librarian.query("gasket of the pump", collection="sources", tier=tier).audit.tier == "static"
    with pytest.raises(QueryError, match="there is no collection 'typo'"):
        librarian.query("gasket of the pump", collection="handbook,typo,sources")
    both = librarian.query("gasket of the pump", collection="handbook,sources").documents
    assert {one.path.split("/")[0] for one in both} == {"library:handbook", "library:sources"}
    assert librarian.query("gasket of the pump").audit.tier == "static"
    again = set_tier(root, "sources", "compact")
    assert (again.plain, len(again.vectors("compact"))) == ([], len(again.vectors("static")))


def test_of_collections_that_keep_to_word_vectors_nothing_is_said_to_be_missing(root: str) -> None:
    with open_library(root, os.environ) as library:
        for name in ("handbook", "sources"):
            library.set_tier(name, "static")
    bring_up_to_date(root, os.environ)
    found = Librarian(root).query("gasket of the pump", collection="sources")
    assert found.documents
    assert not found.audit.warnings


def test_a_new_collection_is_found_beside_one_that_keeps_to_word_vectors(root: str, tmp_path: Path) -> None:
    set_tier(root, "sources", "static")
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "page.md").write_text("# Later\n\nThe gasket of the pump came later.\n")
    take_in(root, [Source(kind=FOLDER, place=str(tmp_path / "later"))], os.environ)
    found = {one.path.split("/")[0] for one in Librarian(root).query("gasket of the pump").documents}
    assert found >= {"library:handbook", "library:sources", "library:later"}


def test_a_collection_is_encoded_although_the_settings_say_word_vectors(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEIA_TIER", "static")
    mixed = set_tier(root, "handbook", "compact")
    assert mixed.plain == ["sources"]
    librarian = Librarian(root)
    tiers = {
        (name, asked): librarian.query("gasket of the pump", collection=name, tier=asked).audit.tier
        for name, asked in (("handbook", None), ("handbook", "static"), ("sources", None), ("handbook,sources", None))
    }
    assert tiers.pop(("handbook", None)) == "compact"
    assert set(tiers.values()) == {"static"}
