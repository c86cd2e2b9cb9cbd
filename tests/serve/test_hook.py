"""The hook as Claude Code calls it, both ways: its documented events go in, and only what it documents comes out."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.compile.compiler import compile_commons
from deia.files import append
from deia.firing import Firing
from deia.serve import hook
from deia.serve.hooks.place import Place
from deia.serve.hooks.run import respond
from deia.serve.hosts import claude_code
from deia.serve.hosts.delivery_form import say
from deia.serve.hosts.event import Occasion
from deia.spool import timestamp
from deia.watch.injection import compose
from deia.watch.memory.log import fingerprint
from deia.watch.silence import allow
from deia.watch.silence.mutes import Mute, write_mute

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Ask = Callable[..., dict[str, Any] | None]

DELETE = "I will delete the shop site now"
CALL = "shopctl site:delete --yes"
# What each event may answer, from the host's reference (HOSTS.md A1); anything else is refused here.
UNIVERSAL = {"hookSpecificOutput", "systemMessage"}
SPECIFIC = {
    "UserPromptSubmit": {"additionalContext"},
    "PreToolUse": {"permissionDecision", "permissionDecisionReason", "additionalContext"},
    "PostToolUse": {"additionalContext"},
    "PostToolUseFailure": {"additionalContext"},
    "SessionStart": {"additionalContext"},
    "Stop": set(),
    "SubagentStop": set(),
}
MOST_CHARS = 10_000
NUMBERS = count()


def assert_contract(event: str, answer: dict[str, Any] | None) -> None:
    """Check an answer against what the host documents for the event."""
    if answer is None:
        return
    assert answer
    assert set(answer) <= UNIVERSAL
    assert isinstance(answer.get("systemMessage", ""), str)
    specific = answer.get("hookSpecificOutput")
    if specific is None:
        return
    assert specific.pop("hookEventName") == event
    assert set(specific) <= SPECIFIC[event]
    assert all(isinstance(value, str) and 0 < len(value) <= MOST_CHARS for value in specific.values())
    if "permissionDecision" in specific:
        assert specific["permissionDecision"] in {"allow", "deny", "ask"}
        assert specific["permissionDecisionReason"]


def event_of(name: str, folder: Path, **fields: Any) -> dict[str, Any]:
    """Return an event with every field that the host documents as common."""
    return {
        "session_id": "5f0c-11",
        "prompt_id": f"p{next(NUMBERS)}",
        "transcript_path": "/nowhere/t.jsonl",
        "cwd": str(folder),
        "permission_mode": "default",
        "hook_event_name": name,
        **fields,
    }


def call_of(folder: Path, command: str = CALL, **fields: Any) -> dict[str, Any]:
    given = {"command": command}
    return event_of("PreToolUse", folder, tool_name="Bash", tool_input=given, tool_use_id=f"t{next(NUMBERS)}", **fields)


@pytest.fixture
def ask(commons: Path, environ: dict[str, str]) -> Ask:
    """Return a function that starts the hook over a compiled commons as the host does, and checks its answer."""
    compile_commons(str(commons), environ=environ)
    return lambda event, **changes: answer_of(event, {**environ, **changes})


def answer_of(event: Any, environ: dict[str, str]) -> dict[str, Any] | None:
    data = event if isinstance(event, bytes) else json.dumps(event).encode()
    done = subprocess.run(
        [sys.executable, "-I", "-S", os.path.abspath(hook.__file__), "claude-code"],
        input=data,
        capture_output=True,
        check=False,
        env=environ,
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    answer: dict[str, Any] | None = json.loads(done.stdout) if done.stdout else None
    if isinstance(event, dict):
        assert_contract(str(event.get("hook_event_name")), json.loads(json.dumps(answer)))
    return answer


def context_of(answer: dict[str, Any] | None) -> str:
    return str((answer or {}).get("hookSpecificOutput", {}).get("additionalContext", ""))


def test_a_prompt_gets_the_document_as_context(ask: Ask, commons: Path) -> None:
    answer = ask(event_of("UserPromptSubmit", commons, prompt=DELETE))
    assert "Save the domain records first." in context_of(answer)
    assert "site-delete" in answer["systemMessage"]  # type: ignore[index]


def test_a_prompt_that_concerns_nothing_gets_nothing(ask: Ask, commons: Path) -> None:
    assert ask(event_of("UserPromptSubmit", commons, prompt="please list the shop sites")) is None


def test_a_call_is_held_once_and_passes_when_it_comes_again(ask: Ask, commons: Path) -> None:
    first = ask(call_of(commons))
    specific = first["hookSpecificOutput"]  # type: ignore[index]
    assert specific["permissionDecision"] == "deny"
    assert "Save the domain records first." in specific["permissionDecisionReason"]
    assert "again" in specific["permissionDecisionReason"]
    assert ask(call_of(commons)) is None


def test_after_a_hold_another_call_is_held_with_a_short_reason(ask: Ask, commons: Path) -> None:
    assert ask(call_of(commons)) is not None
    for command in (f"cd / && {CALL}", f"{CALL} --all"):
        reason = ask(call_of(commons, command))["hookSpecificOutput"]["permissionDecisionReason"]  # type: ignore[index]
        assert "of another call than this one" in reason
        assert "The same call passes when it is made again." in reason
        assert "Save the domain records first." not in reason
        assert ask(call_of(commons, command)) is None


def test_a_subagent_has_a_memory_of_its_own(ask: Ask, commons: Path) -> None:
    assert ask(call_of(commons)) is not None
    assert ask(call_of(commons, agent_id="a1", agent_type="general-purpose")) is not None
    assert ask(call_of(commons, agent_id="a1", agent_type="general-purpose")) is None


@pytest.mark.parametrize(("source", "speaks_again"), [("compact", True), ("clear", True), ("resume", False)])
def test_what_the_model_has_forgotten_is_said_again(
    *, ask: Ask, commons: Path, source: str, speaks_again: bool
) -> None:
    prompt = event_of("UserPromptSubmit", commons, prompt=DELETE)
    assert ask(prompt) is not None
    assert ask(prompt) is None
    ask(event_of("SessionStart", commons, source=source))
    assert (ask(prompt) is not None) is speaks_again


@pytest.mark.parametrize("action", ["hold", "ask"])
def test_the_safe_way_stands_in_the_reason_that_is_shown(action: Any) -> None:
    firing = Firing(
        trigger="t", title="T", urgency="high", action=action, timing="pre-action", message="It is lost.",
        action_required="Look first.", documents=(), because="x", turn=1, instead=("shopctl site:archive",),
    )  # fmt: skip
    occasion = Occasion(event="PreToolUse", moment="before_tool", conversation="c", folder="/")
    said = say(claude_code.CARRIES["before_tool"], compose([firing], lambda _: None))
    answer: Any = claude_code.write_answer(occasion, said)
    assert answer is not None
    assert "Instead: shopctl site:archive" in answer["hookSpecificOutput"]["permissionDecisionReason"]


def code_in(answer: dict[str, Any] | None) -> str:
    """Return the code that the person is shown, and nobody else."""
    assert answer is not None
    code: str = re.search(r"deia allow (\w+)", answer["systemMessage"])[1]  # type: ignore[index]
    assert code not in json.dumps(answer["hookSpecificOutput"])
    return code


@pytest.mark.parametrize("command", [CALL, "shopctl site:rename old new"])
def test_the_person_lets_a_call_pass_by_a_code_that_the_model_never_sees(
    ask: Ask, commons: Path, environ: dict[str, str], command: str
) -> None:
    state = environ["DEIA_STATE"]
    code = code_in(ask(call_of(commons, command, agent_id="a1")))
    ask(event_of("SessionStart", commons, agent_id="a1", source="compact"))
    assert allow.grant(state, code, now=time.time())
    assert ask(call_of(commons, command)) is not None, "in another conversation it counts for nothing"
    assert ask(call_of(commons, f"{command} --again", agent_id="a1")) is None
    assert ask(call_of(commons, f"{command} --third", agent_id="a1")) is not None
    assert outcomes(commons)[-2:] == ["passed", "held" if command == CALL else "shown"]


def outcomes(commons: Path) -> list[str]:
    (path,) = (commons / "telemetry" / "events").glob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return [line["outcome"] for line in lines if line["event"] == "injection"]


def test_a_prompt_offers_no_code(ask: Ask, commons: Path) -> None:
    answer = ask(event_of("UserPromptSubmit", commons, prompt=DELETE))
    assert "deia allow" not in json.dumps(answer)


@pytest.mark.parametrize("command", ["deia allow ABC234", "deia mute site-delete", "true && deia mute --all"])
def test_an_agent_cannot_silence_deia_in_the_persons_name(ask: Ask, commons: Path, command: str) -> None:
    for _ in range(2):  # repeating it is of no use
        specific = ask(call_of(commons, command))["hookSpecificOutput"]  # type: ignore[index]
        assert specific["permissionDecision"] == "deny"
        assert "Only the person may" in specific["permissionDecisionReason"]
    assert ask(call_of(commons, "deia mute --list")) is None


def test_a_mute_for_once_is_used_up(ask: Ask, commons: Path, environ: dict[str, str]) -> None:
    write_mute(environ["DEIA_STATE"], Mute(trigger="site-delete", once=True))
    assert ask(call_of(commons)) is None
    assert ask(call_of(commons)) is not None
    assert outcomes(commons) == ["muted", "held"]


def test_an_excepted_place_and_a_milder_form_count_in_the_hook(commons: Path, environ: dict[str, str]) -> None:
    toml = 'max_action = "ask"\n[exceptions]\nsite-delete = ["sandbox/**"]\n'
    (commons / "deia.toml").write_text(toml, encoding="utf-8")
    compile_commons(str(commons), environ=environ)
    assert answer_of(call_of(commons, "shopctl site:delete sandbox/a"), environ) is None
    asked = answer_of(call_of(commons), environ)
    assert asked["hookSpecificOutput"]["permissionDecision"] == "ask"  # type: ignore[index]


def test_what_the_budget_leaves_out_is_in_the_ledger_and_may_speak_later(
    commons: Path, environ: dict[str, str]
) -> None:
    compile_commons(str(commons), environ={**environ, "DEIA_CONVERSATION_CHARS": "0"})
    failed = {"tool_name": "Bash", "tool_input": {"command": "x"}, "error": "Error: Site not found"}
    for mark in ("t1", "t2"):
        assert answer_of(event_of("PostToolUseFailure", commons, tool_use_id=mark, **failed), environ) is None
    assert outcomes(commons) == ["over_budget", "over_budget"]
    assert answer_of(event_of("UserPromptSubmit", commons, prompt=DELETE), environ) is not None, "what is urgent speaks"


def test_a_question_is_put_to_the_person(ask: Ask, commons: Path) -> None:
    answer = ask(call_of(commons, "shopctl site:rename old new"))
    assert answer["hookSpecificOutput"]["permissionDecision"] == "ask"  # type: ignore[index]


def test_a_failed_call_gets_its_lesson(ask: Ask, commons: Path) -> None:
    event = event_of(
        "PostToolUseFailure",
        commons,
        tool_name="Bash",
        tool_input={"command": "shopctl site:open"},
        tool_use_id="t",
        error="Error: Site not found",
        is_interrupt=False,
        duration_ms=5,
    )
    assert "The name was probably changed." in context_of(ask(event))


def test_what_the_agent_said_at_the_end_is_answered_at_the_next_prompt(ask: Ask, commons: Path) -> None:
    stop = event_of("Stop", commons, stop_hook_active=False, last_assistant_message="Next I'll delete the site.")
    assert ask(stop) is None
    assert "Deleting a site drops" in context_of(ask(event_of("UserPromptSubmit", commons, prompt="fine")))
    assert ask(event_of("UserPromptSubmit", commons, prompt="fine")) is None


def test_a_plan_is_watched_before_it_is_approved(ask: Ask, commons: Path) -> None:
    plan = event_of("PreToolUse", commons, tool_name="ExitPlanMode", tool_input={"plan": "1. I will delete the site."})
    answer = ask(plan)
    assert "Deleting a site drops" in json.dumps(answer)


def test_the_commons_may_be_named_in_the_command(ask: Ask, commons: Path, tmp_path: Path) -> None:
    elsewhere = event_of("UserPromptSubmit", tmp_path, prompt=DELETE)
    assert ask(elsewhere, DEIA_COMMONS=str(commons)) is not None


@pytest.mark.parametrize("how", ["variable", "file"])
def test_the_switch_silences_the_hook(ask: Ask, commons: Path, environ: dict[str, str], how: str) -> None:
    changes = {"DEIA_OFF": "1"} if how == "variable" else {}
    if how == "file":
        os.makedirs(environ["DEIA_STATE"], exist_ok=True)
        with open(f"{environ['DEIA_STATE']}/off", "wb"):
            pass
    assert ask(call_of(commons), **changes) is None


def test_stale_triggers_still_count_and_are_told_at_the_start_of_a_session(ask: Ask, commons: Path) -> None:
    with open(commons / "triggers" / "sites.yaml", "a", encoding="utf-8") as file:
        file.write("# changed\n")
    told = ask(event_of("SessionStart", commons, source="startup"))
    assert "deia compile" in told["systemMessage"]  # type: ignore[index]
    assert ask(event_of("UserPromptSubmit", commons, prompt=DELETE)) is not None


def test_a_commons_that_is_not_compiled_is_told_and_breaks_nothing(commons: Path, environ: dict[str, str]) -> None:
    append(f"{environ['DEIA_STATE']}/compiling/{fingerprint(str(commons)):016x}", b".")  # so that no compile is started
    told = answer_of(event_of("SessionStart", commons, source="startup"), environ)
    assert "deia compile" in told["systemMessage"]  # type: ignore[index]
    assert answer_of(event_of("UserPromptSubmit", commons, prompt=DELETE), environ) is None
    (events,) = (commons / "telemetry" / "events").glob("*.jsonl")
    assert '"event":"error"' in events.read_text(encoding="utf-8")


def test_an_injection_is_in_the_ledger(ask: Ask, commons: Path) -> None:
    ask(call_of(commons))
    (path,) = (commons / "telemetry" / "events").glob(f"{timestamp(os.stat(commons).st_mtime)[:4]}*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    assert [(line["event"], line["trigger"], line["outcome"]) for line in lines] == [
        ("injection", "site-delete", "held")
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe\x00",
        b'{"hook_event_name": 5}',
        b'{"hook_event_name": "FromTheFuture"}',
        b"[" * 5000,
    ],
)
def test_garbage_gets_silence(ask: Ask, data: bytes) -> None:
    assert ask(data) is None


def test_an_unknown_host_gets_silence(environ: dict[str, str]) -> None:
    for arguments in ([], ["nobody"]):
        command = [sys.executable, "-I", "-S", os.path.abspath(hook.__file__), *arguments]
        done = subprocess.run(command, input=b"{}", capture_output=True, check=False, env=environ, timeout=30)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


FIELDS = (
    "session_id", "cwd", "prompt", "tool_name", "tool_input", "tool_response", "error", "last_assistant_message",
    "source", "agent_id",
)  # fmt: skip
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", DELETE, CALL, "Bash", "\ud800", "\0/x", "../.."]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["command", "text", "plan", "file_path", ""]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.sampled_from([*SPECIFIC, "Notification"]), st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_wrong_types_and_missing_fields_break_nothing(compiled: Place, name: str, fields: dict[str, Any]) -> None:
    occasion = claude_code.read_event({"hook_event_name": name, **fields})
    if occasion is None:
        assert name == "Notification"
        return
    said = respond(compiled, occasion, claude_code.CARRIES)
    answer = claude_code.write_answer(occasion, said) if said else None
    assert_contract(name, json.loads(json.dumps(answer)))


@pytest.fixture
def compiled(commons: Path, environ: dict[str, str]) -> Place:
    """Return a hook's place in a compiled commons, without the process around it."""
    compile_commons(str(commons), environ=environ)
    place = Place(["claude-code"])
    place.environ = {**environ, "DEIA_COMMONS": str(commons)}
    place.state = environ["DEIA_STATE"]
    place.settle(str(commons))
    return place
