from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.catalog.build_catalog import build_catalog
from deia.knowledge import Document, Entry
from deia.search.catalog import open_catalog
from deia.search.question.terms import read_question
from deia.search.ranking.retrieve import MOST, affinity, choose_tier, relative_similarity

if TYPE_CHECKING:
    from pathlib import Path

    from deia.search.catalog import Catalog

TEXTS = {
    "rebase": "How to rebase a branch in git, and how to resolve the conflicts of a merge.",
    "stash": "How to put changes of the working tree aside with git stash before switching branches.",
    "tags": "How to sign a tag, push it to the remote, and describe a commit by its nearest tag.",
}
numbers = st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Return a catalog about git with vectors of both shipped tiers."""
    folder: Path = tmp_path_factory.mktemp("akin") / "catalog"
    folder.mkdir()
    entries = [Entry(id=name, path=f"bok/{name}.md", title=name) for name in TEXTS]
    documents = [Document(path=f"bok/{name}.md", title=name, text=text) for name, text in TEXTS.items()]
    build_catalog(entries, documents, [], [], str(folder), tiers=("static", "compact"))
    return open_catalog(str(folder))


@pytest.mark.parametrize("tier", ["static", "compact"])
def test_a_query_about_the_commons_subject_has_more_affinity(catalog: Catalog, tier: str) -> None:
    meaning = choose_tier(catalog, tiers=(tier,))
    own, homonym, foreign = (
        affinity(catalog, read_question(text, catalog), meaning)
        for text in ("undo the last commit on my branch", "when do I prune the branches of a tree", "feed a goldfish")
    )
    assert meaning.name == tier
    assert own > homonym > foreign
    assert own > 0.5
    assert foreign < 0.3


def test_without_a_tier_there_is_no_affinity(catalog: Catalog) -> None:
    assert affinity(catalog, read_question("git rebase", catalog), choose_tier(catalog, tiers=())) == 0.0


def test_a_query_without_known_words_has_no_affinity(catalog: Catalog) -> None:
    assert affinity(catalog, read_question("", catalog), choose_tier(catalog, tiers=("static",))) == 0.0


def test_relative_similarity_is_a_ratio_of_cosines() -> None:
    assert relative_similarity((1.0, 0.0), (0.5, 0.0)) == pytest.approx(MOST)
    assert relative_similarity((0.6, 0.8), (1.0, 0.0)) == pytest.approx(0.6)
    assert relative_similarity((0.0, 1.0), (1.0, 0.0)) == 0.0
    assert relative_similarity((1.0, 0.0), (0.0, 0.0)) == 0.0


@settings(max_examples=50)
@given(numbers, numbers)
def test_relative_similarity_is_bounded(question: list[float], middle: list[float]) -> None:
    assert -MOST <= relative_similarity(question, middle) <= MOST
