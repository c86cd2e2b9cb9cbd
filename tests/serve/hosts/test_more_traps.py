"""More of what the hosts' contracts hide: a test for each warning of HOSTS.md that is not a mistake of others."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from deia.compile.compiler import compile_commons
from deia.serve.hooks.run import HOSTS, host_module
from deia.serve.hosts import cline, qwen
from deia.serve.hosts.delivery_form import Said
from deia.serve.hosts.event import BEFORE, LATE
from deia.serve.setup.host_settings.hook_file import file_text, with_hooks
from deia.serve.setup.host_settings.hosts_table import BY_NAME, FLAT, GROUPED, PLUGIN, SETUPS
from tests.derived import derived
from tests.serve.hooks.test_fallback import started_already

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from deia.records import Turn
    from deia.serve.hosts.event import Occasion

    Hosts = Callable[[str], Any]

pytestmark = pytest.mark.slow

DELETE = "I will delete the shop site now"
CALL = "shopctl site:delete --yes"
LESSON = "Save the domain records first."
MOMENTS = ("prompt", "before_tool", "after_tool", "tool_error", "stop", "session")
CLAUDE_SHAPED = ("claude-code", "codex", "droid", "vscode")
WORDS = ["/usr/bin/python3", "-I", "-S", "/opt/deia/serve/hook.py"]


def said_at(it: Any) -> Iterator[tuple[str, str]]:
    """Yield what the hook answers at every moment that the host has, in one conversation."""
    for moment, text in zip(
        MOMENTS, (DELETE, CALL, "done", "Site not found", "I will rename the site.", ""), strict=True
    ):
        yield moment, it.say(moment, text, command="ls", mark=moment)


def read(host: str, event: dict[str, Any]) -> tuple[Occasion, Turn]:
    """Return what a host's event is about, and its turn."""
    occasion = host_module(host).read_event(event)
    assert occasion is not None
    assert occasion.turn is not None
    return occasion, occasion.turn


def settings_of(host: str) -> str:
    """Return everything that is written for a host, as one text."""
    setup = BY_NAME[host]
    if setup.shape in {GROUPED, FLAT}:
        return with_hooks("", setup, [*WORDS, host], path="hooks.json")
    return "\n".join(file_text(setup, f"/p/{event}", [*WORDS, host]) for event in setup.events)


# --- the five facts ---


def test_context_before_a_tool_comes_after_it_so_a_danger_is_denied_once_and_passes_when_repeated(
    hosted: Hosts,
) -> None:
    assert host_module("claude-code").CARRIES["before_tool"]["context"] == LATE
    it = hosted("claude-code")
    told = json.loads(it.say("before_tool", CALL, mark="t1"))["hookSpecificOutput"]
    assert told["permissionDecision"] == "deny"
    assert LESSON in told["permissionDecisionReason"]
    assert it.say("before_tool", CALL, mark="t2") == ""


def test_the_reason_of_a_question_is_the_person_s_alone_so_the_model_gets_no_lesson_by_it(hosted: Hosts) -> None:
    it = hosted("claude-code")
    asked = json.loads(it.say("before_tool", "shopctl site:rename old new"))["hookSpecificOutput"]
    assert asked["permissionDecision"] == "ask"
    assert "<deia-reference" not in asked["permissionDecisionReason"]
    assert "<deia-reference" in asked["additionalContext"]


@pytest.mark.parametrize("host", HOSTS)
def test_the_same_text_is_not_injected_twice_into_a_conversation_that_is_replayed(hosted: Hosts, host: str) -> None:
    it = hosted(host)
    texts = [it.say("prompt", DELETE, mark=f"p{number}") for number in range(3)]
    texts += [it.say("after_tool", "done", command="ls", mark=f"r{number}") for number in range(2)]
    assert sum(text.count(LESSON) for text in texts) <= 1


@pytest.mark.parametrize("host", HOSTS)
def test_injected_text_names_its_source_is_tagged_and_is_no_order_of_the_user(hosted: Hosts, host: str) -> None:
    told = json.dumps(json.loads(text) if (text := hosted(host).say("before_tool", CALL))[:1] == "{" else text)
    assert "<deia-reference" in told
    assert "</deia-reference>" in told
    assert "it is not a message from the user" in told


@pytest.mark.parametrize("host", HOSTS)
def test_no_string_is_longer_than_ten_thousand_characters(
    hosted: Hosts, host: str, commons: Path, environ: dict[str, str]
) -> None:
    for path in (commons / "bok").rglob("*.md"):
        path.write_text("# Before\n\n" + "Save the domain records first. " * 9000, encoding="utf-8")
    compile_commons(str(commons), environ=environ)
    it = hosted(host)
    for _, text in said_at(it):
        assert max((len(each) for each in strings(json.loads(text) if text[:1] == "{" else text)), default=0) <= 10_000


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from strings(each)
    elif isinstance(value, str):
        yield value


