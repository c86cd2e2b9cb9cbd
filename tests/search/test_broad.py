from __future__ import annotations

import pytest

from deia.folders import STARTER
from deia.knowledge import Query
from deia.librarian import Librarian
from deia.search.answer import Answer
from deia.search.pipeline import search
from deia.search.rendering.render import summary


@pytest.fixture(scope="module")
def librarian() -> Librarian:
    return Librarian(STARTER, ledger=False)


def asked(librarian: Librarian, text: str) -> Answer:
    return search(librarian.open_catalog(), Query(text=text))


@pytest.mark.slow
@pytest.mark.parametrize("text", ["errors", "git", "database", "deploy"])
def test_a_word_that_much_is_about_says_so_and_asks_back(librarian: Librarian, text: str) -> None:
    answer = asked(librarian, text)
    fields = answer.to_dict()
    assert (fields["matched"], fields["reason"], fields["refinement_needed"]) == ("partial", "query_too_broad", True)
    assert fields["documents"]["primary"]
    assert any(line.startswith("On which platform: ") for line in fields["suggestions"])
    assert "Is production down, or are you learning?" in fields["suggestions"]
    assert all(fields["about_clusters"][name] for name in fields["available_clusters"])
    shown = summary(answer).splitlines()
    assert all(f"Cluster: {name} ({about})" in shown for name, about in fields["about_clusters"].items())
    assert summary(answer).startswith("That is too broad to answer; 5 documents near it")


def test_narrower_questions_are_those_that_were_asked_about_the_same(librarian: Librarian) -> None:
    narrower = [line for line in asked(librarian, "git").suggestions if line.startswith("Narrower: ")]
    assert len(narrower) == 3
    assert all(asked(librarian, line.removeprefix("Narrower: ")).matched for line in narrower)


def test_two_words_that_name_a_thing_are_not_too_broad(librarian: Librarian) -> None:
    assert asked(librarian, "force push").reason == ""


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("¿Cómo reinicio en kubernetes la tarta de manzana?", "kubernetes"),
        ("terraform für die Suppe im Sommer", "terraform"),
        ("who won the world cup in which show", ""),
    ],
)
def test_nothing_found_names_a_word_that_is_a_subject_of_the_commons(
    librarian: Librarian, text: str, word: str
) -> None:
    broader = [line for line in asked(librarian, text).suggestions if line.startswith("Ask more broadly")]
    assert broader == ([f"Ask more broadly: '{word}' alone."] if word else [])
