"""Both directions of every host's contract: what it sends is read, and what is written is what it takes, no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from deia.firing import Firing
from deia.serve.hooks.run import HOSTS, host_module
from deia.serve.hosts.delivery_form import Said, say
from deia.serve.hosts.sample_events import Happening, sample
from deia.watch.injection import compose

if TYPE_CHECKING:
    from collections.abc import Callable

    from deia.records import Action

MOMENTS = ("prompt", "before_tool", "after_tool", "tool_error", "stop", "session")
ACTIONS: tuple[Action, ...] = ("note", "warn", "ask", "hold")


def firing(action: Action, *, words: str = "It is lost. — ü") -> Firing:
    return Firing(
        trigger="t", title="T", urgency="high", action=action, timing="pre-action", message=words,
        action_required="Look first.", documents=(), because="x", turn=1,
    )  # fmt: skip


def samples(host: str) -> list[tuple[str, dict[str, Any]]]:
    found = [(moment, sample(host, Happening(moment=moment, text="hello", command="ls"))) for moment in MOMENTS]
    return [(moment, event) for moment, event in found if event is not None]


@pytest.mark.parametrize("host", HOSTS)
def test_what_the_host_sends_is_read_and_nothing_else_than_it_takes_is_written(
    contract: Callable[[str], Any], host: str
) -> None:
    held = contract(host)
    adapter: Any = host_module(host)
    for moment, event in samples(host):
        name = held.check_input(event)
        occasion = adapter.read_event(event)
        assert occasion.moment == moment
        assert occasion.folder == "/"
        assert moment == "session" or "hello" in occasion.turn.text
        can = adapter.CARRIES.get(moment, {}) if occasion.carries else {}
        for action in ACTIONS:
            for words in ("It is lost.", "ü€" * 9000, "\ud800"):
                said = say(can, compose([firing(action, words=words)], lambda _: None), waiting=["w" * 9000], code="A")
                held.check_output(name, adapter.write_answer(occasion, said))
        held.check_output(name, adapter.write_answer(occasion, Said()))
        assert adapter.write_answer(occasion, Said()) is None


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("moment", MOMENTS)
def test_every_cell_of_the_matrix(host: str, moment: str) -> None:
    adapter: Any = host_module(host)
    forms = adapter.CARRIES.get(moment, {})
    event = sample(host, Happening(moment=moment, text="hello", command="ls"))
    if event is None:
        assert not forms, "nothing is carried where there is no event"
        return
    occasion = adapter.read_event(event)
    assert not forms or occasion.carries
    for form in ("context", "hold", "ask", "note"):
        if form in forms:
            said = Said(
                **{form: f"the {form}"}, **({"hold": "x"} if form == "note" and moment == "before_tool" else {})
            )
            assert f"the {form}" in str(adapter.write_answer(occasion, said))
    said = say(forms, compose([firing("hold")], lambda _: None), note="told")
    assert [form for form in ("hold", "ask") if getattr(said, form)] == (["hold"] if "hold" in forms else [])
    assert bool(said.context) is ("context" in forms and "hold" not in forms)
    assert bool(said.note) is ("note" in forms)
    asked = say(forms, compose([firing("ask")], lambda _: None))
    assert bool(asked.ask) is ("ask" in forms)
    assert bool(asked.hold) is ("hold" in forms and "ask" not in forms)


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_only_said_stops_nothing(host: str) -> None:
    adapter: Any = host_module(host)
    for action in ACTIONS[:2]:
        said = say(adapter.CARRIES["before_tool"], compose([firing(action)], lambda _: None))
        assert (said.hold, said.ask) == ("", "")


@pytest.mark.parametrize("host", HOSTS)
def test_a_later_version_of_a_host_is_passed_over(host: str) -> None:
    adapter: Any = host_module(host)
    for moment, event in samples(host):
        assert adapter.read_event({**event, "from_the_future": {"a": [1]}}).moment == moment
    future = {"hook_event_name": "FromTheFuture"}
    strange_ones: tuple[Any, ...] = (None, [], 5, "x", {}, future, {"event": ["x"]}, {"hookName": {}})
    for strange in strange_ones:
        assert adapter.read_event(strange) is None


def test_the_schemas_refuse_what_they_should(contract: Callable[[str], Any]) -> None:
    wrong: list[tuple[str, str, dict[str, Any]]] = [
        ("claude-code", "UserPromptSubmit", {"additionalContext": "x"}),
        ("claude-code", "UserPromptSubmit", {"hookSpecificOutput": {"additionalContext": "x"}}),
        (
            "claude-code",
            "PostToolUse",
            {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "x"}},
        ),
        ("codex", "UserPromptSubmit", {"systemMessage": "x"}),
        ("copilot", "preToolUse", {"hookSpecificOutput": {"permissionDecision": "deny"}}),
        ("gemini", "BeforeTool", {"hookSpecificOutput": {"additionalContext": "x"}}),
        ("gemini", "BeforeTool", {"decision": "ask", "reason": "x"}),
        ("cursor", "preToolUse", {"permission": "deny", "agentMessage": "x"}),
        ("cline", "PreToolUse", {"cancel": True}),
    ]
    for host, event, answer in wrong:
        with pytest.raises(jsonschema.ValidationError):
            contract(host).check_output(event, answer)
