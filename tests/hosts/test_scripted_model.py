from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.serve.setup.live.model_request import Request, read_request
from tests.hosts.scenarios import Step, shell
from tests.hosts.scripted_model import ScriptedModel, filled, is_compaction, said_in, triggers_in

TEXTS = st.text(max_size=30)
LEAVES = st.sampled_from(
    [{"type": "string"}, {"type": "boolean"}, {"type": "integer"}, {"type": ["string", "null"]}, {"enum": ["a", "b"]}]
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(lambda items: {"type": "array", "items": items}, inner)
        | st.builds(
            lambda fields: {"type": "object", "properties": fields, "required": list(fields)},
            st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=3),
        )
    ),
    max_leaves=6,
)
BASH = {"name": "Bash", "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}}}


def asked(*turns: tuple[str, str], system: str = "") -> Request:
    messages = [{"role": role, "content": text} for role, text in turns]
    request = read_request("/v1/messages", {"messages": messages, "tools": [BASH], "system": system})
    assert request is not None
    return request


def acts(model: ScriptedModel) -> list[Any]:
    return [one.act.input.get("command") or one.act.text for one in model.asked]


@pytest.mark.parametrize(
    "text",
    [
        '<deia-reference trigger="a-b" urgency="low">',
        json.dumps({"output": '<deia-reference trigger="a-b">'}),
        "&lt;deia-reference trigger=&quot;a-b&quot; urgency",
        '\\u003cdeia-reference trigger=\\"a-b\\"',
    ],
)
def test_a_lesson_is_found_however_a_host_quotes_it(text: str) -> None:
    assert triggers_in(f"x {text} y") == {"a-b"}


@given(TEXTS)
def test_no_text_but_a_lesson_is_taken_for_one(text: str) -> None:
    assert triggers_in(text) == frozenset()


@given(SCHEMAS, TEXTS)
def test_what_is_filled_in_is_what_the_tool_allows(schema: dict[str, Any], text: str) -> None:
    whole = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    jsonschema.validate(filled(whole, {"text": text, "x": text}), whole)


def test_a_step_is_done_once_and_a_repeated_request_gets_the_same_answer() -> None:
    with ScriptedModel() as model:
        model.expect([shell("ls"), shell("pwd")])
        first, second = asked(("user", "Go.")), asked(("user", "Go."), ("assistant", "x"), ("user", "y"))
        for request in (first, first, second):
            model.answer(request)
    assert acts(model) == ["ls", "ls", "pwd"]


def test_a_summary_takes_no_step() -> None:
    with ScriptedModel() as model:
        model.expect([shell("ls")])
        model.answer(asked(("user", "Your task is to create a detailed summary of the conversation so far.")))
        model.answer(asked(("user", "Go on.")))
    assert acts(model)[1] == "ls"


def test_a_step_for_a_subagent_is_not_given_to_whoever_sent_it() -> None:
    with ScriptedModel() as model:
        model.expect([shell("ls", within="Tidy up")])
        model.answer(asked(("user", "Tidy up the room.")))
    assert acts(model) == ["ls"]
    assert "Tidy up" not in said_in(asked(("user", "Go."), ("assistant", "Tidy up")))


@pytest.mark.parametrize("text", ["Clean up the staging environment.", "What is next?", "Plan it."])
def test_an_ordinary_prompt_asks_for_no_summary(text: str) -> None:
    assert not is_compaction(asked(("user", text), system="Write short summaries of the conversation."))


def test_a_tool_that_is_not_there_is_said_to_be_missing() -> None:
    with ScriptedModel() as model:
        model.expect([Step(tool="^plan$")])
        model.answer(asked(("user", "Plan it.")))
    assert acts(model) == ["There is no such tool among Bash."]
