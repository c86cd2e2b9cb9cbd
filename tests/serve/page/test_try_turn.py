"""What was typed is judged as `deia check` judges it, and shown as each host would be told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.compile.compiler import compile_commons
from deia.errors import QueryError
from deia.serve.hooks.run import HOSTS
from deia.serve.page.try_turn import SPEAKERS, explain_trigger, tried_turns, try_turn
from deia.serve.server.desk import Desk

if TYPE_CHECKING:
    from tests.serve.server.conftest import Place

SENTENCE = "Please delete the shop site now"


def stage(tried: dict[str, Any], trigger: str = "site-delete") -> str:
    return next((one["stage"] for one in tried["verdicts"] if one["trigger"] == trigger), "gate")


def test_a_sentence_fires_with_its_reason_and_what_the_model_reads(desk: Desk) -> None:
    tried: Any = try_turn(desk, {"text": SENTENCE})
    (verdict,) = tried["verdicts"]
    assert (verdict["stage"], verdict["own"], verdict["act"]) == ("fires", True, "delete the shop site")
    assert "delete the shop site" in verdict["because"]
    assert verdict["documents"] == [
        {"id": "site-checklist", "path": "bok/hosting/site-checklist.md", "title": "Before a site is deleted"}
    ]
    assert "Save the domain records first." in tried["injection"]
    assert tried["host"]["answer"]["hookSpecificOutput"]["additionalContext"] == tried["injection"]


def test_nothing_is_remembered_from_one_key_to_the_next(desk: Desk) -> None:
    for _ in range(3):
        assert stage(try_turn(desk, {"text": SENTENCE})) == "fires"


def test_earlier_turns_are_the_memory(desk: Desk) -> None:
    tried = try_turn(desk, {"text": SENTENCE, "earlier": f"User: {SENTENCE}\n\nAssistant: Well."})
    assert stage(tried) == "memory"


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("role", SPEAKERS)
def test_every_host_has_an_answer_or_no_such_moment(desk: Desk, host: str, role: str) -> None:
    told: Any = try_turn(desk, {"text": "shopctl site:delete shop", "role": role, "host": host})["host"]
    assert told["name"] == host
    if role == "tool_call" and "hold" in told.get("carries", {}):
        assert told["answer"]


def test_a_tool_call_may_be_json(desk: Desk) -> None:
    turns = tried_turns(
        {"role": "tool_call", "text": '{"tool": "Write", "tool_input": {"file_path": "a", "content": "b"}}'}
    )
    assert (turns[-1].tool, turns[-1].tool_input) == ("Write", {"file_path": "a", "content": "b"})
    turns = tried_turns({"role": "tool_call", "text": '{"tool": 1}'})
    assert turns[-1].tool_input == {"command": '{"tool": 1}'}
    assert stage(try_turn(desk, {"role": "tool_call", "text": "shopctl site:delete x"})) == "fires"


def test_an_empty_field_is_no_turn(desk: Desk) -> None:
    assert try_turn(desk, {"text": "  "})["verdicts"] == []


def test_a_trigger_says_what_it_asks_for(desk: Desk) -> None:
    asked: Any = explain_trigger(desk, {"trigger": "site-delete", "text": SENTENCE})
    assert [clause["kind"] for clause in asked["clauses"]] == ["phrase", "command"]
    assert asked["stance"] == ["announced", "requested"]
    with pytest.raises(QueryError, match="no trigger") as caught:
        explain_trigger(desk, {"trigger": "site-delet"})
    assert "site-delete" in caught.value.fix


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(typed=st.text(max_size=200), role=st.sampled_from(SPEAKERS), earlier=st.text(max_size=80))
def test_no_text_breaks_it(desk: Desk, typed: str, role: str, earlier: str) -> None:
    tried: Any = try_turn(desk, {"text": typed, "role": role, "earlier": earlier})
    for act in tried["acts"]:
        assert 0 <= act["start"] <= act["verb_end"] <= act["end"]


def test_the_text_that_marks_belong_to_is_told(desk: Desk) -> None:
    call = '{"tool": "Bash", "tool_input": {"command": "shopctl site:delete x"}}'
    assert try_turn(desk, {"role": "tool_call", "text": call})["text"] == "shopctl site:delete x"
    assert try_turn(desk, {"text": SENTENCE})["text"] == SENTENCE
    assert explain_trigger(desk, {"trigger": "site-delete", "text": SENTENCE})["text"] == SENTENCE


def test_an_own_trigger_is_own_in_a_commons_that_is_not_trusted(
    place: Place, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEIA_TRUST", "")
    compile_commons(desk.root, environ={**place.environ, "DEIA_TRUST": ""})
    tried: Any = try_turn(Desk(desk.root), {"text": SENTENCE})
    assert [(one["origin"], one["own"]) for one in tried["verdicts"]] == [("untrusted", True)]


def test_a_tool_call_of_any_depth_is_one(desk: Desk) -> None:
    text = '{"tool": "T", "tool_input": {"a": ' + "[" * 90_000 + "]" * 90_000 + "}}"
    assert try_turn(desk, {"role": "tool_call", "text": text})["acts"] == []