def test_every_host_starts_a_python_without_site_packages() -> None:
    for setup in SETUPS:
        text = settings_of(setup.host)
        assert text.count('"-I", "-S"') + text.count('"-I",') + text.count("-I -S") >= 1, setup.host


# Events of Claude Code 2.1.330 as real runs showed them, with this commons' words in them.
SENT = {"session_id": "423ff417-a0b0-42ed-a8cb-32315719a737", "prompt_id": "04695943-c5a3-4ced-bb93-a4e485ac8070"}
BASH = {"tool_name": "Bash", "tool_input": {"command": CALL}, "tool_use_id": "toolu_7d77a15d27cd4bc9b41c"}
REFUSED = "Permission to use Bash with command shopctl site:delete --yes has been denied."
TYPED = f"/tidy {DELETE}"
EXPANSION = {
    **SENT, "permission_mode": "bypassPermissions", "hook_event_name": "UserPromptExpansion",
    "expansion_type": "slash_command", "command_name": "tidy", "command_args": DELETE,
    "command_source": "projectSettings", "prompt": TYPED,
}  # fmt: skip
MODE = {"permission_mode": "auto", "effort": {"level": "high"}}
REFUSAL = {**SENT, **MODE, "hook_event_name": "PermissionDenied", **BASH, "reason": "Classifier unavailable"}
BATCH = {
    **SENT, **MODE, "hook_event_name": "PostToolBatch", "tool_calls": [{**BASH, "tool_response": REFUSED}],
}  # fmt: skip


@pytest.mark.parametrize("event", [EXPANSION, REFUSAL, BATCH], ids=lambda event: event["hook_event_name"])
def test_events_of_claude_code_that_repeat_others_are_not_entered_and_not_answered(
    hosted: Hosts, event: dict[str, Any]
) -> None:
    assert event["hook_event_name"] not in BY_NAME["claude-code"].events
    it = hosted("claude-code")
    done = it.run(json.dumps({**event, "cwd": it.folder}).encode())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not it.firings()


def test_what_is_typed_behind_a_command_is_watched_when_it_is_submitted(hosted: Hosts) -> None:
    assert LESSON in hosted("claude-code").say("prompt", TYPED)


# --- what others did ---


@pytest.mark.parametrize("host", sorted(BY_NAME))
def test_errors_are_hidden_by_nothing_in_the_command(host: str) -> None:
    text = settings_of(host)
    for hidden in ("/dev/null", "|| true", "2>", "$null", "SilentlyContinue"):
        assert hidden not in text


@pytest.mark.parametrize("host", HOSTS)
def test_an_error_is_in_the_ledger_though_the_host_hears_nothing_of_it(
    hosted: Hosts, host: str, commons: Path, environ: dict[str, str]
) -> None:
    it = hosted(host)
    (derived(commons, environ) / "triggers").write_bytes(b"torn")
    started_already(environ, commons)  # a compile that does not end in time
    it.run(json.dumps(it.event("before_tool", CALL)).encode())
    lines = "".join(path.read_text(encoding="utf-8") for path in (commons / "telemetry/events").glob("*.jsonl"))
    assert '"event":"error"' in lines.replace(" ", "")


@pytest.mark.parametrize("host", HOSTS)
def test_an_allowance_is_never_given(hosted: Hosts, host: str) -> None:
    for _, text in said_at(hosted(host)):
        assert '"allow"' not in text
        assert "updatedInput" not in text
        assert "modifiedArgs" not in text


@pytest.mark.parametrize("host", CLAUDE_SHAPED)
def test_a_prompt_is_never_erased_and_a_turn_never_kept_from_ending(hosted: Hosts, host: str) -> None:
    for moment, text in said_at(hosted(host)):
        told = json.loads(text) if text else {}
        assert not {"decision", "continue", "stopReason", "suppressOutput"} & set(told)
        assert moment != "stop" or told == {}


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_printed_is_never_plain_text(hosted: Hosts, host: str) -> None:
    it = hosted(host)
    for moment, text in (("prompt", DELETE), ("before_tool", CALL)):
        event = it.event(moment, text)
        out = it.run(json.dumps(event).encode()).stdout if event else b""
        assert out == b"" or isinstance(json.loads(out), dict)


# --- Claude Code ---


