"""Quiet hours and the hourly limit: which lessons wait, and which do not."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from deia.records import URGENCIES, Turn
from deia.settings import DEFAULTS
from deia.watch.gate.artefact import Artefact
from deia.watch.memory.recall import InMemoryLog
from deia.watch.verdict.quiet_hours import is_within
from deia.watch.watcher import Surroundings, Watched, watch
from tests.watch.conftest import build_artefact, make_trigger

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deia.knowledge import Trigger

NIGHT = {"hours": "22:00-07:00"}
WORDS = {"critical": "alpha", "high": "beta", "medium": "gamma", "low": "delta"}


@pytest.fixture(autouse=True)
def _zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Live two hours east of Greenwich, where local time and UTC differ."""
    if not hasattr(time, "tzset"):
        pytest.skip("no way to choose a zone here")
    monkeypatch.setenv("TZ", "XXX-2")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def at(hours: int, minutes: int = 0, *, day: int = 0) -> float:
    """Return a local time; day 0 is a Thursday, 2026-11-19."""
    return time.mktime((2026, 11, 19 + day, hours, minutes, 0, 0, 0, -1))


@pytest.mark.parametrize(
    ("quiet", "when", "inside"),
    [
        (NIGHT, (21, 59), False),
        (NIGHT, (22, 0), True),
        (NIGHT, (0, 0), True),
        (NIGHT, (6, 59), True),
        (NIGHT, (7, 0), False),
        ({"hours": "12:00-13:30"}, (13, 29), True),
        ({"hours": "12:00-13:30"}, (13, 30), False),
        ({"hours": "00:00-24:00"}, (23, 59), True),
        ({"hours": "22:00-24:00"}, (0, 0), False),
        ({"hours": "nonsense"}, (0, 0), False),
        ({}, (0, 0), False),
    ],
)
def test_the_hours_are_those_of_the_local_clock(quiet: dict[str, Any], when: tuple[int, int], *, inside: bool) -> None:
    assert is_within(quiet, at(*when)) is inside


def test_a_night_belongs_to_the_day_on_which_it_begins() -> None:
    friday = {**NIGHT, "days": ["fri"]}
    assert [is_within(friday, at(hours, day=day)) for day in (0, 1, 2) for hours in (3, 23)] == [
        False, False, False, True, True, False,
    ]  # fmt: skip


def artefact_with(*triggers: Trigger, **settings: Any) -> Artefact:
    base = build_artefact(*triggers)
    base.meta.settings.update({**DEFAULTS.values(), **settings})
    return base


def every_urgency(**settings: Any) -> Artefact:
    triggers = [make_trigger(("phrase", word), id=urgency, urgency=urgency) for urgency, word in WORDS.items()]
    return artefact_with(*triggers, **settings)


def said(artefact: Artefact, text: str, log: InMemoryLog, now: float) -> Watched:
    return watch(artefact, Turn(role="user", text=text), log, lambda: Surroundings(now=now))


@pytest.mark.parametrize("below", [None, "critical", "high", "medium"])
def test_what_is_less_urgent_waits_and_says_why(below: str | None) -> None:
    artefact = every_urgency(quiet=NIGHT if below is None else {**NIGHT, "below": below})
    watched = said(artefact, ". ".join(WORDS.values()), InMemoryLog(), at(23))
    speaking = URGENCIES[: URGENCIES.index(below or "critical") + 1]
    assert {one.trigger for one in watched.firings} == set(speaking)
    quiet = [one for one in watched.verdicts if one.stage == "quiet"]
    assert {one.trigger for one in quiet} == set(URGENCIES) - set(speaking)
    assert all("22:00-07:00" in one.detail for one in quiet)


def test_what_waited_speaks_when_it_comes_up_again() -> None:
    artefact, log = every_urgency(quiet=NIGHT), InMemoryLog()
    assert not said(artefact, "beta", log, at(6, 59)).firings
    assert said(artefact, "beta", log, at(7, 1)).firings


def test_without_a_clock_there_are_no_hours() -> None:
    assert said(every_urgency(quiet={"hours": "00:00-24:00"}), "beta", InMemoryLog(), 0.0).firings


def test_a_conversation_hears_so_much_of_little_urgency_in_an_hour() -> None:
    triggers = [make_trigger(("phrase", word), id=word, urgency="low") for word in ("one", "two", "three", "four")]
    triggers.append(make_trigger(("phrase", "grave"), id="grave", urgency="high"))
    artefact, log = artefact_with(*triggers, most_per_hour=2), InMemoryLog()
    assert len(said(artefact, "one. two. three", log, 10_000.0).firings) == 2
    assert not said(artefact, "four", log, 10_100.0).firings
    assert said(artefact, "grave", log, 10_100.0).firings
    assert said(artefact, "four", log, 13_700.0).firings
    assert said(artefact, "three", InMemoryLog(), 10_100.0).firings, "another conversation hears its own"
