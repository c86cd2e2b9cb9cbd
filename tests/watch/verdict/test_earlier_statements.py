"""Earlier statements: preconditions that are met, taken back or out of date; and production."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.compile.triggers.statements import ALWAYS
from deia.fast_json import dumps
from deia.knowledge import Clause, Earlier
from deia.records import Turn
from deia.watch.memory.recall import InMemoryLog, recall
from deia.watch.watcher import Surroundings, watch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deia.knowledge import Trigger
    from deia.watch.gate.artefact import Artefact
    from deia.watch.verdict.judge import Verdict
    from tests.watch.conftest import Build, Make

    Call = Callable[[str], Turn]


def clause(value: str, kind: str = "phrase") -> Clause:
    return Clause(kind=kind, value=value)


FREEZE = Earlier(
    any=(clause("{code|deploy} freeze"), clause("don't {deploy|touch anything} … {until|today}")),
    until=(clause("freeze … {over|lifted}"), clause("freeze end", "command")),
)


@pytest.fixture
def frozen(make: Make) -> Trigger:
    return make(("command", "fly deploy"), earlier=FREEZE)


def last(artefact: Artefact, turns: Sequence[Turn | str]) -> Verdict | None:
    """Return the verdict about the last of some turns of one conversation."""
    log = InMemoryLog()
    verdicts: tuple[Verdict, ...] = ()
    for number, one in enumerate(turns, start=1):
        turn = Turn(role="user", text=one) if isinstance(one, str) else one
        verdicts = watch(artefact, turn.but(index=number), log, lambda: Surroundings(now=0.0)).verdicts
    return verdicts[0] if verdicts else None


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        ("We have a code freeze until Monday.", True),
        ("the deploy freeze starts now", True),
        ("please don't deploy anything until Monday", True),
        ("Don't touch anything until I am back", True),
        ("there is no code freeze", False),
        ("should we have a code freeze?", False),
        ("if we announce a code freeze, nobody can ship", False),
        ("```\ncode freeze\n```", False),
        ("deploy it until noon", False),
        ("pip freeze the code", False),
    ],
)
def test_what_was_said_before_must_be_meant(
    build: Build, frozen: Trigger, call: Call, said: str, *, counts: bool
) -> None:
    verdict = last(build(frozen), [said, "ok", call("fly deploy")])
    assert verdict is not None
    assert verdict.stage == ("fires" if counts else "earlier")


def test_the_reason_tells_what_was_said_and_when(build: Build, frozen: Trigger, call: Call) -> None:
    verdict = last(build(frozen), ["We have a code freeze", "hello", call("fly deploy")])
    assert verdict is not None
    assert verdict.detail == 'command "fly deploy" in tool call turn 3; by "code freeze" 2 turns ago'


@pytest.mark.parametrize("ending", ["the freeze is over now", "The freeze was lifted."])
def test_what_takes_it_back_ends_it_and_it_may_begin_again(
    build: Build, frozen: Trigger, call: Call, ending: str
) -> None:
    artefact = build(frozen)
    ended: list[Turn | str] = ["We have a code freeze", ending]
    assert last(artefact, [*ended, call("fly deploy")]).stage == "earlier"  # type: ignore[union-attr]
    assert last(artefact, [*ended, "code freeze again", call("fly deploy")]).stage == "fires"  # type: ignore[union-attr]


def test_a_command_may_take_it_back(build: Build, frozen: Trigger, call: Call) -> None:
    turns: list[Turn | str] = ["We have a code freeze", call("freeze end"), call("fly deploy")]
    assert last(build(frozen), turns).stage == "earlier"  # type: ignore[union-attr]


@pytest.mark.parametrize(("between", "stage"), [(1, "fires"), (2, "earlier")])
def test_it_counts_for_as_many_turns_as_it_says(make: Make, build: Build, call: Call, between: int, stage: str) -> None:
    trigger = make(("command", "fly deploy"), earlier=FREEZE.but(within=2))
    turns: list[Turn | str] = ["We have a code freeze", *["hello"] * between, call("fly deploy")]
    assert last(build(trigger), turns).stage == stage  # type: ignore[union-attr]


def test_it_may_stand_in_the_turn_of_the_act(make: Make, build: Build) -> None:
    trigger = make(("phrase", "push … main"), earlier=FREEZE)
    verdict = last(build(trigger), ["There is a code freeze. I'll push to main all the same."])
    assert verdict is not None
    assert verdict.stage == "fires"
    assert "in this turn" in verdict.detail


def test_a_result_that_shows_the_words_says_nothing(build: Build, frozen: Trigger, call: Call) -> None:
    shown = Turn(role="tool_result", text="## Code freeze\nWe have a code freeze.", tool="Read")
    assert last(build(frozen), [shown, call("fly deploy")]).stage == "earlier"  # type: ignore[union-attr]


def test_a_compaction_does_not_end_a_freeze(build: Build, frozen: Trigger, call: Call) -> None:
    artefact, log = build(frozen), InMemoryLog()
    watch(artefact, Turn(role="user", text="code freeze today"), log, lambda: Surroundings(now=0.0))
    log.append(b'\n{"event": "reset"}\n')
    assert watch(artefact, call("fly deploy"), log, lambda: Surroundings(now=0.0)).firings


def test_only_turns_that_say_something_leave_more_than_a_dot(build: Build, frozen: Trigger) -> None:
    artefact, log = build(frozen), InMemoryLog()
    for text in ("hello", "how are you", "freeze the peas"):
        watch(artefact, Turn(role="user", text=text), log, lambda: Surroundings(now=0.0))
    assert log.read() == b"..."


# --- marks by name, and what else may be done ---


def test_a_trigger_may_wait_for_production(make: Make, build: Build, call: Call) -> None:
    artefact = build(make(("command", "shopctl drop"), earlier=Earlier(mark="production")))
    verdict = last(artefact, ["we're on the production box", call("shopctl drop")])
    assert verdict is not None
    assert verdict.stage == "fires"
    verdict = last(artefact, [call("shopctl drop")])
    assert verdict is None or verdict.stage == "earlier"


def test_before_its_mark_is_set_a_trigger_does_no_more_than_it_says(make: Make, build: Build, call: Call) -> None:
    earlier = FREEZE.but(otherwise="note")
    artefact = build(make(("command", "fly deploy"), action="ask", urgency="high", earlier=earlier))
    outcomes = []
    for before in ("Hello.", "We have a code freeze."):
        verdict = last(artefact, [before, call("fly deploy")])
        assert verdict is not None
        assert verdict.firing is not None
        outcomes.append((verdict.firing.action, verdict.firing.urgency))
    assert outcomes == [("note", "low"), ("ask", "high")]


# --- production ---

DROP = "shopctl drop"


def urgency(build: Build, make: Make, turns: Sequence[Turn | str], **fields: Any) -> str:
    artefact = build(make(("command", DROP), urgency="medium", **fields), marks=ALWAYS)
    verdict = last(artefact, turns)
    assert verdict is not None
    assert verdict.firing is not None
    return verdict.firing.urgency


@pytest.mark.parametrize(
    "said",
    [
        "we're on the production box",
        "I am connected to prod now",
        "careful, this is the production database",
        "You are logged into production.",
        "$ kubectl config use-context prod-eu",
        "$ export DATABASE_URL=postgres://app@db.prod.example.com/shop",
        "$ export DATABASE_URL=postgres://app@prod-db1/shop",
        "$ ssh prod-db1",
        "$ ssh deploy@prod-web.example.com",
        "$ terraform workspace select production",
        "$ cd infra && gcloud config set project shop-prod",
    ],
)
def test_being_on_production_raises_the_urgency(make: Make, build: Build, call: Call, said: str) -> None:
    first = call(said[2:]) if said.startswith("$ ") else said
    assert urgency(build, make, [first, "go", call(DROP)]) == "high"


@pytest.mark.parametrize(
    "said",
    [
        "later this goes to production",
        "is this in production?",
        "the production build fails",
        "we are not on the production box",
        "are we on the production box?",
        "run it on production when the tests pass",
        "$ NODE_ENV=production npm run build",
        "$ export NODE_ENV=production",
        "$ export DATABASE_URL=postgres://localhost/products",
        "$ kubectl config use-context products-dev",
        "$ echo ssh prod-db1",
        "$ kubectl config get-contexts | grep prod",
        "$ git checkout production",
        "$ ssh product-search",
    ],
)
def test_a_mere_mention_of_production_does_not(make: Make, build: Build, call: Call, said: str) -> None:
    first = call(said[2:]) if said.startswith("$ ") else said
    assert urgency(build, make, [first, "go", call(DROP)]) == "medium"


@pytest.mark.parametrize(
    "leaving",
    ["we are on staging now", "$ kubectl config use-context kind-local", "$ unset DATABASE_URL", "hello"],
)
def test_leaving_production_or_thirty_turns_end_it(make: Make, build: Build, call: Call, leaving: str) -> None:
    turn = call(leaving[2:]) if leaving.startswith("$ ") else leaving
    between = [turn] * (30 if leaving == "hello" else 1)
    assert urgency(build, make, ["we're on the production box", *between, call(DROP)]) == "medium"


def test_what_comes_after_the_act_is_no_more_urgent_there(make: Make, build: Build, call: Call) -> None:
    turns: list[Turn | str] = ["we're on the production box", call(DROP)]
    assert urgency(build, make, turns, timing="post-action") == "medium"
    assert urgency(build, make, turns) == "high"


@given(st.lists(st.dictionaries(st.sampled_from(["marks", "items", "offered", "escalated"]), st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)), max_size=4))  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_no_entry_about_them_is_too_broken_to_be_read(entries: list[dict[str, Any]]) -> None:
    memory = recall(b"".join(b"\n" + dumps(entry).encode("ascii") + b"\n" for entry in entries))
    assert all(isinstance(text, str) for _, text in memory.marks.values())
