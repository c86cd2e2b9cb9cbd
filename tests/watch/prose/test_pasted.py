"""Prose is read only where a person or the assistant speaks: not in what a host enters, in pasted text or in tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.records import Turn
from deia.watch.prose.pasted import MOST_TYPED, OPENINGS, typed

if TYPE_CHECKING:
    from deia.knowledge import Trigger
    from tests.watch.conftest import Fires, Make

SAID = "I'll sell the shop. Run `shopctl sell` now. It is time to resell."


@pytest.fixture(params=["phrase", "words", "pattern", "command", "meaning"])
def selling(request: pytest.FixtureRequest, make: Make) -> Trigger:
    values = {
        "phrase": "sell the shop",
        "words": {"all": ["sell", "shop"]},
        "pattern": r"sell the shop\b",
        "command": "shopctl sell",
        "meaning": ["sell the shop", "sell our shop"],
    }
    return make((request.param, values[request.param]))


@pytest.mark.parametrize("opening", [*OPENINGS, "# AGENTS.md instructions for /x", "[Request interrupted by user]"])
def test_what_a_host_enters_in_a_persons_place_says_nothing(opening: str, make: Make, fires: Fires) -> None:
    trigger = make(("phrase", "sell the shop"))
    assert fires(trigger, SAID)
    assert not fires(trigger, f"{opening}\n\n{SAID}")


def test_no_kind_of_prose_is_read_in_what_a_host_entered_or_a_person_pasted(selling: Trigger, fires: Fires) -> None:
    assert fires(selling, SAID)
    assert not fires(selling, f"Base directory for this skill: /x\n\n{SAID}")
    assert not fires(selling, f"{SAID}\n\n{'word ' * (MOST_TYPED // 5)}")
    assert fires(selling, Turn(role="assistant", text=f"{SAID}\n\n{'word ' * (MOST_TYPED // 5)}"))


def test_an_error_that_a_person_pasted_counts(make: Make, fires: Fires) -> None:
    trigger = make(("error", "disk quota exceeded"), who=("tool_result", "user"), timing="on-error")
    assert fires(trigger, "error: disk quota exceeded\n" + "at line 1\n" * MOST_TYPED)


def test_a_very_long_text_stays_pasted_although_only_a_part_of_it_is_parsed(make: Make, fires: Fires) -> None:
    assert not fires(make(("phrase", "sell the shop")), f"{SAID}\n\n{'word ' * 20_000}")


@pytest.mark.parametrize("bar", ["|", "\u2502", "\u2503", "\u2551"])
def test_rows_of_a_table_are_not_read(bar: str, selling: Trigger, fires: Fires) -> None:
    assert not fires(selling, f"The plan:\n\n  {bar} 1 {bar} {SAID} {bar}\n")


def test_of_what_a_host_entered_only_the_opening_is_said(make: Make, fires: Fires) -> None:
    text = "This session is being continued from a previous conversation that ran out of context. I'll sell the shop."
    assert typed(text) == "This session is being continued from a previous conversation"
    assert fires(make(("pattern", r"session is being continued\b"), stance=("reported",)), text)
    assert typed("sell the shop") == "sell the shop"
    assert typed("word " * MOST_TYPED) == ""


@pytest.mark.parametrize(
    "prompt",
    [
        '"I will sell the shop now"',
        ' "I will sell the shop now"\n',
        "'I will sell the shop, they don't need it'",
        "\u201cI will sell the shop now\u201d",
        '"I will sell the shop that is called \\"two words\\" now"',
        '"I will sell the shop.\n\nThen go home."',
    ],
)
def test_one_pair_of_marks_around_a_whole_prompt_is_no_quotation(prompt: str, make: Make, fires: Fires) -> None:
    assert fires(make(("phrase", "sell the shop")), prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        'He wrote: "I will sell the shop now"',
        '"I will sell the shop now" is what he wrote',
        '"I will sell the shop now", "and I will buy another"',
        "'I will sell the shop now' and 'I will buy another'",
        "\u201cI will sell the shop now\u201d and \u201cso will I\u201d",
    ],
)
def test_a_quotation_in_a_prompt_stays_one(prompt: str, make: Make, fires: Fires) -> None:
    assert not fires(make(("phrase", "sell the shop")), prompt)


def test_what_the_assistant_puts_in_marks_stays_a_quotation(make: Make, fires: Fires) -> None:
    trigger = make(("phrase", "sell the shop"))
    assert not fires(trigger, Turn(role="assistant", text='"I will sell the shop now"'))