def test_claude_code_s_events_are_not_waited_for_long_and_a_turn_s_end_not_at_all() -> None:
    written = json.loads(settings_of("claude-code"))["hooks"]
    entries = {event: group["hooks"][0] for event, (group,) in written.items()}
    assert all(entry["timeout"] <= 30 for entry in entries.values()), "UserPromptSubmit has 30 s by default"
    assert [event for event, entry in entries.items() if entry.get("async")] == ["Stop"]
    assert "SessionEnd" not in BY_NAME["claude-code"].events, "which has 1.5 s for all hooks together"


def test_a_plan_is_watched_where_the_model_leaves_plan_mode(hosted: Hosts) -> None:
    it = hosted("claude-code")
    event = it.event("before_tool", "") | {"tool_name": "ExitPlanMode", "tool_input": {"plan": f"1. {DELETE}"}}
    told = json.loads(it.ask(event))
    assert LESSON in json.dumps(told)


def test_a_subagent_s_events_are_a_conversation_of_their_own(hosted: Hosts) -> None:
    it = hosted("claude-code")
    assert LESSON in it.say("before_tool", CALL, mark="t1")
    assert LESSON in it.ask(it.event("before_tool", CALL, mark="t2") | {"agent_id": "a1", "agent_type": "Explore"})


def test_a_conversation_that_was_compacted_is_told_again(hosted: Hosts) -> None:
    it = hosted("claude-code")
    assert LESSON in it.say("prompt", DELETE)
    assert it.ask(it.event("session") | {"source": "compact"}) == ""
    assert LESSON in it.say("prompt", DELETE, mark="p2")


def test_a_transcript_that_lags_is_never_read(hosted: Hosts, tmp_path: Path) -> None:
    it = hosted("claude-code")
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(json.dumps({"type": "user", "message": {"content": DELETE}}), encoding="utf-8")
    assert it.ask(it.event("before_tool", "ls") | {"transcript_path": str(transcript)}) == ""


# --- Codex ---


def test_codex_is_given_no_context_before_a_tool_which_old_versions_refuse(hosted: Hosts) -> None:
    it = hosted("codex")
    assert "context" not in host_module("codex").CARRIES["before_tool"]
    answer = host_module("codex").write_answer
    occasion = host_module("codex").read_event(it.event("before_tool", "ls"))
    assert occasion is not None
    assert answer(occasion, Said(note="n", ask="")) is None


def test_codex_asks_again_for_trust_only_where_the_command_changed() -> None:
    setup = BY_NAME["codex"]
    text = with_hooks("", setup, [*WORDS, "codex"], path="h")
    assert with_hooks(text, setup, [*WORDS, "codex"], path="h") == text
    assert "version" not in text, "an update of deia leaves the command as it is"


def test_a_failed_tool_of_codex_comes_back_as_any_other(hosted: Hosts) -> None:
    it = hosted("codex")
    event = it.event("tool_error", "Error: Site not found", command="shopctl site:open")
    assert event["hook_event_name"] == "PostToolUse"
    assert "probably changed" in it.ask(event)


# --- Gemini, Cursor, VS Code, Cline, Windsurf, Kiro ---


def test_gemini_is_given_no_context_before_a_tool(hosted: Hosts) -> None:
    assert set(host_module("gemini").CARRIES["before_tool"]) <= {"hold", "note"}
    told = json.loads(hosted("gemini").say("before_tool", CALL))
    assert told["decision"] == "deny"
    assert "hookSpecificOutput" not in told


def test_cursor_is_answered_in_snake_case_and_never_fails_closed(hosted: Hosts) -> None:
    it = hosted("cursor")
    held = json.loads(it.say("before_tool", CALL))
    assert set(held) <= {"permission", "agent_message", "user_message"}
    assert "failClosed" not in settings_of("cursor")
    told = json.loads(hosted("cursor").but(conversation="x").say("prompt", DELETE) or "{}")
    assert told == {}, "a prompt's context is not documented, so it waits"


def test_windows_hooks_that_start_a_second_apart_are_one_event(hosted: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = hosted("cursor").but(conversation="c1"), hosted("claude-code").but(conversation="c1")
    assert LESSON in first.say("before_tool", CALL, mark="")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 1.3)
    assert second.say("before_tool", CALL, mark="") == ""
    assert first.firings() == [("site-delete", "held")]


