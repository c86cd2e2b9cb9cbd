"""The net of an answer is judged as a search is."""

from __future__ import annotations

import pytest

from deia.answers.evidence import net, understood
from deia.knowledge import Query
from deia.librarian import Librarian
from deia.search.pipeline import candidates_by_meaning, find_candidates, verdict_on

QUESTIONS = ["how do I start the pump?", "how do I bake bread for a wedding?", "what does read_gauge return?", "key"]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("tiers", [("keyword",), ("static", "keyword")])
def test_whether_a_question_belongs_is_judged_as_a_search_judges_it(
    librarian: Librarian, question: str, tiers: tuple[str, ...]
) -> None:
    catalog = librarian.open_catalog_of("library:pages/pumps.md")
    query = Query(text=question)
    asked = understood(catalog, query, tiers)
    candidates = find_candidates(catalog, asked.question, query, meaning=asked.meaning, filters=asked.filters, today="")
    by_meaning = candidates_by_meaning(catalog, candidates, query, meaning=asked.meaning, filters=asked.filters)
    searched = verdict_on(catalog, candidates, asked.meaning, by_meaning)
    assert net(asked).verdict.found is searched.found
    assert net(asked).verdict.belongs == pytest.approx(searched.belongs, abs=0.05)
