"""Tests of `deia ask`: sentences with their places, or that the documents do not say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia

QUESTION = "what has to be saved before a site is deleted?"


def test_every_sentence_of_an_answer_stands_on_the_line_that_is_named(deia: Deia, commons: Path) -> None:
    told = deia("ask", QUESTION, "--json")
    assert told.code == 0, told.err
    answer = json.loads(told.out)
    assert answer["sources"]
    for source in answer["sources"]:
        first, last = source["lines"]
        lines = (commons / source["path"]).read_text(encoding="utf-8").splitlines()[first - 1 : last]
        assert source["quote"] in " ".join(" ".join(lines).split())
    shown = deia("ask", *QUESTION.split())
    assert answer["sources"][0]["path"] in shown.out
    assert answer["sources"][0]["quote"] in shown.out


def test_how_an_answer_came_about_is_shown_step_by_step(deia: Deia) -> None:
    steps = deia("ask", QUESTION, "--audit").out.partition("How this came about:\n")[2].splitlines()
    assert [step.split(":")[0] for step in steps][:2] == ["- state", "- net"]
    assert steps[-1].startswith("- confidence: probability 0.")


def test_what_no_document_says_is_said_and_the_exit_code_tells(deia: Deia) -> None:
    told = deia("ask", "who won the zebra derby of 1990?")
    assert told.code == 1
    assert "The documents do not say." in told.out


def test_no_question_is_an_error_with_what_to_type(deia: Deia) -> None:
    for blank in ("", " \n"):
        told = deia("ask", blank)
        assert (told.code, told.out) == (2, "")
        assert 'Type: deia ask "' in told.err


@pytest.mark.slow
def test_an_answer_warns_of_the_state_that_it_comes_from(deia: Deia, commons: Path) -> None:
    assert "Warning:" not in deia("ask", QUESTION).out
    (commons / "commons_index.yaml").unlink()
    told = deia("ask", QUESTION).out
    assert "Warning: " in told
    assert "commons_index.yaml is gone; it had 1 entry, and another commons counts. For more, type: deia audit" in told