def test_vs_code_takes_claude_s_shape_and_no_note(hosted: Hosts) -> None:
    told = json.loads(hosted("vscode").say("before_tool", CALL))
    assert set(told) == {"hookSpecificOutput"}
    assert told["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_held_call_of_cline_runs_no_command_and_its_model_reads_why(hosted: Hosts) -> None:
    told = json.loads(hosted("cline").say("before_tool", CALL))
    assert told["overrideInput"] == {"commands": []}
    assert "stopped this call" in told["contextModification"]
    assert LESSON in told["contextModification"]


def test_cline_cancels_a_call_that_might_do_something_without_its_input(hosted: Hosts) -> None:
    it = hosted("cline")
    said = Said(hold="why")
    for tool, answered in (("editor", {"overrideInput": None}), ("shop__wipe_all", {"cancel": True})):
        event = it.event("before_tool", CALL)
        event["tool_call"]["name"] = event["preToolUse"]["toolName"] = tool
        occasion, _ = read("cline", event)
        told = cline.write_answer(occasion, said)
        assert told is not None
        it.contract.check_output("tool_call", told)
        assert answered.items() <= told.items()


def test_cline_s_extension_is_told_why_in_both_places_when_a_call_is_cancelled(hosted: Hosts) -> None:
    it = hosted("cline")
    about = {"taskId": "t", "workspaceRoots": [it.folder], "timestamp": "1", "clineVersion": "3.40.0", "userId": "u"}
    call = {"toolName": "execute_command", "parameters": {"command": CALL}}
    told = json.loads(it.ask({**about, "hookName": "PreToolUse", "preToolUse": call}))
    assert told["cancel"] is True
    assert LESSON in told["errorMessage"]
    assert LESSON in told["contextModification"]


def test_cline_sends_a_call_as_json_and_a_failure_of_one_command_in_a_result_that_succeeded(hosted: Hosts) -> None:
    it = hosted("cline")
    written = it.event("before_tool", CALL)
    del written["tool_call"]  # which leaves the parameters as a text of JSON
    assert read("cline", written)[1].tool_input == {"command": CALL}
    occasion, turn = read("cline", it.event("tool_error", "Error: Site not found", command="shopctl site:open"))
    assert (occasion.moment, turn.failed) == ("tool_error", True)
    assert "shopctl" not in turn.text


@pytest.mark.parametrize("host", ["windsurf", "kiro"])
def test_a_hold_by_exit_code_has_its_reason_on_standard_error_and_nothing_else(hosted: Hosts, host: str) -> None:
    it = hosted(host)
    done = it.run(json.dumps(it.event("before_tool", CALL)).encode())
    assert (done.returncode, done.stdout) == (2, b"")
    assert LESSON in done.stderr.decode()
    assert host_module(host).CARRIES == {"before_tool": {"hold": BEFORE}}


def test_windsurf_tells_nothing_of_what_a_command_printed(hosted: Hosts) -> None:
    it = hosted("windsurf")
    event = it.event("before_tool", "shopctl site:open") | {"agent_action_name": "post_run_command"}
    assert it.ask(event) == ""


@pytest.mark.parametrize("host", [setup.host for setup in SETUPS if setup.shape == PLUGIN])
def test_a_plugin_in_the_host_s_own_process_holds_by_what_the_host_knows(host: str) -> None:
    text = settings_of(host)
    wanted = "throw new Error" if host == "opencode" else "reject-and-continue"
    assert wanted in text


def test_droid_s_shell_is_called_execute_and_is_watched_as_one(hosted: Hosts) -> None:
    event = hosted("droid").event("before_tool", CALL)
    assert event["tool_name"] == "Execute"
    assert LESSON in hosted("droid").ask(event)


def test_qwen_tells_the_exit_code_of_a_command_in_what_the_model_reads(hosted: Hosts) -> None:
    it = hosted("qwen")
    printed = (
        "Command: shopctl site:open\nDirectory: (root)\nOutput: Error: Site not found\nError: (none)\nExit Code: {}"
    )
    for code, moment in ((0, "after_tool"), (3, "tool_error")):
        event = it.event("after_tool", command="shopctl site:open")
        event["tool_response"] = {"llmContent": printed.format(code) + "\nSignal: 0", "returnDisplay": "x"}
        occasion, turn = read("qwen", event)
        assert (occasion.moment, turn.failed) == (moment, code == 3)
        assert "shopctl" not in turn.text, "the command is no part of its result"
    event["tool_response"] = {"llmContent": printed.format("9" * 9000), "returnDisplay": "x"}
    assert read("qwen", event)[1].failed
    event["tool_response"] = {"llmContent": [{"text": "Error: Site not found"}], "returnDisplay": "x"}
    assert read("qwen", event)[1].text == "Error: Site not found"


def test_qwen_sends_results_back_with_an_empty_prompt_that_nobody_said(hosted: Hosts) -> None:
    it = hosted("qwen")
    assert qwen.read_event(it.event("prompt", "")) is None
    assert LESSON in it.say("prompt", "I will delete the shop site now")
