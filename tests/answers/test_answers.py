"""Answers without a model: word for word, over several steps, and honest where the documents say nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.answers.librarian_answer import NOT_SAID, LibrarianQuery, LibrarianResponse
from deia.answers.quotations import is_quoted
from deia.errors import QueryError

if TYPE_CHECKING:
    from deia.librarian import Librarian

ONE_STEP = "What must be done before the pump starts?"
TWO_STEPS = "Before the pump starts, with which key is the screw turned?"
WORDS = 'pump valve screw key brass bubbles cellar gloves Wolfram made before red closed zebra the what is ( * " - not'


def asked(librarian: Librarian, question: str) -> LibrarianResponse:
    return librarian.answer_now(LibrarianQuery(question=question))


def lines(librarian: Librarian, path: str) -> list[str]:
    catalog = librarian.open_catalog_of(path)
    document = catalog.document(path)
    assert document is not None
    return catalog.text(document).split("\n")


def test_an_answer_is_sentences_with_their_places(librarian: Librarian) -> None:
    answer = asked(librarian, ONE_STEP)
    assert answer.found
    assert "bleed the line" in answer.answer
    source = answer.sources[0]
    assert (source.path, source.lines) == ("library:pages/pumps.md", (5, 5))
    assert f"[{source.path}:5]" in answer.answer
    assert 0 < source.relevance <= 1
    assert 0 < answer.confidence < 1


def test_what_a_passage_leaves_open_is_asked_of_what_it_links_to(librarian: Librarian) -> None:
    answer = asked(librarian, TWO_STEPS)
    by_path = {source.path: source for source in answer.sources}
    assert {"library:pages/pumps.md", "library:pages/parts/valves.md"} <= by_path.keys()
    assert "library:pages/pumps.md, line 5" in by_path["library:pages/parts/valves.md"].why
    assert any("pumps.md:5" in question for question in answer.sub_questions)
    assert [step["step"] for step in answer.audit[:2]] == ["state", "net"]
    assert {"sub-question", "chosen", "sentences", "confidence"} <= {step["step"] for step in answer.audit}


def test_code_answers_too(librarian: Librarian) -> None:
    assert "library:pages/gauge.py" in {source.path for source in asked(librarian, "pressure of the boiler").sources}


def test_front_matter_is_no_sentence_of_an_answer(librarian: Librarian) -> None:
    sources = asked(librarian, "storing frames against wax moth").sources
    assert [(source.path, source.lines) for source in sources] == [("library:pages/frames.md", (6, 6))]


def test_limits_are_settings(librarian: Librarian) -> None:
    librarian.settings = librarian.settings.but(answer_depth=0)
    answer = asked(librarian, TWO_STEPS)
    assert answer.sub_questions == ()
    assert asked(librarian, TWO_STEPS).audit[-1]["step"] == "confidence"
    with pytest.raises(QueryError, match="max_chunks 0"):
        librarian.answer_now(LibrarianQuery(question="pump", max_chunks=0))


@pytest.mark.parametrize(
    ("word", "path"), [("bubbles", "parts/valves.md"), ("Wolfram?", "makers.md"), ("makers", "makers.md")]
)
def test_one_word_is_answered_where_a_text_or_a_heading_has_it(librarian: Librarian, word: str, path: str) -> None:
    answer = asked(librarian, word)
    assert answer.found
    assert answer.sources[0].path == f"library:pages/{path}"
    assert not answer.sub_questions or path in answer.sub_questions[0]


@pytest.mark.parametrize("question", ["How is sourdough bread baked in Portugal?", "zebra xylophone", "?"])
def test_what_the_documents_do_not_say_is_said(librarian: Librarian, question: str) -> None:
    answer = asked(librarian, question)
    assert (answer.found, answer.answer, answer.sources) == (False, NOT_SAID, ())


def test_words_that_no_source_has_are_named(librarian: Librarian) -> None:
    assert "zebra" in asked(librarian, "Before the pump starts, bleed the line of the zebra?").open


def test_what_a_title_or_heading_says_is_not_open(librarian: Librarian) -> None:
    answer = asked(librarian, "Which screw of the valves is turned for bleeding bubbles?")
    assert answer.found
    assert "Turn the small screw" in answer.answer
    assert not {"valves", "bleeding"} & {*answer.open}


def test_what_was_found_is_not_open_even_if_it_does_not_answer(librarian: Librarian) -> None:
    answer = asked(librarian, "pumps on Jupiter")
    assert not answer.found
    assert "jupiter" in answer.open
    assert "pumps" not in answer.open


def test_an_answer_can_be_awaited_and_is_the_same_without(librarian: Librarian) -> None:
    async def awaited() -> LibrarianResponse:
        return await librarian.answer(LibrarianQuery("", ONE_STEP, 5))

    at_once = librarian.answer(LibrarianQuery("", ONE_STEP, 5))
    assert asyncio.run(awaited()).answer == at_once.answer


def test_a_collection_limits_what_is_asked_and_an_unknown_one_is_named(librarian: Librarian) -> None:
    with pytest.raises(QueryError, match="collection"):
        librarian.answer_now(LibrarianQuery(collection="nowhere", question=ONE_STEP))
    with pytest.raises(QueryError, match="no question"):
        librarian.answer_now(LibrarianQuery(question=" "))


@pytest.mark.parametrize("question", [None, 5, b"pump", ["pump"]])
def test_a_question_that_is_no_text_is_refused(librarian: Librarian, question: Any) -> None:
    with pytest.raises(QueryError, match=r"not a text\. Ask in words"):
        librarian.answer(question)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"question": 5}, "the question is a int, not a text"),
        ({"collection": 5}, "collection is a int, not a text"),
        ({"max_chunks": "x"}, "max_chunks 'x' is no whole number"),
        ({"max_chunks": True}, "max_chunks True is no whole number"),
    ],
)
def test_an_argument_of_another_type_is_refused_by_its_name(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(QueryError, match=problem):
        LibrarianQuery(**arguments)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(WORDS.split()) | st.text(max_size=8), min_size=1, max_size=9).map(" ".join))
def test_no_question_raises_and_every_quotation_is_on_its_lines(librarian: Librarian, question: str) -> None:
    if question.strip():
        answer = asked(librarian, question)
        for source in answer.sources:
            first, last = source.lines
            assert is_quoted(source.quote, lines(librarian, source.path)[first - 1 : last])
