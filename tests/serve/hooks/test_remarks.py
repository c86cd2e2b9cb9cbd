"""What the person says to deia: heard in exactly these words, from the person alone, in its conversation alone."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.compiler import compile_commons
from deia.serve.hooks.remarks import KINDS, Remark, read_remark
from deia.watch.silence import allow
from tests.serve.test_hook import CALL, DELETE, answer_of, call_of, code_in, context_of, event_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.serve.conftest import Deia

    Say = Callable[..., str]


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("deia: not relevant", Remark(kind="noise")),
        ("Deia: Not relevant.\n", Remark(kind="noise")),
        ("deia:wrong!", Remark(kind="wrong")),
        ("deia: thanks", Remark(kind="useful")),
        ("deia: why?", Remark(kind="why")),
        ("deia: mute", Remark(kind="mute")),
        ("deia: mute for 2h", Remark(kind="mute", seconds=7200)),
        ("deia: mute rm-home-or-root", Remark(kind="mute", trigger="rm-home-or-root")),
        ("deia: mute this for 30m", Remark(kind="mute", seconds=1800)),
        ("deia: mute git-push for 7d", Remark(kind="mute", trigger="git-push", seconds=604_800)),
        ("deia: unmute git-push", Remark(kind="unmute", trigger="git-push")),
        ("deia: allow k7qm2x", Remark(kind="allow", code="K7QM2X")),
    ],
)
def test_the_words_of_a_remark_are_heard(text: str, remark: Remark) -> None:
    assert read_remark(text) == remark


@pytest.mark.parametrize(
    "text",
    [
        "",
        "deia",
        "deia:",
        "deia: ",
        "deia not relevant",
        "deia : not relevant",
        '"deia: not relevant"',
        "> deia: not relevant",
        "`deia: mute`",
        " - deia: mute",
        "say deia: mute",
        "deia: not relevant, go on",
        "deia: not relevant\nand go on",
        "deia: mute\u2028deia: mute",
        "deia: mute everything now",
        "deia: mute git-push for ever",
        "deia: mute git-push for 0h",
        "deia: mute ../../etc",
        "deia: mute git_push",
        "deia: mute \u0430",
        "deia: allow everything",
        "deia: allow K7QM2X and more",
        "deia: why did you do this?",
        "deia: is a tool. What does it do?",
        "deia: mute" + " " * 300 + "x",
        "deia: thanks deia: thanks",
    ],
)
def test_anything_else_is_none(text: str) -> None:
    assert read_remark(text) is None


FILLER = st.text(max_size=20) | st.sampled_from(["and ", " please", "\n", "> ", '"', "`", " for 2h of talk", ": "])


@settings(max_examples=100, deadline=None)
@given(FILLER, st.sampled_from([*KINDS, "mute git-push", "allow K7QM2X"]), FILLER)
def test_words_around_a_remark_make_it_none(before: str, said: str, after: str) -> None:
    found = read_remark(f"{before}deia: {said}{after}")
    if before.strip(" \t\r\n") or after.strip(" \t\r\n.!?"):
        assert found is None or (not before.strip() and found.trigger)  # another trigger's name, perhaps
    else:
        assert found is not None or "\n" in before + after or after.strip(" .!\t\r\n")


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60).map("deia: ".__add__) | st.text(max_size=60))
def test_no_text_is_taken_for_a_remark_by_chance(text: str) -> None:
    found = read_remark(text)
    words = text.strip().lower().removeprefix("deia:").rstrip(".! \t").split()
    assert found is None or " ".join(words) in KINDS or words[0] in {"mute", "unmute", "allow"}


# --- in the hook ---


@pytest.fixture
def say(commons: Path, environ: dict[str, str]) -> Say:
    """Return a function that sends a prompt of the person and returns what the person is shown."""
    environ["DEIA_DEADLINE_MS"] = "5000"  # a busy machine is not to decide what is said
    compile_commons(str(commons), environ=environ)

    def said(text: str, **fields: Any) -> str:
        answer = answer_of(event_of("UserPromptSubmit", commons, prompt=text, **fields), environ)
        return str((answer or {}).get("systemMessage", ""))

    return said


def events(commons: Path, kind: str) -> list[dict[str, Any]]:
    (path,) = (commons / "telemetry" / "events").glob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return [line for line in lines if line["event"] == kind]


def test_not_relevant_mutes_the_last_here_and_is_noted(say: Say, commons: Path, environ: dict[str, str]) -> None:
    answer_of(call_of(commons), environ)
    shown = say("deia: not relevant")
    assert "site-delete: noted as not relevant" in shown
    assert "muted in this conversation" in shown
    assert answer_of(call_of(commons, f"{CALL} --again"), environ) is None
    assert answer_of(call_of(commons, session_id="another"), environ) is not None
    (feedback,) = events(commons, "feedback")
    assert (feedback["verdict"], feedback["of"]) == ("noise", events(commons, "injection")[0]["id"])
    assert "site-delete is heard again" in say("deia: unmute")
    answer_of(event_of("SessionStart", commons, source="compact"), environ)
    assert answer_of(call_of(commons, f"{CALL} --third"), environ) is not None


@pytest.mark.parametrize(("text", "verdict"), [("deia: wrong", "wrong"), ("deia: thanks", "useful")])
def test_a_judgement_is_noted_and_mutes_nothing(
    say: Say, commons: Path, environ: dict[str, str], text: str, verdict: str
) -> None:
    say(DELETE)
    assert "noted as" in say(text)
    assert [one["verdict"] for one in events(commons, "feedback")] == [verdict]
    assert not (commons.parent / "home" / "state" / "mutes.jsonl").exists()


def test_why_tells_the_trigger_its_reason_and_its_documents(say: Say) -> None:
    assert "nothing was said" in say("deia: why")
    say(DELETE)
    shown = say("deia: why")
    for part in ("site-delete (shown)", 'phrase "delete the shop site"', "this project's own lessons", "bok/site-ch"):
        assert part in shown


def test_a_trigger_is_muted_by_name_for_a_time(say: Say, deia: Deia) -> None:
    assert "site-delete is muted in this conversation until" in say("deia: mute site-delete for 2h")
    assert say(DELETE) == ""
    assert "site-delete" in say(DELETE, session_id="another")
    assert "in the conversation 5f0c-11" in deia("mute", "--list").out
    assert "there is no trigger site-delte" in say("deia: mute site-delte")


def test_a_code_is_taken_in_its_conversation_alone(say: Say, commons: Path, environ: dict[str, str]) -> None:
    code = allow.offer(environ["DEIA_STATE"], "5f0c-11", ["site-delete"], now=time.time())
    assert "no code" in say(f"deia: allow {code}", session_id="another")
    assert "may pass once" in say(f"deia: allow {code}")
    assert answer_of(call_of(commons), environ) is None


def test_a_remark_counts_for_agents_that_work_for_the_conversation(
    say: Say, commons: Path, environ: dict[str, str]
) -> None:
    assert say(DELETE)
    assert "muted in this conversation" in say("deia: not relevant")
    assert answer_of(call_of(commons, agent_id="a1"), environ) is None
    assert answer_of(call_of(commons, session_id="5f0c-11-2"), environ) is not None, "an id that only begins alike"
    say("deia: unmute")
    assert answer_of(call_of(commons, agent_id="a1"), environ) is not None


def test_a_remark_is_about_what_was_said_last_to_an_agent_too(say: Say, commons: Path, environ: dict[str, str]) -> None:
    assert say("deia: why") == "deia: nothing was said in this conversation yet."
    assert answer_of(call_of(commons, agent_id="a1"), environ) is not None
    assert "site-delete (held)" in say("deia: why")
    assert "noted as not relevant" in say("deia: not relevant")
    assert answer_of(call_of(commons, f"{CALL} --again", agent_id="a1"), environ) is None
    assert answer_of(call_of(commons, f"{CALL} --again"), environ) is None


def test_a_code_shown_to_an_agent_is_taken_in_its_conversation(
    say: Say, commons: Path, environ: dict[str, str]
) -> None:
    code = code_in(answer_of(call_of(commons, agent_id="a1"), environ))
    assert "no code" in say(f"deia: allow {code}", session_id="another")
    assert "may pass once" in say(f"deia: allow {code}")
    assert answer_of(call_of(commons, f"{CALL} --again", agent_id="a1"), environ) is None


@pytest.mark.parametrize("event", ["Stop", "PostToolUse", "PreToolUse"])
def test_nobody_but_the_person_is_heard(say: Say, commons: Path, environ: dict[str, str], event: str) -> None:
    say(DELETE)
    text = "deia: not relevant"
    given: dict[str, dict[str, Any]] = {
        "Stop": {"last_assistant_message": text},
        "PostToolUse": {"tool_name": "Bash", "tool_input": {"command": "cat x"}, "tool_response": text},
        "PreToolUse": {"tool_name": "ExitPlanMode", "tool_input": {"plan": text}},
    }
    assert answer_of(event_of(event, commons, **given[event]), environ) is None
    assert not (commons.parent / "home" / "state" / "mutes.jsonl").exists()


def test_a_yes_after_a_remark_still_answers_what_was_announced(
    say: Say, commons: Path, environ: dict[str, str]
) -> None:
    stop = event_of("Stop", commons, last_assistant_message="Next I'll delete the site. Ok?")
    answer_of(stop, environ)
    say("deia: why")
    assert "answers an announcement" in context_of(
        answer_of(event_of("UserPromptSubmit", commons, prompt="yes"), environ)
    )


def test_the_model_is_told_that_the_remark_is_not_for_it(say: Say, commons: Path, environ: dict[str, str]) -> None:
    say(DELETE)
    answer = answer_of(event_of("UserPromptSubmit", commons, prompt="deia: thanks"), environ)
    assert "not to you" in context_of(answer)


def test_a_prompt_that_only_begins_so_is_watched_as_any_other(say: Say) -> None:
    assert "site-delete" in say("deia: please delete the shop site now")


# --- sources that changed ---


UNREADABLE = "limit = 'five'\n"  # settings with which nothing can be compiled


def test_the_person_is_told_once_that_sources_changed_and_cannot_be_compiled(say: Say, commons: Path) -> None:
    (commons / "deia.toml").write_text(UNREADABLE, encoding="utf-8")
    assert "deia.toml changed since the triggers were compiled" in say("hello there")
    assert say("hello again") == ""
    assert "deia compile" not in say(DELETE)
    assert "deia compile" in say("hello", session_id="another")
    assert [event for event in events(commons, "error") if event["host"] != "compile"] == []
    assert len(events(commons, "maintenance")) == 2, "a change is none; what the compile says of it is"


def test_it_comes_beside_what_is_said_at_the_same_time(say: Say, commons: Path) -> None:
    (commons / "deia.toml").write_text(UNREADABLE, encoding="utf-8")
    shown = say(DELETE)
    assert "site-delete" in shown
    assert "deia compile" in shown
