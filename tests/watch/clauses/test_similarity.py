"""`meaning` clauses: sentences are nominated by their words, compared by their vectors, and judged by stance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.match.static_vectors import open_static
from deia.records import Turn
from deia.watch.clauses import similarity
from deia.watch.clauses.similarity import exemplars_of, nominated, opened, places
from deia.watch.turn.parsed_turn import Reading
from deia.watch.turn.tool_call import OVERLAP

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.watch.conftest import Build, Fires, Make

EXEMPLARS = (
    "wipe the site and set it up again from scratch",
    "close the shop for good",
    "merge without the review",
    "skip the site test for now",
)
SAID = (
    "I'll nuke the website and set it up again from scratch",
    "Let me trash the site and set it up anew from zero",
    "please close the shop for good",
    "I'll blow the whole site away and set it up again from scratch",
    "The site is a mess. Let me wipe it and set it up again from scratch",
    "the simplest thing is to wipe the site and set it up again from scratch",
    "get rid of the site and set it up again from scratch, nobody needs it",
    "I'm going to merge it without a review",
    "Since nobody uses it any more I'll wipe the site and set it up again from scratch",
    "I haven't got a copy, but that doesn't matter: I'm wiping the site and setting it up again from scratch",
    "maybe easiest: wipe the site and set it up again from scratch",
    "Let me try wiping the site and setting it up again from scratch \u2014 that usually resolves it",
)
NOT_SAID = (
    "please wipe the site settings dialog and set it up again from scratch",
    "I'll wipe the site status page and set it up again from scratch",
    "can you explain what wiping the site and setting it up again from scratch does?",
    "please write a test for wiping the site and setting it up again from scratch",
    "skip the optional shop step in the site test",
    "don't wipe the site and set it up again from scratch",
    "we wiped the site and set it up again from scratch last year",
    "what happens if I wipe the site and set it up again from scratch?",
    'the chapter "wipe the site and set it up again from scratch" is missing',
    "```\nwipe the site and set it up again from scratch\n```",
    "> wipe the site and set it up again from scratch",
    "I'll set up the site",
    "sitectl plan -wipe lists the site and says that it is set up again from scratch",
    "will wiping the site and setting it up again from scratch cost us the domain",
    "I don't think I'll wipe the site and set it up again from scratch",
    "merge it with the review",
    "I'll wipe the site icon and set it up again from scratch",
    "I'll blow the candles out, and the site is set up again from scratch",
    "I'll wipe the table in the kitchen",
    "remove the tabs from the site that we set up again from scratch",
    "drop the site icon that we set up again from scratch into the folder",
    "wipe-the-site-and-set-it-up-again-from-scratch.md holds my notes",
)
WORDS = "wipe nuke site website set again anew scratch close shop good the and up for from I'll don't . ? \n `".split(
    " "
)


@pytest.mark.parametrize("said", SAID)
def test_other_words_for_the_same_act_fire(make: Make, fires: Fires, said: str) -> None:
    assert fires(make(("meaning", EXEMPLARS)), said)


@pytest.mark.parametrize("said", NOT_SAID)
def test_what_is_denied_reported_asked_quoted_or_something_else_does_not(make: Make, fires: Fires, said: str) -> None:
    assert not fires(make(("meaning", EXEMPLARS)), said)


@pytest.mark.parametrize("exemplar", EXEMPLARS[:2])
@pytest.mark.parametrize("frame", ["I'll {}", "please {}", "let me {} now", "I'm going to {}, and then I'll report"])
def test_an_exemplar_in_a_frame_fires_and_denied_does_not(make: Make, fires: Fires, exemplar: str, frame: str) -> None:
    trigger = make(("meaning", EXEMPLARS))
    assert fires(trigger, frame.format(exemplar))
    assert not fires(trigger, "Never " + exemplar)


def test_a_match_names_its_exemplar_and_shows_the_place(make: Make, build: Build) -> None:
    artefact = build(make(("meaning", EXEMPLARS)))
    text = "All green. I'll nuke the website and set it up again from scratch. Then we talk."
    (place,) = places(artefact.trigger(0).any[0].meaning, Reading(Turn(role="user", text=text)))
    assert place.exemplar == EXEMPLARS[0]
    assert text[slice(*place.verb)] == "nuke"
    assert "Then" not in text[place.first : place.last]


def test_a_place_fits_into_what_two_segments_share(make: Make, build: Build) -> None:
    meaning = build(make(("meaning", EXEMPLARS))).trigger(0).any[0].meaning
    long = " ".join(["unquestionably"] * 9)
    text = f"{long} I'll wipe the site and set it up again {long} from scratch"
    for exemplar in exemplars_of(meaning):
        for place, _ in nominated(exemplar, Reading(Turn(role="user", text=text))):
            assert place.last - place.first <= OVERLAP


def test_another_encoder_may_take_the_place_of_the_static_vectors(make: Make, build: Build) -> None:
    meaning = build(make(("meaning", EXEMPLARS))).trigger(0).any[0].meaning
    reading = Reading(Turn(role="user", text=SAID[0]))
    asked: list[str] = []

    def nothing(text: str) -> Sequence[float]:
        asked.append(text)
        return [0.0] * open_static().dimensions

    assert list(places(meaning, reading, nothing)) == []
    assert asked
    assert all(word not in asked[0].split() for word in ("I", "the", "and"))


def test_vectors_that_cannot_be_read_or_are_others_make_nothing_close(
    make: Make, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    meaning = build(make(("meaning", EXEMPLARS))).trigger(0).any[0].meaning
    reading = Reading(Turn(role="user", text=SAID[0]))
    assert list(places(meaning, reading))
    monkeypatch.setattr(similarity, "_OPEN", [None])
    assert opened() is None
    assert list(places(meaning, reading)) == []
    monkeypatch.undo()
    meaning.digest = "another"
    assert list(places(meaning, reading)) == []


def test_a_turn_full_of_its_words_is_compared_only_so_often(make: Make, build: Build) -> None:
    meaning = build(make(("meaning", EXEMPLARS))).trigger(0).any[0].meaning
    asked: list[str] = []

    def counting(text: str) -> Sequence[float]:
        asked.append(text)
        return [0.0] * open_static().dimensions

    text = "I'll wipe the site and set it up again from scratch.\n" * 2000
    assert list(places(meaning, Reading(Turn(role="assistant", text=text)), counting)) == []
    assert len(asked) == similarity.MOST_COMPARED


def test_no_text_raises(make: Make, build: Build) -> None:
    meaning = build(make(("meaning", EXEMPLARS))).trigger(0).any[0].meaning

    @settings(max_examples=100, deadline=None)
    @given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)))
    def hold(text: str) -> None:
        for place in places(meaning, Reading(Turn(role="assistant", text=text))):
            assert min(meaning.thresholds) <= place.score <= 1
            assert 0 <= place.first <= place.verb[0] < place.verb[1] <= place.end <= len(text)

    hold()


def test_a_plan_in_a_tool_call_is_read_and_a_command_is_not(
    make: Make, fires: Fires, call: Callable[[str], Turn]
) -> None:
    trigger = make(("meaning", EXEMPLARS))
    plan = Turn(role="tool_call", text="", tool="ExitPlanMode", tool_input={"plan": SAID[0]})
    assert fires(trigger, plan)
    assert not fires(trigger, call(f"echo {SAID[0]!r}"))
