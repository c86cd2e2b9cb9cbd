"""The mistakes that others made with hooks, each with its name: what must never be written, and what must be read."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from deia.serve.hooks.run import HOSTS, host_module
from deia.serve.hosts import copilot
from deia.serve.hosts.delivery_form import Said
from deia.serve.hosts.event import Occasion
from deia.serve.setup.host_settings.hook_file import with_hooks
from deia.serve.setup.host_settings.hosts_table import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Callable

    Hosts = Callable[[str], Any]

DELETE = "I will delete the shop site now"
CALL = "shopctl site:delete --yes"
RENAME = "shopctl site:rename old new"
LESSON = "Save the domain records first."
CLAUDE_SHAPED = ("claude-code", "codex", "droid", "qwen")


def answer(it: Any, moment: str, text: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(it.say(moment, text))
    return told


@pytest.mark.slow
@pytest.mark.parametrize("host", CLAUDE_SHAPED)
def test_top_level_additional_context_is_never_written(hosted: Hosts, host: str) -> None:
    told = answer(hosted(host), "prompt", DELETE)
    assert "additionalContext" not in told
    assert LESSON in told["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("host", CLAUDE_SHAPED)
@pytest.mark.parametrize(("moment", "text"), [("prompt", DELETE), ("before_tool", CALL)])
def test_hook_event_name_is_never_missing(hosted: Hosts, host: str, moment: str, text: str) -> None:
    it = hosted(host)
    assert answer(it, moment, text)["hookSpecificOutput"]["hookEventName"] == it.event(moment)["hook_event_name"]


@pytest.mark.parametrize(("moment", "text"), [("prompt", DELETE), ("before_tool", CALL), ("before_tool", RENAME)])
def test_codex_gets_no_extra_keys(hosted: Hosts, moment: str, text: str) -> None:
    told = answer(hosted("codex"), moment, text)
    assert set(told) == {"hookSpecificOutput"}
    assert set(told["hookSpecificOutput"]) - {"hookEventName"} in (
        {"additionalContext"},
        {"permissionDecision", "permissionDecisionReason"},
    )


@pytest.mark.parametrize("host", ["codex", "droid", "gemini", "cline", "opencode", "amp", "windsurf", "kiro", "qwen"])
def test_ask_where_it_is_unknown_becomes_a_hold(hosted: Hosts, host: str) -> None:
    told = hosted(host).say("before_tool", RENAME)
    assert "breaks its links" in told
    assert '"ask"' not in told


def test_codex_gets_no_empty_reason(hosted: Hosts) -> None:
    assert answer(hosted("codex"), "before_tool", CALL)["hookSpecificOutput"]["permissionDecisionReason"].strip()


@pytest.mark.parametrize("host", CLAUDE_SHAPED)
def test_prompt_is_read_and_not_user_prompt(hosted: Hosts, host: str) -> None:
    it = hosted(host)
    event = it.event("prompt", DELETE)
    event["user_prompt"] = event.pop("prompt")
    with pytest.raises(Exception, match="'prompt' is a required property"):
        it.contract.check_input(event)
    assert LESSON in it.ask(it.event("prompt", DELETE))


@pytest.mark.parametrize("host", ["claude-code", "gemini"])
@pytest.mark.parametrize(("moment", "text"), [("prompt", DELETE), ("before_tool", CALL)])
def test_system_message_is_never_all_there_is(hosted: Hosts, host: str, moment: str, text: str) -> None:
    told = answer(hosted(host), moment, text)
    assert LESSON not in told.pop("systemMessage")
    assert LESSON in json.dumps(told)


@pytest.mark.parametrize("windows", [False, True])
def test_no_shell_splits_a_path(*, windows: bool) -> None:
    command = ["/a b/python", "/c 'd/hook.py", "claude-code"]
    written = json.loads(with_hooks("", BY_NAME["claude-code"], command, path="s", windows=windows))
    for groups in written["hooks"].values():
        entry = groups[0]["hooks"][0]
        words = [entry["command"], *entry["args"]] if windows else shlex.split(entry["command"])
        assert words == command


def test_power_shell_is_matched_where_bash_is() -> None:
    for event in BY_NAME["claude-code"].events.values():
        matcher = event.matcher or "PowerShell"
        assert re.fullmatch(matcher, "PowerShell")


def test_gemini_counts_milliseconds() -> None:
    assert BY_NAME["claude-code"].wait == {"timeout": 5}
    assert BY_NAME["gemini"].wait == {"timeout": 5000}


@pytest.mark.parametrize(("text", "decision"), [(CALL, "deny"), (RENAME, "ask")])
def test_copilot_answers_flat_before_a_tool(hosted: Hosts, text: str, decision: str) -> None:
    told = answer(hosted("copilot"), "before_tool", text)
    assert set(told) == {"permissionDecision", "permissionDecisionReason"}
    assert told["permissionDecision"] == decision


@pytest.mark.parametrize("named", [{}, {"hook_event_name": "UserPromptSubmit", "session_id": "c-copilot"}])
def test_copilot_prompt_output_is_dropped_so_none_is_written(hosted: Hosts, named: dict[str, Any]) -> None:
    it = hosted("copilot")
    submitted = {"sessionId": "c-copilot", "timestamp": 1, "cwd": it.folder, "prompt": DELETE, **named}
    assert it.run(json.dumps(submitted).encode()).stdout == b""
    assert LESSON in it.say("after_tool", "done", command="ls")


def test_copilot_s_rewritten_prompt_keeps_every_word_of_the_person(hosted: Hosts) -> None:
    it = hosted("copilot")
    event = it.event("prompt", DELETE) | {"transformedPrompt": f"<now>12:00</now>\n{DELETE}\ud83d\n"}
    told = json.loads(it.ask(event))
    assert set(told) == {"modifiedTransformedPrompt"}
    before, mark, added = told["modifiedTransformedPrompt"].partition("\n\n<deia-reference")
    assert (before, bool(mark)) == (event["transformedPrompt"], True)
    assert LESSON in added
    for nothing in ("", None, 5, ["x"]):
        again = it.but(conversation=f"c-{nothing}")
        empty = again.event("prompt", DELETE) | {"transformedPrompt": nothing}
        assert it.run(json.dumps(empty).encode()).stdout == b"", "a prompt is never blanked"
        assert LESSON in again.say("after_tool", "done", command="ls")


def test_a_result_in_copilot_s_snake_case_is_read(hosted: Hosts) -> None:
    it = hosted("copilot")
    event = {"hook_event_name": "PostToolUse", "session_id": "s", "cwd": it.folder, "tool_name": "Bash"}
    event |= {"tool_result": {"result_type": "success", "text_result_for_llm": "I will delete the shop site now"}}
    for host in ("copilot", "claude-code"):  # it runs the hooks of Claude's settings in this dialect too
        occasion = host_module(host).read_event(event)
        assert occasion is not None
        assert occasion.turn is not None
        assert occasion.turn.text == DELETE


def test_copilot_is_fail_closed_so_nothing_ever_fails(hosted: Hosts) -> None:
    it = hosted("copilot")
    for data in (b"", b"{", b"[]", b"\xff", b'{"toolName": 5, "toolArgs": "{"}', b'{"toolName": [], "cwd": {}}'):
        done = it.run(data)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_copilot_context_is_measured_in_bytes() -> None:
    occasion = Occasion(event="PostToolUse", moment="after_tool", conversation="c", folder="/")
    told = copilot.write_answer(occasion, Said(context="€" * 9_000))
    assert told is not None
    assert len(told["additionalContext"].encode()) < 10_000


def test_copilot_speaks_pascal_case_too(hosted: Hosts) -> None:
    it = hosted("copilot")
    event = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": it.folder, "tool_name": "Bash"}
    done = it.run(json.dumps({**event, "tool_input": {"command": CALL}}).encode())
    assert json.loads(done.stdout)["permissionDecision"] == "deny"


def test_cursor_holds_a_shell_call_once_though_two_events_tell_of_it(hosted: Hosts) -> None:
    it = hosted("cursor")
    shell = {"hook_event_name": "beforeShellExecution", "conversation_id": it.conversation, "command": CALL}
    shell["workspace_roots"] = [it.folder]
    assert "deny" in it.run(json.dumps(shell).encode()).stdout.decode()
    assert it.say("before_tool", CALL, mark="t2") == ""
    assert it.run(json.dumps(shell).encode()).stdout == b""


@pytest.mark.parametrize("host", HOSTS)
def test_exit_code_two_is_an_answer_and_never_an_accident(hosted: Hosts, host: str) -> None:
    it = hosted(host)
    by_code = host in {"windsurf", "kiro"}
    held = it.run(json.dumps(it.event("before_tool", CALL)).encode())
    assert (held.returncode, bool(held.stderr), bool(held.stdout)) == (
        (2, True, False) if by_code else (0, False, True)
    )
    quiet = it.run(json.dumps(it.event("before_tool", "ls")).encode())
    broken = it.run(b'{"agent_action_name": "pre_run_command", "hook_event_name": "preToolUse", "tool_info": 5')
    for done in (quiet, broken):
        assert (done.returncode, done.stderr) == (0, b"")


def test_reminders_of_a_conversation_end_where_kiro_starts_anew(hosted: Hosts) -> None:
    it = hosted("kiro")
    assert LESSON in it.say("before_tool", CALL)
    assert it.say("before_tool", CALL) == ""
    assert it.say("session") == ""
    assert LESSON in it.say("before_tool", CALL)
