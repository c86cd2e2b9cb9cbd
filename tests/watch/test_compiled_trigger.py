"""`Meaning.worded` never leaves out an exemplar that has a place in the turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deia.watch.clauses.similarity import exemplars_of, nominated
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.records import Turn
from deia.watch.turn.parsed_turn import Reading

if TYPE_CHECKING:
    from tests.watch.conftest import Build, Make

EXEMPLARS = ("wipe the site and set it up again from scratch", "close the shop for good", "blow the cart away")
WORDS = "wipe nuke site website set again anew scratch close shop good the blow cart away trash I'll and . \n".split(
    " "
)
SAID = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)


def test_what_has_its_words_nowhere_in_a_turn_is_not_looked_for(make: Make, build: Build) -> None:
    meaning = build(make(("meaning", EXEMPLARS))).trigger(0).any[0].meaning
    heard = {
        said: meaning.worded(Reading(Turn(role="user", text=said)).words.places)
        for said in ("close the shop for good", "set the site up", "I'll blow that cart right away", "nothing of it")
    }
    assert heard == {
        "close the shop for good": [1], "set the site up": [],
        "I'll blow that cart right away": [2], "nothing of it": [],
    }  # fmt: skip


def test_no_place_is_nominated_by_an_exemplar_that_was_turned_away(make: Make, build: Build) -> None:
    meaning = build(make(("meaning", EXEMPLARS))).trigger(0).any[0].meaning
    seen = {True: 0, False: 0}

    @settings(max_examples=100, deadline=None)
    @given(SAID)
    def hold(said: str) -> None:
        reading = Reading(Turn(role="user", text=said))
        kept = meaning.worded(reading.words.places)
        for number, exemplar in enumerate(exemplars_of(meaning)):
            stands = any(True for _ in nominated(exemplar, reading))
            assert number in kept or not stands
            seen[stands] += 1

    hold()
    assert min(seen.values()) > 5, "the test would say nothing"
