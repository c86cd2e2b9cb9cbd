"""The same conversation through every host: the same firings, each at the first moment that the host can carry it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from deia.serve.hooks.run import HOSTS
from deia.serve.hosts.sample_events import templates

if TYPE_CHECKING:
    from collections.abc import Callable

    Hosts = Callable[[str], Any]

DELETE = "I will delete the shop site now"
CALL = "shopctl site:delete --yes"
LESSON = "Save the domain records first."
AT_THE_PROMPT = ("claude-code", "codex", "gemini", "droid", "opencode", "generic", "copilot", "qwen")
AT_THE_RESULT = ("vscode", "cursor", "cline")
LATE_BEFORE = ("vscode", "cline")  # whose context of a call comes with its result
UNTOLD = ("droid",)  # which tells of no call that failed
BY_HOLD_ALONE = ("windsurf", "kiro")


def test_every_host_is_known_everywhere() -> None:
    assert set(HOSTS) == set(templates()) == {*AT_THE_PROMPT, *AT_THE_RESULT, *BY_HOLD_ALONE, "amp"}


@pytest.mark.parametrize("host", HOSTS)
def test_the_installed_hook_holds_the_call_once_whatever_the_host(hosted: Hosts, host: str) -> None:
    it = hosted(host)
    assert it.send(it.event("prompt", "please list the shop sites")) == ""
    held = it.send(it.event("before_tool", CALL, mark="t1"))
    assert LESSON in held
    assert "passes when it is made again" in held
    assert it.send(it.event("before_tool", CALL, mark="t2")) == ""
    assert it.firings()[0] == ("site-delete", "held")
    assert it.firings()[1:] in ([("site-delete", "passed")], [])  # without ids, the same call at once is the same event


@pytest.mark.parametrize("host", AT_THE_PROMPT)
def test_what_is_said_gets_its_lesson_at_once_where_the_host_carries_it(hosted: Hosts, host: str) -> None:
    it = hosted(host)
    assert LESSON in it.send(it.event("prompt", DELETE))
    assert it.say("after_tool", "done", command="ls") == ""
    assert it.firings() == [("site-delete", "shown")]


@pytest.mark.parametrize("host", AT_THE_PROMPT)
def test_what_a_prompt_was_told_does_not_disarm_the_hold_of_its_call(hosted: Hosts, host: str) -> None:
    it = hosted(host)
    said = it.say("prompt", DELETE)
    held = it.say("before_tool", CALL, mark="t1")
    assert LESSON in said
    assert "passes when it is made again" in held
    assert "site-delete" in held
    assert "Said before in this conversation" in held
    assert LESSON not in held, "the same text is not injected twice in full"
    assert it.say("before_tool", CALL, mark="t2") == ""
    assert it.firings()[:2] == [("site-delete", "shown"), ("site-delete", "held")]


def test_what_a_prompt_was_told_is_said_in_full_again_after_a_compaction(hosted: Hosts) -> None:
    it = hosted("claude-code")
    it.say("prompt", DELETE)
    it.ask({**it.event("session"), "source": "compact"})
    assert LESSON in it.say("before_tool", CALL, mark="t1")


@pytest.mark.parametrize("host", AT_THE_PROMPT)
def test_a_prompt_in_marks_is_said_as_it_is_without_them(hosted: Hosts, host: str) -> None:
    it = hosted(host)
    assert LESSON in it.say("prompt", f'"{DELETE}"')
    assert hosted(host).but(conversation="c2").say("prompt", f'Somebody wrote "{DELETE}" in the minutes.') == ""


@pytest.mark.parametrize("host", AT_THE_RESULT)
def test_prompt_output_dropped_waits_for_the_first_tool_result(hosted: Hosts, host: str) -> None:
    it = hosted(host)
    assert it.send(it.event("prompt", DELETE)) == ""
    assert it.say("before_tool", "ls") == "" or host in LATE_BEFORE
    delivered = it.say("after_tool", "done", command="ls")
    assert LESSON in delivered or host in LATE_BEFORE
    assert it.say("after_tool", "done", command="ls", mark="m2") == ""
    assert it.firings() == [("site-delete", "shown")]


@pytest.mark.parametrize("host", AT_THE_RESULT)
def test_a_call_is_held_while_its_lesson_still_waits(hosted: Hosts, host: str) -> None:
    it = hosted(host)
    assert it.say("prompt", DELETE) == ""
    held = it.say("before_tool", CALL, mark="t1")
    assert LESSON in held
    assert "deny" in held or '"overrideInput": {"commands": []}' in held
    assert it.say("before_tool", CALL, mark="t2") == ""
    assert it.say("after_tool", "done", command=CALL) == "", "it was delivered with the denial"


@pytest.mark.parametrize("host", BY_HOLD_ALONE)
def test_where_only_a_hold_is_heard_the_call_that_does_it_is_held(hosted: Hosts, host: str) -> None:
    it = hosted(host)
    assert it.send(it.event("prompt", DELETE)) == ""
    assert it.send(it.event("before_tool", "ls -la")) == ""
    assert LESSON in it.send(it.event("before_tool", CALL, mark="m2"))
    assert it.send(it.event("before_tool", CALL, mark="m3")) == ""


@pytest.mark.parametrize("host", [host for host in (*AT_THE_PROMPT, *AT_THE_RESULT) if host not in UNTOLD])
def test_a_failed_call_gets_its_lesson_sooner_or_later(hosted: Hosts, host: str) -> None:
    it = hosted(host)
    told = it.say("tool_error", "Error: Site not found", command="shopctl site:open")
    later = it.say("after_tool", "done", command="ls", mark="m2")
    assert "probably changed" in told + later
    assert it.firings() == [("site-missing", "shown")]


@pytest.mark.parametrize("host", HOSTS)
def test_a_question_is_asked_or_held_once(hosted: Hosts, host: str) -> None:
    it = hosted(host)
    rename = "shopctl site:rename old new"
    asked = it.say("before_tool", rename, mark="t1")
    assert "breaks its links" in asked
    assert it.say("before_tool", rename, mark="t2") == ""
    assert it.firings()[0] == ("site-rename", "shown")


@pytest.mark.parametrize(
    ("first", "second"), [("cursor", "claude-code"), ("copilot", "claude-code"), ("claude-code", "cursor")]
)
def test_an_event_that_arrives_twice_is_judged_once(hosted: Hosts, first: str, second: str) -> None:
    own, others = hosted(first).but(conversation="c1"), hosted(second).but(conversation="c1")
    assert LESSON in own.say("before_tool", CALL)
    assert others.say("before_tool", CALL) == ""
    assert own.firings() == [("site-delete", "held")]


def test_the_same_call_with_another_id_is_another_event(hosted: Hosts) -> None:
    it = hosted("claude-code")
    it.say("before_tool", CALL, mark="t1")
    it.say("before_tool", CALL, mark="t2")
    assert it.firings() == [("site-delete", "held"), ("site-delete", "passed")]


@pytest.mark.parametrize("host", HOSTS)
def test_an_agent_silences_deia_at_no_host(hosted: Hosts, host: str) -> None:
    it = hosted(host)
    for mark in ("t1", "t2"):
        assert "Only the person may" in it.say("before_tool", "deia mute --all", mark=mark)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")  # nobody waits for the compile
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("host", [host for host in HOSTS if host not in {"amp", "opencode", "windsurf"}])
def test_trouble_is_told_at_the_start_of_a_session_where_anybody_hears_it(hosted: Hosts, host: str) -> None:
    it = hosted(host)
    with open(f"{it.folder}/triggers/sites.yaml", "a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert ("deia compile" in it.say("session")) is (host not in {"kiro", "cline"})
