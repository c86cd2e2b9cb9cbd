"""Speech in tool calls: questions, plans and orders are prose, all other input is data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.records import Turn
from deia.watch.memory.recall import InMemoryLog
from deia.watch.turn.parsed_turn import Reading
from deia.watch.turn.spoken_tool_input import MOST_ITEMS, MOST_SPEECH, speech_of, tasks_of
from deia.watch.watcher import Surroundings, watch

if TYPE_CHECKING:
    from tests.watch.conftest import Build, Fires, Make

QUESTION = {"questions": [{"question": "Should I delete the site?", "options": [{"label": "Yes", "value": "x-1"}]}]}


def turn(tool: str, given_: dict[str, Any], text: str = "") -> Turn:
    return Turn(role="tool_call", tool=tool, tool_input=given_, text=text)


@pytest.mark.parametrize(
    ("tool", "given_", "said"),
    [
        ("AskUserQuestion", QUESTION, "Should I delete the site?\n\nYes"),
        ("ExitPlanMode", {"plan": "1. Delete the site"}, "1. Delete the site"),
        ("TodoWrite", {"todos": [{"content": "Delete the site", "status": "pending"}]}, "Delete the site"),
        ("TodoWrite", {"todos": [{"content": "Delete the site", "status": "completed"}]}, ""),
        ("update_plan", {"plan": [{"step": "A", "status": "completed"}, {"step": "B", "status": "in_progress"}]}, "B"),
        ("TaskUpdate", {"taskId": "1", "subject": "Delete the site", "status": "completed"}, ""),
        ("Task", {"prompt": "Delete the site", "subagent_type": "ops"}, "Delete the site"),
        ("Agent", {"prompt": "Delete the site", "description": "Ops"}, "Delete the site\n\nOps"),
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


def todo(*tasks: tuple[str, str]) -> Turn:
    return turn("TodoWrite", {"todos": [{"content": text, "status": status} for text, status in tasks]})


def test_only_new_tasks_of_a_list_are_announced(make: Make, build: Build) -> None:
    artefact, log = build(make(("phrase", "delete … site"), repeat=0.0)), InMemoryLog()
    lists = [
        todo(("Delete the site", "pending")),
        todo(("Delete the site", "in_progress"), ("Write tests", "pending")),
        todo(("Delete the site", "completed"), ("Delete the other site", "pending")),
        todo(("Delete the site", "completed"), ("Delete the other site", "completed")),
    ]
    fired = [len(watch(artefact, one, log, lambda: Surroundings(now=0.0)).firings) for one in lists]
    assert fired == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("task", "heard"),
    [
        ("Delete the old site", True),
        ("Then delete the site", True),
        ("Research how to delete the site", False),
        ("Find out whether to delete the site", False),
        ("Investigate deleting the site", False),
        ("Do not delete the site", False),
        ("Check why someone deleted the site", False),
        ("Write a dry run that deletes the site", False),
    ],
)
def test_a_task_that_only_looks_into_an_act_is_none(make: Make, fires: Fires, task: str, *, heard: bool) -> None:
    assert fires(make(("phrase", "delete … site")), todo((task, "pending"))) is heard


def test_tasks_without_words_or_in_great_number_are_bounded() -> None:
    given_ = {"todos": [{"status": "pending"}, *[{"content": f"task {n}", "status": "pending"} for n in range(500)]]}
    assert len(tasks_of(turn("TodoWrite", given_))) == MOST_ITEMS
    assert tasks_of(turn("Bash", given_)) == []


def test_a_phrase_is_not_heard_in_a_file_that_is_written(make: Make, fires: Fires) -> None:
    assert not fires(make(("phrase", "delete … site")), turn("Write", {"content": "Please delete the site."}))


def test_a_call_that_says_nothing_is_no_prose() -> None:
    assert not Reading(turn("Bash", {"command": "git push"})).is_prose


def test_what_is_said_is_bounded() -> None:
    assert len(speech_of(turn("Task", {"prompt": "a " * MOST_SPEECH}))) == MOST_SPEECH


@given(st.recursive(st.text(max_size=10), lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=8), inner)))
@settings(max_examples=80, deadline=None)
def test_any_input_is_read(value: object) -> None:
    assert isinstance(speech_of(turn("Task", {"prompt": value})), str)
    assert isinstance(tasks_of(turn("TodoWrite", {"todos": value})), list)
