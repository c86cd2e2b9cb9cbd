"""Documents are shown in the order in which they fit, of which a long one owes a part to its length."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.compile.catalog.build_catalog import build_catalog
from deia.knowledge import Document, Entry, Query
from deia.search.catalog import Catalog, open_catalog
from deia.search.pipeline import find_candidates, ranking, search
from deia.search.question.terms import read_question
from deia.search.ranking.confidence import SEEN
from deia.search.ranking.rank import Ranked, falling
from deia.search.ranking.retrieve import choose_tier
from deia.search.ranking.shown_order import MOST, additional, fit, in_order_shown
from deia.search.ranking.weights import ShownWeights

STATIC = ("static",)
SUBJECT = "The printer in the hall prints blank labels after a paper jam."
OTHERS = (
    "Invoice numbers have gaps, since a sequence is not transactional.",
    "Fonts are missing in the exported slides of the sales team.",
    "Ask at the front desk for a badge on the first day.",
    "Backups of the wiki are kept for a month, then they are deleted.",
)
WEIGHTS = ShownWeights(meaning=0.65, owed=0.04, first=0.07)
PARAGRAPH = " ".join(f"Chapter {n} is about the weather, the harvest and the roads." for n in range(20))


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """A short document and a long one say the same; the long one says much else."""
    long = "\n\n".join([f"# Labels\n\n{SUBJECT}", *(f"# Part {n}\n\n{PARAGRAPH}" for n in range(12))])
    texts = {"long": long, "short": f"# Labels\n\n{SUBJECT}", **{f"other-{n}": text for n, text in enumerate(OTHERS)}}
    entries = [Entry(id=name, path=f"bok/{name}.md", title="Notes") for name in texts]
    documents = [Document(path=f"bok/{name}.md", title="Notes", text=text) for name, text in texts.items()]
    build_catalog(entries, documents, [], [], str(tmp_path), tiers=STATIC)
    return open_catalog(str(tmp_path))


def ranked(number: int, score: float, nearness: float = 0.0) -> Ranked:
    return Ranked(number=number, score=score, ordinal=0, nearness=nearness)


def by_length_alone(_tier: str, **_named: float) -> ShownWeights:
    return ShownWeights(meaning=0.6, owed=5.0, first=0.0)


def test_of_two_that_fit_as_well_the_shorter_one_is_shown_first(catalog: Catalog) -> None:
    numbers = {name: catalog.ids()[name] for name in ("long", "short")}
    assert catalog.vectors("static").count(numbers["long"]) > 5
    assert catalog.vectors("static").count(numbers["short"]) == 1
    equal = [ranked(numbers["long"], 0.8), ranked(numbers["short"], 0.8)]
    question, meaning = read_question("blank labels", catalog), choose_tier(catalog, tiers=STATIC)
    shown = in_order_shown(catalog, question, equal, meaning, frozenset())
    assert [each.number for each in shown] == [numbers["short"], numbers["long"]]
    assert in_order_shown(catalog, question, equal, meaning, {numbers["long"]}) == equal  # code owes nothing
    assert in_order_shown(catalog, question, equal, choose_tier(catalog, tiers=()), frozenset()) == equal


def test_a_long_document_that_fits_much_better_stays_first(catalog: Catalog) -> None:
    better = [ranked(catalog.ids()["long"], 0.9), ranked(catalog.ids()["short"], 0.5)]
    question, meaning = read_question("blank labels", catalog), choose_tier(catalog, tiers=STATIC)
    assert in_order_shown(catalog, question, better, meaning, frozenset()) == better


def test_of_two_that_fit_as_well_the_one_that_begins_with_it_is_shown_first(catalog: Catalog) -> None:
    number = catalog.ids()["long"]
    later, first = (ranked(number, 0.8).but(ordinal=ordinal) for ordinal in (3, 0))
    question, meaning = read_question("blank labels", catalog), choose_tier(catalog, tiers=STATIC)
    assert in_order_shown(catalog, question, [later, first], meaning, frozenset()) == [first, later]
    assert in_order_shown(catalog, question, [later, first], meaning, {number}) == [later, first]  # each by itself


def test_searches_and_measurements_show_the_same_order(catalog: Catalog) -> None:
    for text in ("the printer prints blank labels", "weather and harvest", "badge for the first day"):
        answer = search(catalog, Query(text=text), tiers=STATIC)
        order = ranking(catalog, text, tiers=STATIC)
        assert answer.documents
        assert [result.id for result in answer.documents] == order[: len(answer.documents)]
    assert ranking(catalog, "the printer prints blank labels", tiers=STATIC)[0] == "short"


def test_the_first_documents_do_not_depend_on_how_many_are_wanted(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deia.search.ranking.shown_order.shown_weights", by_length_alone)
    numbers = {name: catalog.ids()[name] for name in ("long", "short")}
    few = [ranked(numbers["long"], 0.9 - place / 100) for place in range(SEEN)]
    many = [*few, ranked(numbers["short"], 0.5)]
    question, meaning = read_question("blank labels", catalog), choose_tier(catalog, tiers=STATIC)
    shown = in_order_shown(catalog, question, many, meaning, frozenset())
    assert shown[:SEEN] == in_order_shown(catalog, question, few, meaning, frozenset())


def test_a_short_answer_has_the_document_that_its_confidence_is_about(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deia.search.ranking.shown_order.shown_weights", by_length_alone)
    meaning, question = choose_tier(catalog, tiers=STATIC), read_question("weather, harvest and labels", catalog)
    long = catalog.ids()["long"]
    firsts = []
    for limit in (1, 2, 10):
        query = Query(text=question.text, limit=limit)
        candidates = find_candidates(catalog, question, query, meaning=meaning, filters={})
        numbers = [document.number for document in candidates.shown]
        assert candidates.ranked[0].number == long
        assert long in numbers or limit == 1
        assert len(numbers) <= limit
        firsts.append(numbers[0])
    assert len({*firsts}) == 1
    assert firsts[0] != long


def test_a_document_without_passages_has_a_place(catalog: Catalog) -> None:
    empty, other = (fit(ranked(0, 0.5), passages, first=True, more=0.125, weights=WEIGHTS) for passages in (0, 1))
    assert empty == other


def test_the_verdict_looks_at_the_ranking_and_not_at_the_order_shown(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    query, meaning = Query(text="the printer prints blank labels"), choose_tier(catalog, tiers=STATIC)
    question = read_question(query.text, catalog)
    before = find_candidates(catalog, question, query, meaning=meaning, filters={})
    monkeypatch.setattr("deia.search.ranking.shown_order.shown_weights", by_length_alone)
    after = find_candidates(catalog, question, query, meaning=meaning, filters={})
    assert after.ranked == before.ranked
    assert after.shown[0].number == catalog.ids()["short"]


def test_a_weight_that_somebody_sets_is_followed_to_the_letter(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deia.search.ranking.shown_order.shown_weights", by_length_alone)
    meaning, question = choose_tier(catalog, tiers=STATIC), read_question("weather, harvest and labels", catalog)
    query = Query(text=question.text, alpha=0.3)
    candidates = find_candidates(catalog, question, query, meaning=meaning, filters={})
    assert candidates.shown[0].number == candidates.ranked[0].number == catalog.ids()["long"]
    freely = find_candidates(catalog, question, query.but(alpha=None), meaning=meaning, filters={})
    assert freely.shown[0].number != freely.ranked[0].number == catalog.ids()["long"]


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 5_000), st.integers(1, 5_000))
def test_a_longer_document_never_fits_better(score: float, nearness: float, one: int, other: int) -> None:
    document = ranked(0, score, nearness)
    short, long = (fit(document, size, first=True, more=0.125, weights=WEIGHTS) for size in sorted((one, other)))
    assert long <= short
    longest, longer = (fit(document, size, first=True, more=0.125, weights=WEIGHTS) for size in (MOST, MOST + other))
    assert longest == longer


@given(st.floats(0, 0.9), st.floats(0, 0.9), st.floats(0, 1), st.floats(0, 1))
def test_more_nearness_makes_one_weight_of_meaning_another(
    before: float, after: float, words: float, nearness: float
) -> None:
    document = ranked(0, (1 - before) * words + before * nearness, nearness)
    wanted = (1 - after) * words + after * nearness
    found = fit(document, 1, first=False, more=additional(before, after), weights=WEIGHTS)
    assert found == pytest.approx(wanted, abs=1e-5)


@given(st.lists(st.floats(-1, 1), max_size=8))
def test_scores_fall_and_none_is_lowered(scores: list[float]) -> None:
    given_order = [ranked(number, score) for number, score in enumerate(scores)]
    lifted = falling(given_order)
    assert [each.number for each in lifted] == [each.number for each in given_order]
    assert all(after.score >= before.score for before, after in zip(given_order, lifted, strict=True))
    assert all(one.score >= other.score for one, other in pairwise(lifted))
