from __future__ import annotations

from pathlib import Path

import pytest

from deia.compile.catalog.build_catalog import build_catalog
from deia.errors import ArtefactError
from deia.knowledge import Document, Entry
from deia.match.keyword import MASK_BITS, KeywordIndex, key
from deia.search.catalog import Catalog, open_catalog

ENTRIES = [
    Entry(
        id="alpha", path="bok/alpha.md", title="Deploys", platforms=("Netlify", "Vercel"), urgency="high", tags=("dns",)
    ),
    Entry(id="beta", path="bok/beta.md", title="Backups", platforms=("Postgres",), clusters=("data",)),
]
DOCUMENTS = [
    Document(path="bok/alpha.md", title="Deploys", text="Deploying a site drops records.\n"),
    Document(path="bok/beta.md", title="Backups", text="Back up the site before you drop a table. " * 3),
]


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    folder = tmp_path_factory.mktemp("catalog")
    build_catalog(ENTRIES, DOCUMENTS, [], [], str(folder))
    return open_catalog(str(folder))


def find(catalog: Catalog, *stems: str, **filters: str) -> list[str]:
    passages = catalog.keyword.passages(dict.fromkeys(stems, 1.0), filters=filters, limit=10)
    return [catalog.id(number) for number, _, _ in passages]


def test_words_are_joined_by_or(catalog: Catalog) -> None:
    assert set(find(catalog, "record", "tabl")) == {"alpha", "beta"}
    assert find(catalog, "record", "nowhere") == ["alpha"]


def test_filters_apply_before_the_cutoff(catalog: Catalog) -> None:
    ((number, _, _),) = catalog.keyword.passages({"site": 1.0}, filters={"platform": "postgres"}, limit=1)
    assert catalog.id(number) == "beta"


def test_filters_ignore_case(catalog: Catalog) -> None:
    assert find(catalog, "site", platform="NETLIFY", tag="dns") == ["alpha"]
    assert catalog.keyword.has("platform", " netlify ")
    assert not catalog.keyword.has("platform", "nowhere")


def test_the_index_lists_the_values_of_a_filter(catalog: Catalog) -> None:
    assert catalog.keyword.values("platform") == ["netlify", "postgres", "vercel"]


def test_any_number_of_stems_is_looked_up(catalog: Catalog) -> None:
    stems = [f"none{n}" for n in range(3 * MASK_BITS)] + ["drop", "record"]
    stems_of = catalog.keyword.stems_by_passage(["alpha", "beta"], stems)
    assert stems_of == {"alpha": {0: {"drop", "record"}}, "beta": {0: {"drop"}}}


def test_an_empty_query_finds_nothing(catalog: Catalog) -> None:
    assert find(catalog) == []
    assert catalog.keyword.stems_by_passage([], ["drop"]) == {}
    assert catalog.keyword.stems_by_passage(["alpha"], []) == {"alpha": {}}


@pytest.mark.parametrize("strange", ["\ud800", "\x00", "x" * 100_000, "", "😀" * 1000])
def test_any_text_can_be_an_id_or_a_filter_value(catalog: Catalog, strange: str) -> None:
    assert catalog.keyword.number(strange) is None
    assert not catalog.keyword.has("platform", strange)
    assert len(key(strange)) <= 500


def test_a_folder_without_an_index_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match="deia compile"):
        KeywordIndex(str(tmp_path / "none"), name=str)
