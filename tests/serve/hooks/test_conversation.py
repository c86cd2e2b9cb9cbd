"""What carries over from one event of a conversation to the next, in real processes: yes, freezes, files, errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deia.compile.compiler import compile_commons
from tests.serve.test_hook import answer_of, call_of, context_of, event_of

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[[dict[str, Any]], dict[str, Any] | None]

MORE = """\
- id: frozen
  title: A change during a freeze
  urgency: high
  action: ask
  message: A freeze was declared.
  documents: [{id: site-checklist, mode: summary_only}]
  when:
    any: [{command: shopctl publish}]
    earlier: {any: [{phrase: code freeze}], until: [{phrase: freeze … over}]}
- id: unread
  title: Writing over a file that nobody read
  urgency: medium
  action: hold
  message: The file exists already.
  documents: [{id: site-checklist, mode: summary_only}]
  when: {any: [{write: {paths: ["*.toml"], exists: true, unread: true}}]}
- id: lesson-again
  title: A lesson that exists
  urgency: low
  action: hold
  message: There is such a lesson.
  documents: [{id: site-checklist, mode: summary_only}]
  when: {any: [{write: {paths: ["bok/**"], like: true}}]}
"""
PLAN = "1. I will delete the site.\n2. Then I recreate it."


@pytest.fixture
def ask(commons: Path, environ: dict[str, str]) -> Ask:
    """Return a function that starts the hook over the small commons with some more triggers."""
    (commons / "triggers" / "more.yaml").write_text(MORE, encoding="utf-8")
    compiled = compile_commons(str(commons), environ=environ)
    assert [problem for problem in compiled.problems if problem.severity == "error"] == []
    return lambda event: answer_of(event, environ)


def prompt(commons: Path, text: str) -> dict[str, Any]:
    return event_of("UserPromptSubmit", commons, prompt=text)


def result(commons: Path, response: Any, tool: str = "Bash", **fields: Any) -> dict[str, Any]:
    name = "PostToolUseFailure" if "error" in fields else "PostToolUse"
    given = {"tool_name": tool, "tool_input": {"command": "shopctl site:open"}, "tool_use_id": "t", **fields}
    return event_of(name, commons, **given, **({} if response is None else {"tool_response": response}))


def plan(commons: Path) -> dict[str, Any]:
    return event_of("PreToolUse", commons, tool_name="ExitPlanMode", tool_input={"plan": PLAN}, tool_use_id="p")


def reason_of(answer: dict[str, Any] | None) -> str:
    assert answer is not None
    return str(answer["hookSpecificOutput"]["permissionDecisionReason"])


def test_an_approved_plan_is_spoken_of_once_more_and_its_act_is_held(ask: Ask, commons: Path) -> None:
    assert "Save the domain records first." in context_of(ask(plan(commons)))
    again = context_of(ask(result(commons, {"plan": PLAN, "isAgent": False}, "ExitPlanMode")))
    assert "approved" in again
    assert "Already shown in this conversation." in again
    assert "Save the domain records first." not in again
    assert "Before a site is deleted" in reason_of(ask(call_of(commons)))
    assert ask(call_of(commons)) is None


def test_a_yes_to_what_the_agent_said_at_the_end_escalates_it(ask: Ask, commons: Path) -> None:
    stop = event_of("Stop", commons, stop_hook_active=False, last_assistant_message="Next I'll delete the site. Ok?")
    assert ask(stop) is None
    said = context_of(ask(prompt(commons, "yes, do it")))
    assert said.count("<deia-reference ") == said.count("Deleting a site drops its domain records.") == 1
    assert "answers an announcement" in said
    assert said.count("Save the domain records first.") == 1
    assert "deny" in json.dumps(ask(call_of(commons)))


def test_a_no_to_it_escalates_nothing_and_the_act_is_held_all_the_same(ask: Ask, commons: Path) -> None:
    ask(event_of("Stop", commons, stop_hook_active=False, last_assistant_message="Next I'll delete the site. Ok?"))
    said = context_of(ask(prompt(commons, "no, leave it")))
    assert said.count("Deleting a site drops its domain records.") == 1
    assert "Before a site is deleted" in reason_of(ask(call_of(commons)))
    assert ask(call_of(commons)) is None


def test_the_answer_to_a_question_is_heard_without_the_question(ask: Ask, commons: Path) -> None:
    questions = [{"question": "Should I delete the site?", "options": [{"label": "Yes"}, {"label": "No"}]}]
    asked = event_of("PreToolUse", commons, tool_name="AskUserQuestion", tool_input={"questions": questions})
    assert ask(asked) is not None
    answers = {"Should I delete the site?": "No"}
    assert ask(result(commons, {"questions": questions, "answers": answers}, "AskUserQuestion")) is None
    assert "Before a site is deleted" in reason_of(ask(call_of(commons)))


def test_a_freeze_is_remembered_across_processes(ask: Ask, commons: Path) -> None:
    publish = call_of(commons, "shopctl publish")
    assert ask(publish) is None
    assert ask(prompt(commons, "We have a code freeze until Monday")) is None
    assert "freeze was declared" in reason_of(ask(publish))


def test_a_freeze_that_is_over_is_none(ask: Ask, commons: Path) -> None:
    ask(prompt(commons, "We have a code freeze until Monday"))
    ask(prompt(commons, "the freeze is over"))
    assert ask(call_of(commons, "shopctl publish")) is None


def file_call(commons: Path, tool: str, path: str, content: str = "x = 1") -> dict[str, Any]:
    given = {"file_path": path} if tool == "Read" else {"file_path": path, "content": content}
    return event_of("PreToolUse", commons, tool_name=tool, tool_input=given, tool_use_id="f")


@pytest.mark.parametrize("relative", [True, False])
def test_a_file_is_not_written_over_unread(ask: Ask, commons: Path, *, relative: bool) -> None:
    place = commons / "netlify.toml"
    place.write_text("[build]", encoding="utf-8")
    path = "netlify.toml" if relative else str(place)
    assert ask(file_call(commons, "Read", "README.md")) is None
    assert "nothing in this conversation read it" in reason_of(ask(file_call(commons, "Write", path)))
    assert ask(file_call(commons, "Write", path)) is None


def test_a_file_that_was_read_or_is_new_may_be_written(ask: Ask, commons: Path) -> None:
    (commons / "a.toml").write_text("[build]", encoding="utf-8")
    assert ask(file_call(commons, "Write", "b.toml")) is None
    assert ask(file_call(commons, "Read", str(commons / "a.toml"))) is None
    assert ask(file_call(commons, "Write", str(commons / "a.toml"))) is None


def test_a_lesson_that_exists_is_named_by_its_path(ask: Ask, commons: Path) -> None:
    answer = ask(file_call(commons, "Write", "bok/deleting-sites.md", "# Before the sites are deleted\n"))
    assert '"Before a site is deleted" (bok/site-checklist.md)' in reason_of(answer)
    assert ask(file_call(commons, "Write", "bok/site-checklist.md", "# Before a site is deleted\n")) is None


@pytest.mark.parametrize(
    "response",
    [
        {"stdout": "", "stderr": "Error: Site not found\n", "interrupted": False, "isImage": False},
        {"stdout": "shopctl: Site not found", "stderr": "exit status 1: error", "interrupted": False},
        {"content": [{"type": "text", "text": "Site not found"}], "isError": True},
        {"content": "Site not found", "is_error": True},
        {"output": "Site not found", "exitCode": 3},
        "fatal: Site not found",
        [{"type": "text", "text": "Error: Site not found"}],
    ],
)
def test_an_error_in_a_response_brings_its_document(ask: Ask, commons: Path, response: Any) -> None:
    assert "The name was probably changed." in context_of(ask(result(commons, response)))


@pytest.mark.parametrize(
    ("response", "tool"),
    [
        ({"stdout": "Site not found", "stderr": "", "interrupted": False}, "Bash"),
        ({"type": "text", "file": {"filePath": "log", "content": "Error: Site not found"}}, "Read"),
        ({"filePath": "x.py", "oldString": "Error: Site not found", "newString": "", "structuredPatch": []}, "Edit"),
        ({"type": "create", "filePath": "x.md", "content": "Error: Site not found"}, "Write"),
        ({"stdout": "ok", "stderr": ""}, "Bash"),
        (None, "Bash"),
    ],
)
def test_what_only_shows_the_words_brings_none(ask: Ask, commons: Path, response: Any, tool: str) -> None:
    assert ask(result(commons, response, tool)) is None


def test_a_failed_call_is_read_with_its_error(ask: Ask, commons: Path) -> None:
    event = result(commons, None, error="Command failed with exit code 1\nSite not found", is_interrupt=False)
    assert "The name was probably changed." in context_of(ask(event))


def test_a_quiet_conversation_leaves_dots(ask: Ask, commons: Path, environ: dict[str, str]) -> None:
    for text in ("hello", "yes", "list the shop sites"):
        assert ask(prompt(commons, text)) is None
    assert ask(call_of(commons, "ls -la")) is None
    (log,) = Path(environ["DEIA_STATE"], "memory").iterdir()
    assert log.read_bytes() == b"...."


def test_a_script_is_held_for_what_it_runs_and_passes_when_it_is_run_again(ask: Ask, commons: Path) -> None:
    script = commons / "deploy.sh"
    script.write_text("#!/bin/sh\nshopctl site:delete --all\n", encoding="utf-8")
    assert ask(call_of(commons, "cat deploy.sh")) is None
    held = reason_of(ask(call_of(commons, "sh ./deploy.sh")))
    assert "in ./deploy.sh" in held
    answer = ask(call_of(commons, "sh ./deploy.sh"))
    assert answer is None or answer["hookSpecificOutput"].get("permissionDecision") != "deny"
    script.write_text("#!/bin/sh\nshopctl site:open\n", encoding="utf-8")
    assert ask(call_of(commons, "sh ./deploy.sh")) is None
