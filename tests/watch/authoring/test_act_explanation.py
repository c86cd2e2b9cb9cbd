"""Explanations of acts: how each was read, the nearest clause, and what it lacks."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from deia.records import Turn
from deia.watch.authoring.act_explanation import MOST_ACTS, ExplainedAct, explain_acts, requirements

if TYPE_CHECKING:
    from tests.watch.conftest import Build, Make

WIPE = ("act", {"do": ("destroy",), "what": ("database",), "where": ("production",), "not": ("test",)})
AGAIN = ("meaning", ("wipe the shop and set it up again from scratch", "the old shop"))
EVERY = ("act", {"do": ("delete",), "what": ("branch",), "how": ("blindly",), "all": True})


def explained(make: Make, build: Build, clause: tuple[str, Any], said: str, **more: Any) -> list[ExplainedAct]:
    return explain_acts(build(make(clause)), Turn(role="user", text=said), **more)


@pytest.mark.parametrize(
    ("clause", "said", "unmet", "why"),
    [
        (WIPE, "I'll wipe the production database", "", ""),
        (WIPE, "I'll wipe the old database", "where", "its object or place would have to say 'production'"),
        (WIPE, "I'll wipe the production test database", "not", "'test' stands beside its object"),
        (WIPE, "don't wipe the production database", "stance",
         "its stance is negated, and announced and requested count"),
        (WIPE, "anybody wipe the production database", "lead",
         "after 'anybody' nobody is said to do it, and nobody is asked to"),
        (EVERY, "delete all branches", "how", "its clause would also have to say 'blindly'"),
        (EVERY, "delete the branches blindly", "all", "its object would have to have a word such as 'all' or 'every'"),
        (AGAIN, "wipe the shop and go home", "near", "it would also have to say 'set' and 'again'"),
    ],
)  # fmt: skip
def test_the_condition_that_stops_an_act_is_told(
    make: Make, build: Build, clause: tuple[str, Any], said: str, unmet: str, why: str
) -> None:
    (act, *_) = explained(make, build, clause, said)
    assert (act.trigger, act.unmet, act.why) == ("t", unmet, why)


def test_how_an_act_was_read_is_told(make: Make, build: Build) -> None:
    (act,) = explained(make, build, WIPE, "ok, let me wipe our old production database")
    assert (act.text, act.verb, act.head, act.lead, act.stance) == (
        "wipe our old production database", "wipe", "database", "let me", "announced",
    )  # fmt: skip
    assert "destroy" in act.verb_classes
    assert "database" in act.head_classes


@pytest.mark.parametrize("said", ["hello there", "I'll paint the fence", "I'll wipe my shoes", "`wipe the database`"])
def test_an_act_that_comes_near_no_clause_is_left_out(make: Make, build: Build, said: str) -> None:
    assert explained(make, build, WIPE, said) == []


@pytest.mark.parametrize(
    ("said", "unmet", "why"),
    [("I'll wipe my shoes", "what", "and 'shoes' is none"), ("I'll push the database", "do", "and 'push' is none")],
)
def test_of_a_trigger_that_is_named_every_act_is_explained(
    make: Make, build: Build, said: str, unmet: str, why: str
) -> None:
    (act,) = explained(make, build, WIPE, said, triggers=["t"])
    assert act.unmet == unmet
    assert why in act.why
    assert explained(make, build, WIPE, said, triggers=["another"]) == []


def test_a_command_names_no_act(make: Make, build: Build) -> None:
    call = Turn(role="tool_call", text="", tool="Bash", tool_input={"command": "wipe the production database"})
    assert explain_acts(build(make(WIPE)), call) == []


def test_what_a_clause_asks_for_is_told_in_words(make: Make, build: Build) -> None:
    poster, nothing = "wipe the shop and print a huge poster", "the old shop"
    artefact = build(make(WIPE, ("meaning", (poster, nothing)), ("phrase", "wipe it")))
    asked = requirements(artefact, artefact.trigger(0))
    assert list(asked) == ["destroy database where production not test", poster, nothing]
    verb, thing, place, free_of = asked["destroy database where production not test"]
    assert verb.startswith("verb: 'destroy' (")
    assert thing.startswith("object: 'database' (")
    assert (place, free_of) == ("object or place says: 'production'", "object and place do not say: 'test'")
    assert asked[nothing] == []
    assert asked[poster][-1] == (
        "says before the next comma: 'print' + 'huge' or 'print' + 'poster' or 'huge' + 'poster'"
    )


def test_an_act_is_placed_in_the_text_of_its_turn(make: Make, build: Build) -> None:
    said = 'Well: `drop` "wipe" — I will wipe the production database, and it may wipe the production database.'
    acts = explained(make, build, WIPE, said)
    assert [said[act.start : act.verb_end] for act in acts] == ["wipe", "wipe"]
    assert [said[act.start : act.end].startswith("wipe the production database") for act in acts] == [True, True]


@pytest.mark.parametrize("said", ["I'll wipe the production database {}.\n", "anybody may wipe my shoes {}.\n"])
def test_a_long_text_is_explained_in_a_moment(make: Make, build: Build, said: str) -> None:
    text = "".join(said.format(number) for number in range(5_000))
    artefact, turn = build(make(WIPE)), Turn(role="assistant", text=text)
    began = time.monotonic()
    assert len(explain_acts(artefact, turn)) in (0, MOST_ACTS)
    assert time.monotonic() - began < 5
