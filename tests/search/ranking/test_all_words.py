"""A document with all the words of a question comes before those that lack a rare one, even if it is less like it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from deia.compile.catalog.build_catalog import build_catalog
from deia.knowledge import Document, Entry, Query
from deia.search.catalog import Catalog, open_catalog
from deia.search.pipeline import ranking, search
from deia.search.question.terms import read_question
from deia.search.ranking.all_words import Holders, before_those_without, holders_of_words
from deia.search.ranking.rank import Ranked

COMPACT = ("compact",)
THINGS = (
    "harbour market garden window bridge kettle ladder basket carpet lantern barrel pencil blanket mirror saddle "
    "hammer candle feather button pocket cellar chimney paddle ribbon velvet copper walnut pepper onion carrot"
).split()
FILLER = " ".join(
    f"The {first} crew walked along the quay and looked at the {second} before lunch."
    for first, second in zip(THINGS, reversed(THINGS), strict=True)
)


@pytest.fixture
def yard(tmp_path: Path) -> Catalog:
    """One long paragraph speaks of a valve at its end; six short texts are about the weather."""
    texts = {"yard": f"# Notes of the yard\n\n{FILLER} The marlin valve opens here.\n"}
    texts |= {f"town-{n}": f"# Other {n}\n\nSome remarks on the weather in town {n} and more.\n" for n in range(6)}
    titles = {name: text.splitlines()[0].removeprefix("# ") for name, text in texts.items()}
    entries = [Entry(id=name, path=f"bok/{name}.md", title=title) for name, title in titles.items()]
    documents = [Document(path=f"bok/{name}.md", title=titles[name], text=text) for name, text in texts.items()]
    build_catalog(entries, documents, [], [], str(tmp_path), tiers=COMPACT)
    return open_catalog(str(tmp_path))


@pytest.mark.parametrize("question", ["marlin valve", "marlin valve opens", "where does the marlin valve open?"])
def test_the_only_text_with_the_words_of_a_question_is_found_first_and_surely(yard: Catalog, question: str) -> None:
    answer = search(yard, Query(text=question), tiers=COMPACT)
    assert (answer.matched, answer.primary[0].id) == (True, "yard")
    assert ranking(yard, question, tiers=COMPACT)[0] == "yard"


def test_a_text_with_one_of_the_rare_words_comes_later_even_if_it_is_more_like_the_question(tmp_path: Path) -> None:
    texts = {"yard": f"{FILLER} The marlin valve opens here.", "valve": "A valve opens.", "fish": "A marlin swims."}
    texts |= {f"open-{n}": f"Shop {n} opens late, and what opens late closes late." for n in range(4)}
    entries = [Entry(id=name, path=f"bok/{name}.md", title=name) for name in texts]
    documents = [Document(path=f"bok/{name}.md", title=name, text=text) for name, text in texts.items()]
    build_catalog(entries, documents, [], [], str(tmp_path), tiers=("static", "compact"))
    catalog = open_catalog(str(tmp_path))
    for tiers in (("static",), COMPACT, ()):
        assert ranking(catalog, "where does the marlin valve open", tiers=tiers)[0] == "yard"


def test_words_count_only_if_all_are_known_as_typed_and_one_is_rare(yard: Catalog) -> None:
    def holders(text: str) -> frozenset[int]:
        return holders_of_words(yard, read_question(text, yard)).of_all

    assert holders("marlin valve") == {yard.keyword.number("yard")}
    assert not holders("marlin weather")  # in no passage together
    assert not holders("marlin gasket")
    assert not holders("marlim valves")
    assert not holders("remarks on the town")  # six texts say so
    assert not holders("")


def test_only_documents_that_lack_a_rare_word_move_and_scores_never_increase() -> None:
    order = [Ranked(number=number, score=1 - number / 10, ordinal=0) for number in range(6)]
    moved = before_those_without(order, Holders(of_all=frozenset({3}), of_rare=frozenset({1, 3})))
    assert [document.number for document in moved] == [1, 3, 0, 2, 4, 5]
    assert all(first.score >= second.score for first, second in pairwise(moved))
    assert before_those_without(order, Holders()) == order
    assert before_those_without(order, Holders(of_all=frozenset({9}), of_rare=frozenset({9}))) == order


def test_code_neither_moves_nor_makes_others_move() -> None:
    order = [Ranked(number=number, score=1 - number / 10, ordinal=0) for number in range(4)]
    holders = Holders(of_all=frozenset({2}), of_rare=frozenset({2}))
    assert before_those_without(order, holders, {2}) == order
    assert [document.number for document in before_those_without(order, holders, {0})] == [0, 2, 1, 3]
