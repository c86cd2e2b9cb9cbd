from __future__ import annotations

from base64 import b64encode
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.catalog.build_catalog import build_catalog
from deia.knowledge import Document, Entry, Query
from deia.search.catalog import open_catalog
from deia.search.pipeline import search
from deia.search.question.terms import read_question
from deia.search.ranking.retrieve import MOST, _is_uneven, affinity, choose_tier, relative_similarity

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
        affinity(catalog, read_question(text, catalog), meaning, {})
        for text in ("undo the last commit on my branch", "when do I prune the branches of a tree", "feed a goldfish")
    )
    assert meaning.name == tier
    assert own > homonym > foreign
    assert own > 0.5
    assert foreign < 0.3


def test_without_a_tier_there_is_no_affinity(catalog: Catalog) -> None:
    assert affinity(catalog, read_question("git rebase", catalog), choose_tier(catalog, tiers=()), {}) == 0.0


def test_a_query_without_known_words_has_no_affinity(catalog: Catalog) -> None:
    assert affinity(catalog, read_question("", catalog), choose_tier(catalog, tiers=("static",)), {}) == 0.0


PAGES = {
    "lab": "Acid waste goes into the yellow canister. Goggles are worn at all times in the laboratory.",
    "dog": "Dogs may come on Fridays. They stay on a leash in the corridors.",
    "bike": "Bicycles are parked in the cellar. The key hangs at the reception desk.",
    "travel": "Train journeys are booked in second class. Flights need the approval of the head of department.",
    "sick": "Report an illness before nine in the morning. A doctor's note is due on the third day.",
    "print": "The colour printer stands on the second floor. Toner is ordered by the front office.",
    "visit": "Visitors sign in at the gate and wear a red badge. They are accompanied at all times.",
    "kitchen": "The dishwasher is started at five o'clock. Milk in the fridge belongs to everybody.",
}
CHANCE = Random(7)  # noqa: S311 - no secret
JUNK = {
    "a table of numbers": "t,x,y\n" + "\n".join(f"{n},{CHANCE.random():.6f},{CHANCE.random()}" for n in range(6_000)),
    "base64": "\n".join(b64encode(CHANCE.randbytes(57)).decode() for _ in range(4_000)),
    "one letter": 300_000 * "a",
}
A_BOOK = "\n\n".join(
    f"## Chapter {n}\n\nThe captain of the whaler saw island {n} and lowered a boat into the waves." for n in range(400)
)


def pages_and(folder: Path, text: str) -> Catalog:
    """Return a catalog of a collection of pages and one large document besides."""
    texts = {**PAGES, **({"large": text} if text else {})}
    documents = [Document(path=f"{name}.md", title=name, text=text) for name, text in texts.items()]
    entries = [
        Entry(id=name, path=f"{name}.md", title=name, clusters=("house" if name in PAGES else "else",))
        for name in texts
    ]
    folder.mkdir()
    build_catalog(entries, documents, [], [], str(folder), tiers=("static",))
    return open_catalog(str(folder))


def verdicts(catalog: Catalog, *, cluster: str) -> list[tuple[object, str, str]]:
    asked = (
        "where does acid waste go", "can I bring my dog", "which class for train journeys", "what do visitors wear",
        "when does the dishwasher start", "how do I feed a goldfish", "how to tune a violin",
    )  # fmt: skip
    answers = [search(catalog, Query(text=text, cluster=cluster)) for text in asked]
    return [
        (answer.matched, answer.confidence, next((found.id for found in answer.documents), "")) for answer in answers
    ]


