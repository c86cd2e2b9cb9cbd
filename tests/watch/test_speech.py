"""Tool calls that speak: questions, plans and orders are read as prose, the rest of a tool's input is data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.records import Turn
from deia.watch.reading import Reading
from deia.watch.speech import MOST_SAID, speech_of

if TYPE_CHECKING:
    from tests.watch.conftest import Fires, Make

QUESTION = {"questions": [{"question": "Should I delete the site?", "options": [{"label": "Yes", "value": "x-1"}]}]}


def turn(tool: str, given_: dict[str, Any], text: str = "") -> Turn:
    return Turn(role="tool_call", tool=tool, tool_input=given_, text=text)


@pytest.mark.parametrize(
    ("tool", "given_", "said"),
    [
        ("AskUserQuestion", QUESTION, "Should I delete the site?\n\nYes"),
        ("ExitPlanMode", {"plan": "1. Delete the site"}, "1. Delete the site"),
        ("TodoWrite", {"todos": [{"content": "Delete the site", "status": "pending"}]}, "Delete the site"),
        ("Task", {"prompt": "Delete the site", "subagent_type": "ops"}, "Delete the site"),
        ("ask_user", {"command": json.dumps(QUESTION)}, "Should I delete the site?\n\nYes"),
        ("Bash", {"command": "ls", "description": "Delete the site"}, ""),
        ("Write", {"file_path": "a.md", "content": "Delete the site"}, ""),
        ("Grep", {"pattern": "x", "description": "Delete the site"}, ""),
        ("Other", {"query": "Delete the site"}, ""),
        ("Other", {"command": '{"question": '}, ""),
    ],
)
def test_only_fields_that_are_speech_are_said(tool: str, given_: dict[str, Any], said: str) -> None:
    assert speech_of(turn(tool, given_)) == said


def test_a_phrase_is_heard_in_a_question_to_the_person(make: Make, fires: Fires) -> None:
    assert fires(make(("phrase", "delete … site")), turn("AskUserQuestion", QUESTION))


def test_a_phrase_is_not_heard_in_a_file_that_is_written(make: Make, fires: Fires) -> None:
    assert not fires(make(("phrase", "delete … site")), turn("Write", {"content": "Please delete the site."}))


def test_a_call_that_says_nothing_is_no_prose() -> None:
    assert not Reading(turn("Bash", {"command": "git push"})).is_prose


def test_what_is_said_is_bounded() -> None:
    assert len(speech_of(turn("Task", {"prompt": "a " * MOST_SAID}))) == MOST_SAID


@given(st.recursive(st.text(max_size=10), lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=8), inner)))
@settings(max_examples=80, deadline=None)
def test_any_input_is_read(value: object) -> None:
    assert isinstance(speech_of(turn("Task", {"prompt": value})), str)
