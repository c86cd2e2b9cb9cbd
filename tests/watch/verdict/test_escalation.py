"""A yes to an announcement that deia warned about: the warning is repeated, shorter; then the act gets its action."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.knowledge import Earlier
from deia.records import Turn
from deia.watch.memory.recall import InMemoryLog
from deia.watch.verdict.escalation import affirms
from deia.watch.watcher import Surroundings, Watched, watch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deia.knowledge import Trigger
    from deia.watch.gate.artefact import Artefact
    from tests.watch.conftest import Build, Make

    Call = Callable[[str], Turn]

PLAN = Turn(role="assistant", text="I'll sell the shop and buy a boat. Shall I go on?")


def user(text: str) -> Turn:
    return Turn(role="user", text=text)


def question(text: str) -> Turn:
    return Turn(role="tool_call", text="", tool="AskUserQuestion", tool_input={"questions": [{"question": text}]})


@pytest.fixture
def selling(make: Make) -> Trigger:
    return make(("phrase", "sell … shop"), ("command", "shopctl sell"), urgency="medium", action="hold", id="selling")


def watched(artefact: Artefact, turns: Sequence[Turn], *, muted: frozenset[str] = frozenset()) -> list[Watched]:
    log, around = InMemoryLog(), Surroundings(now=0.0, muted=muted)
    return [watch(artefact, turn.but(index=number), log, lambda: around) for number, turn in enumerate(turns, start=1)]


def fired(artefact: Artefact, turns: Sequence[Turn]) -> list[int]:
    return [len(one.firings) for one in watched(artefact, turns)]


def test_a_yes_brings_the_warning_back_as_urgent_and_without_its_document(build: Build, selling: Trigger) -> None:
    first, second = watched(build(selling, text="Make a copy first.\n" * 20), [PLAN, user("yes, go ahead")])
    assert first.injection is not None
    assert second.injection is not None
    assert "Make a copy first." in first.injection.text
    assert "Make a copy first." not in second.injection.text
    assert "The lesson — bok/lesson.md" in second.injection.text
    assert [one.firings[0].urgency for one in (first, second)] == ["medium", "medium"]
    assert [one.firings[0].action for one in (first, second)] == ["warn", "warn"]
    assert '"yes, go ahead" in turn 2' in second.firings[0].because
    assert len(second.injection.text) < len(first.injection.text)


def test_then_each_act_is_held_once_although_the_trigger_spoke(build: Build, selling: Trigger, call: Call) -> None:
    act = call("shopctl sell --all")
    told = watched(build(selling), [PLAN, act, act, call("shopctl sell --more")])
    assert [[firing.action for firing in one.firings] for one in told] == [["warn"], ["hold"], [], ["hold"]]
    assert fired(build(selling), [user("please sell the shop"), act, act]) == [1, 1, 0], "the act itself is held once"
    assert fired(build(selling), [PLAN, user("yes"), act, act, call("shopctl sell --more")]) == [1, 1, 1, 0, 1]


@pytest.mark.parametrize(
    "answer", ["no, don't", "yes, but not the shop", "wait", "why?", "yes?", "ok, now fix the tests too"]
)
def test_what_is_no_plain_yes_escalates_nothing(build: Build, selling: Trigger, answer: str) -> None:
    assert fired(build(selling), [PLAN, user(answer)]) == [1, 0]


@pytest.mark.parametrize(
    "between",
    [user("what is the weather like?"), Turn(role="assistant", text="Shall I rename the tests?"),
     Turn(role="tool_call", text="ls", tool="Bash", tool_input={"command": "ls"})],
)  # fmt: skip
def test_a_yes_to_something_else_escalates_nothing(build: Build, selling: Trigger, between: Turn) -> None:
    assert fired(build(selling), [PLAN, between, user("yes")]) == [1, 0, 0]


@pytest.mark.parametrize("text", ["I'll sell the shop.", "Shall we? I'll sell the shop and buy a boat."])
def test_a_yes_to_what_asked_nothing_escalates_nothing(build: Build, selling: Trigger, text: str) -> None:
    assert fired(build(selling), [Turn(role="assistant", text=text), user("yes")]) == [1, 0]


@pytest.mark.parametrize("action", ["note", "warn"])
def test_only_what_is_warned_of_comes_back_after_a_yes(make: Make, build: Build, action: str) -> None:
    mild = make(("phrase", "sell … shop"), action=action)
    assert fired(build(mild), [PLAN, user("yes")]) == [1, int(action == "warn")]


def test_what_is_only_noted_as_long_as_nothing_fails_does_not_come_back(build: Build, selling: Trigger) -> None:
    artefact = build(selling.but(earlier=Earlier(mark="failing", otherwise="note")))
    assert fired(artefact, [PLAN, user("yes")]) == [1, 0]
    failing = Turn(role="tool_result", text="3 failed in 1.0s", tool="Bash")
    assert fired(artefact, [failing, PLAN, user("yes")]) == [0, 1, 1]


def test_it_escalates_once_a_conversation(build: Build, selling: Trigger) -> None:
    assert fired(build(selling), [PLAN, user("yes"), PLAN, user("yes")]) == [1, 1, 0, 0]


def test_a_yes_to_what_a_person_asked_for_themselves_is_none(build: Build, selling: Trigger) -> None:
    assert fired(build(selling), [user("please sell the shop"), user("yes")]) == [1, 0]


def test_an_announcement_of_what_was_warned_about_before_counts(build: Build, selling: Trigger) -> None:
    assert fired(build(selling), [user("please sell the shop"), PLAN, user("yes")]) == [1, 0, 1]


def test_the_approval_of_a_plan_and_the_answer_to_a_question_count(build: Build, selling: Trigger) -> None:
    approved = Turn(role="tool_result", text="User has approved the plan: sell it", tool="ExitPlanMode")
    assert fired(build(selling), [PLAN, approved]) == [1, 1]
    assert fired(build(selling), [PLAN, approved.but(failed=True)]) == [1, 0]
    asked = question("Should I sell the shop?")
    for said, times in (("Yes", 1), ("No", 0)):
        assert fired(build(selling), [asked, Turn(role="tool_result", text=said, tool="AskUserQuestion")]) == [1, times]
    assert fired(build(selling), [asked, Turn(role="tool_result", text="Yes", tool="Bash")]) == [1, 0]


def test_what_is_muted_stays_silent(build: Build, selling: Trigger) -> None:
    artefact, log = build(selling), InMemoryLog()
    watch(artefact, PLAN, log, lambda: Surroundings(now=0.0))
    said = watch(artefact, user("yes"), log, lambda: Surroundings(now=0.0, muted=frozenset({"selling"})))
    assert [one.stage for one in said.verdicts] == ["muted"]


def test_a_trigger_that_is_gone_since_is_passed_over(make: Make, build: Build, selling: Trigger) -> None:
    log = InMemoryLog()
    watch(build(selling), PLAN, log, lambda: Surroundings(now=0.0))
    other = build(make(("phrase", "buy boat"), id="other"), make(("phrase", "buy car"), id="zebra"))
    assert watch(other, user("yes"), log, lambda: Surroundings(now=0.0)).verdicts == ()


def test_a_compaction_forgets_what_was_announced(build: Build, selling: Trigger) -> None:
    artefact, log = build(selling), InMemoryLog()
    watch(artefact, PLAN, log, lambda: Surroundings(now=0.0))
    log.append(b'\n{"event": "reset"}\n')
    assert not watch(artefact, user("yes"), log, lambda: Surroundings(now=0.0)).firings


@pytest.mark.parametrize(
    "text",
    ["yes", "Yes!", "go ahead", "do it", "ok please", "s\u00ed", "ja", "\U0001f44d", "y", "ok", "Sure.",
     "yes please do that", "looks good, go ahead", "LGTM", "sounds good to me", "oui", "\u597d\u7684", "\u306f\u3044",
     "\u0434\u0430", "let's do it", "please proceed", "of course"],
)  # fmt: skip
def test_these_say_yes(text: str) -> None:
    assert affirms(user(text))


@pytest.mark.parametrize(
    "text",
    ["no", "no, don't", "not yet", "yes but keep the database", "do it later", "ok?", "", "...", "nein", "stop",
     "what does it do", "ok now rename the button in the header", "first make a backup", "yes " + "very " * 40,
     "the yes button is broken", "okay, add a test for the parser", "go ahead after the backup",
     "da ist noch ein Fehler drin", "si falla, avisame",
     "please continue coordinating the work and keep main up to date"],
)  # fmt: skip
def test_these_do_not(text: str) -> None:
    assert not affirms(user(text))


@given(st.text(max_size=300), st.sampled_from(["user", "tool_result"]))
def test_any_text_is_an_answer_or_none(text: str, role: str) -> None:
    assert affirms(Turn(role=role, text=text, tool="AskUserQuestion")) in {True, False}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "I could sell the shop. Should I?",
        "I can sell the shop for you. OK?",
        "The fix would be to sell the shop. Want me to do that?",
    ],
)
def test_a_yes_to_what_was_only_proposed_brings_the_warning(build: Build, selling: Trigger, text: str) -> None:
    proposal = Turn(role="assistant", text=text)
    assert fired(build(selling), [proposal, user("yes")])[1] == 1
    assert fired(build(selling), [proposal, user("no, keep it")])[1] == 0


def test_a_yes_after_words_that_suppose_and_ask_nothing_brings_none(build: Build, selling: Trigger) -> None:
    assert fired(build(selling), [Turn(role="assistant", text="Somebody could sell the shop."), user("yes")]) == [0, 0]
