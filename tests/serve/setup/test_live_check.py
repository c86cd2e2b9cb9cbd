"""What the doctor takes for an answer is what the hosts' contracts take, and what they refuse it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.serve.hooks.run import HOSTS, host_module
from deia.serve.hosts.cline import STOPPED
from deia.serve.hosts.delivery_form import Said
from deia.serve.hosts.sample_events import Happening, sample
from deia.serve.setup.host_settings.hosts_table import BY_NAME
from deia.serve.setup.live_check import TAKES, Output, read_output

if TYPE_CHECKING:
    from collections.abc import Callable

FORMS = ("context", "hold", "ask", "note")


def answered(host: str, moment: str, said: Said) -> tuple[str, Any]:
    event = sample(host, Happening(moment=moment, text="hello", command="ls"))
    adapter: Any = host_module(host)
    occasion = adapter.read_event(event)
    return occasion.event, adapter.write_answer(occasion, said)


def output_of(answer: Any) -> Output:
    if isinstance(answer, bytes):
        return Output(code=2, out=b"", err=answer)
    return Output(code=0, out=json.dumps(answer).encode() if answer else b"", err=b"")


@pytest.mark.parametrize("host", [host for host in HOSTS if host != "generic"])
@pytest.mark.parametrize("moment", ["prompt", "before_tool", "after_tool"])
def test_every_answer_of_every_host_is_heard_as_it_was_meant(host: str, moment: str) -> None:
    carries = host_module(host).CARRIES.get(moment, {})
    for form in [form for form in FORMS if form in carries]:
        said = Said(**{form: "the words"})
        name, answer = answered(host, moment, said)
        heard = read_output(host, moment, _named(host, moment, name), output_of(answer))
        assert heard.problem == ""
        assert heard.held is (form == "hold")
        heard_words = heard.text.removeprefix("hello\n\n").removeprefix(f"{STOPPED}\n\n")
        assert heard_words == "the words" or answer is None  # one gives the prompt back whole


def _named(host: str, moment: str, name: str) -> str:
    return BY_NAME[host].tried.get(moment, name) if host in {"opencode", "amp"} else name


def test_every_host_that_is_installed_has_its_keys() -> None:
    assert set(TAKES) == set(BY_NAME)


OWN = "hookSpecificOutput"
DROPPED: list[tuple[str, str, str, dict[str, Any]]] = [
    ("claude-code", "prompt", "UserPromptSubmit", {"additionalContext": "x"}),
    ("claude-code", "prompt", "UserPromptSubmit", {OWN: {"additionalContext": "x"}}),
    ("claude-code", "after_tool", "PostToolUse", {OWN: {"hookEventName": "PreToolUse", "additionalContext": "x"}}),
    ("codex", "prompt", "UserPromptSubmit", {"systemMessage": "x"}),
    ("copilot", "before_tool", "preToolUse", {OWN: {"permissionDecision": "deny"}}),
    ("gemini", "before_tool", "BeforeTool", {OWN: {"additionalContext": "x"}}),
    ("gemini", "before_tool", "BeforeTool", {"decision": "deny"}),
    ("cursor", "before_tool", "preToolUse", {"permission": "deny", "agentMessage": "x"}),
    ("cline", "before_tool", "PreToolUse", {"cancel": True}),
    ("windsurf", "before_tool", "pre_run_command", {"decision": "deny"}),
    ("amp", "before_tool", "before_tool", {"context": "x"}),
    ("droid", "prompt", "UserPromptSubmit", {OWN: {"hookEventName": "UserPromptSubmit", "additionalContext": ""}}),
    ("vscode", "after_tool", "PostToolUse", {OWN: {"hookEventName": "PostToolUse", "additionalContext": "x" * 10001}}),
]


@pytest.mark.parametrize(("host", "moment", "event", "answer"), DROPPED)
def test_what_a_host_would_drop_is_told(
    contract: Callable[[str], Any], host: str, moment: str, event: str, answer: dict[str, Any]
) -> None:
    with pytest.raises(jsonschema.ValidationError):
        contract(host).check_output(event, answer)
    assert read_output(host, moment, event, output_of(answer)).problem


@pytest.mark.parametrize(
    ("host", "output", "told"),
    [
        ("codex", Output(code=2, out=b"", err=b"stop"), "exits with 2: stop"),
        ("kiro", Output(code=1, out=b"", err=b""), "exits with 1"),
        ("kiro", Output(code=2, out=b"", err=b""), "exits with 2"),
        ("cursor", Output(code=0, out=b"hello", err=b""), "not JSON"),
        ("cursor", Output(code=0, out=b"\xff", err=b""), "not JSON"),
        ("cursor", Output(code=0, out=b"[]", err=b""), "not a JSON object"),
    ],
)
def test_what_is_no_answer_is_told(host: str, output: Output, told: str) -> None:
    assert told in read_output(host, "before_tool", "x", output).problem


def test_what_a_shell_s_profile_complains_of_is_passed_over() -> None:
    heard = read_output("codex", "prompt", "UserPromptSubmit", Output(code=0, out=b"", err=b"profile: no such file"))
    assert heard.problem == ""


def test_silence_is_no_problem_and_says_nothing() -> None:
    heard = read_output("codex", "prompt", "UserPromptSubmit", Output(code=0, out=b" \n", err=b""))
    assert (heard.text, heard.held, heard.problem) == ("", False, "")


@given(
    host=st.sampled_from(sorted(TAKES)), out=st.binary(max_size=60), err=st.binary(max_size=9), code=st.integers(0, 3)
)
@settings(max_examples=100)
def test_no_output_makes_the_reader_raise(host: str, out: bytes, err: bytes, code: int) -> None:
    heard = read_output(host, "before_tool", "PreToolUse", Output(code=code, out=out, err=err))
    assert heard.held <= bool(heard.text)
