"""Names of sources: the same one again, another one of the same place, and which is meant if several are alike."""

from __future__ import annotations

import pytest

from deia.ingest.naming import named, said_of
from deia.ingest.source import FOLDER, GIT, Source, SourceError

SHOP = Source(kind=GIT, place="https://example.org/shop.git")
DOCS = Source(kind=FOLDER, place="/srv/docs")
KNOWN_SHOP = SHOP.but(name="shop", collection="shop")
KNOWN_DOCS = DOCS.but(name="docs", collection="docs")


def test_the_same_settings_are_the_same_source_whatever_it_is_called() -> None:
    known = DOCS.but(name="pumps", collection="handbook", filter=("*.md",))
    again = named(DOCS.but(filter=("*.md",), tags=("new",)), [known])
    assert (again.name, again.collection, again.tags) == ("pumps", "handbook", ("new",))
    assert said_of(again, [known]) == "Changed of pumps: tags."
    assert said_of(again, [known], is_planned=True) == "This would change of pumps: tags."
    assert said_of(known, [known]) == ""


@pytest.mark.parametrize(
    ("source", "known", "name"),
    [
        (SHOP.but(branch="release/2"), KNOWN_SHOP, "shop-release-2"),
        (SHOP, KNOWN_SHOP.but(branch="dev"), "shop-2"),
        (DOCS.but(filter=("*.md",)), KNOWN_DOCS, "docs-2"),
        (DOCS.but(collection="handbook"), KNOWN_DOCS, "docs-handbook"),
    ],
)
def test_another_branch_filter_or_collection_is_another_source_which_is_said(
    source: Source, known: Source, name: str
) -> None:
    other = named(source, [known])
    assert (other.name, other.collection) == (name, source.collection or name)
    assert said_of(other, [known]).startswith(f"{name} is one more source of the same place, beside {known.name}.")


def test_with_its_name_a_source_is_changed_and_stays_in_its_collection() -> None:
    known = KNOWN_SHOP.but(collection="code")
    changed = named(SHOP.but(name="shop", branch="dev"), [known])
    assert (changed.name, changed.collection, changed.branch) == ("shop", "code", "dev")
    assert said_of(changed, [known]) == "Changed of shop: branch."


def test_a_name_at_another_place_is_refused() -> None:
    with pytest.raises(SourceError, match="there is a source 'shop' at https://example"):
        named(DOCS.but(name="shop"), [KNOWN_SHOP])


def test_of_several_alike_the_one_without_a_collection_of_its_own_is_meant_or_the_person_is_asked() -> None:
    handbook, team = (DOCS.but(name=f"docs-{name}", collection=name) for name in ("handbook", "team"))
    assert named(DOCS, [KNOWN_DOCS, handbook]).name == "docs"
    assert named(DOCS.but(collection="team"), [handbook, team]).name == "docs-team"
    with pytest.raises(SourceError, match="Say which one is meant: --name docs-handbook"):
        named(DOCS, [handbook, team])
