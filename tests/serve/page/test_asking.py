"""A search as one types has its parts, and says at which stage a document was lost; none of it is logged."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from deia.errors import QueryError
from deia.folders import events_folder
from deia.ledger.tail import read_ledger
from deia.serve.page.asking import ask, document, facets, trace
from deia.serve.server.desk import Desk

if TYPE_CHECKING:
    from tests.serve.server.conftest import Place


def test_an_answer_has_passages_with_their_place(desk: Desk) -> None:
    answer: Any = ask(desk, {"question": "delete a site"})
    first = answer["results"][0]
    assert (first["id"], first["path"], first["lines"]) == ("site-checklist", "bok/hosting/site-checklist.md", [6, 10])
    assert 0 < first["relevance"] <= 100
    listed: Any = ask(desk, {"question": "cluster:hosting"})
    assert listed["results"][0]["relevance"] is None
    assert ask(desk, {"question": " "})["results"] == []


def test_filters_are_those_that_there_are(desk: Desk) -> None:
    assert facets(desk, {})["cluster"] == ["hosting", "queues"]
    answer: Any = ask(desk, {"question": "delete a site", "cluster": "queues"})
    assert "site-checklist" not in [one["id"] for one in answer["results"]]
    with pytest.raises(QueryError, match="nowhere"):
        ask(desk, {"question": "site", "cluster": "nowhere"})


def test_a_trace_says_why_a_document_was_not_shown(desk: Desk) -> None:
    traced: Any = trace(desk, {"question": "delete a site", "expected": "queue-purge"})
    assert traced["by_words"][0] == "site-checklist"
    (lost,) = traced["lost"]
    assert lost["document"] == "queue-purge"
    assert lost["stage"] != "shown"
    assert lost["cure"]
    assert trace(desk, {"question": "delete a site", "expected": "no-such"})["lost"][0]["stage"] == "not in the commons"  # type: ignore[index, call-overload]


def test_a_document_is_read_with_its_first_line(desk: Desk) -> None:
    read: Any = document(desk, {"id": "site-checklist"})
    assert (read["first_line"], read["own"]) == (5, True)
    assert "Save the domain records first." in read["text"]
    with pytest.raises(QueryError, match="no document"):
        document(desk, {"id": "no-such"})


def test_what_is_typed_is_not_logged(desk: Desk, place: Place) -> None:
    quiet = Desk(desk.root, agent="page", ledger=False)
    ask(quiet, {"question": "a secret plan"})
    assert read_ledger(events_folder(desk.root, os.environ)).events == ()


def test_a_blank_question_has_every_field_of_a_reply(desk: Desk) -> None:
    blank, answer = ask(desk, {"question": " "}), ask(desk, {"question": "delete a site"})
    assert (set(blank), blank["suggestions"]) == (set(answer), [])
    assert set(blank["audit"]) == set(answer["audit"])  # type: ignore[arg-type]