@pytest.mark.parametrize("cluster", ["", "house"])
@pytest.mark.parametrize("junk", JUNK)
def test_a_document_without_words_leaves_the_answers_of_the_pages_beside_it(
    tmp_path: Path, junk: str, cluster: str
) -> None:
    alone, beside = pages_and(tmp_path / "alone", ""), pages_and(tmp_path / "beside", JUNK[junk])
    assert beside.keyword.chunks > 20 * len(PAGES)
    assert len(PAGES) == alone.keyword.worded <= beside.keyword.worded <= len(PAGES) + 1  # base64 may look like words
    assert beside.length == pytest.approx(alone.length, rel=0.2)
    assert verdicts(beside, cluster=cluster) == verdicts(alone, cluster=cluster)
    found = [first for _, _, first in verdicts(alone, cluster="")]
    assert found == ["lab", "dog", "travel", "visit", "kitchen", "", ""]


def test_a_book_beside_pages_takes_no_affinity_from_them_nor_they_from_it(tmp_path: Path) -> None:
    alone, beside = pages_and(tmp_path / "alone", ""), pages_and(tmp_path / "beside", A_BOOK)
    meaning = choose_tier(beside)

    def akin(catalog: Catalog, text: str, **filters: str) -> float:
        return affinity(catalog, read_question(text, catalog), meaning, filters)

    of_pages, of_the_book = "where do visitors sign in", "where did the whaler lower a boat"
    assert beside.keyword.worded == beside.keyword.chunks
    assert akin(beside, of_pages) > 0.6 * akin(alone, of_pages) > 0.4
    assert akin(beside, of_pages, cluster="house") == pytest.approx(akin(alone, of_pages))
    assert akin(beside, of_the_book) > 0.5 > akin(beside, of_the_book, cluster="house")


@pytest.mark.parametrize("own_first", [True, False])
def test_a_few_lessons_of_ones_own_count_by_themselves_beside_many(tmp_path: Path, *, own_first: bool) -> None:
    places = {f"bok/{name}.md": text for name, text in PAGES.items()}
    places |= {f"starter:bok/{n}-{name}.md": text for n in range(10) for name, text in TEXTS.items()}
    titles = {path: path.rpartition("/")[2].removesuffix(".md").rpartition("-")[2] for path in places}
    documents = [Document(path=path, title=titles[path], text=text) for path, text in places.items()]
    entries = [Entry(id=path.replace("/", "-"), path=path, title=titles[path]) for path in places]
    build_catalog(entries, documents, [], [], str(tmp_path), tiers=("static",), own_first=own_first)
    beside, alone = open_catalog(str(tmp_path)), pages_and(tmp_path / "alone", "")

    def akin(catalog: Catalog, text: str) -> float:
        return affinity(catalog, read_question(text, catalog), choose_tier(catalog), {})

    own, of_others = "where do visitors sign in", "undo the last commit on my branch"
    assert akin(beside, of_others) > 0.5
    assert (akin(beside, own) == pytest.approx(akin(alone, own), rel=0.05)) == own_first  # none in an untrusted commons
    assert akin(beside, own) > akin(beside, "how to tune a violin")


def test_the_sample_is_uneven_only_if_one_document_has_much_more_than_others(tmp_path: Path) -> None:
    beside = pages_and(tmp_path / "beside", A_BOOK)
    vectors = beside.vectors("static")
    everything = range(len(vectors))
    of_pages = [vectors.passage(number, 0) for name, number in beside.ids().items() if name in PAGES]
    assert _is_uneven(vectors, everything, 9)
    assert not _is_uneven(vectors, everything, 2)
    assert not _is_uneven(vectors, of_pages, 9)
    assert not _is_uneven(vectors, [], 0)


def test_relative_similarity_is_a_ratio_of_cosines() -> None:
    assert relative_similarity((1.0, 0.0), (0.5, 0.0)) == pytest.approx(MOST)
    assert relative_similarity((0.6, 0.8), (1.0, 0.0)) == pytest.approx(0.6)
    assert relative_similarity((0.0, 1.0), (1.0, 0.0)) == 0.0
    assert relative_similarity((1.0, 0.0), (0.0, 0.0)) == 0.0


@settings(max_examples=50)
@given(numbers, numbers)
def test_relative_similarity_is_bounded(question: list[float], middle: list[float]) -> None:
    assert -MOST <= relative_similarity(question, middle) <= MOST
