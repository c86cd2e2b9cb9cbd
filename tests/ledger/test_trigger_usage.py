from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from deia.ledger.trigger_usage import OUTCOMES, count_usage


def event(trigger: str, outcome: str = "shown", *, ts: str = "2026-11-20T10:00:00.000Z", **more: Any) -> dict[str, Any]:
    return {"ts": ts, "v": 1, "event": "injection", "trigger": trigger, "outcome": outcome, **more}


def test_every_outcome_is_counted_and_the_last_time_kept() -> None:
    rows = [event("a", outcome, conversation=outcome[:1], ts=f"2026-11-2{at}") for at, outcome in enumerate(OUTCOMES)]
    rows += [{"event": "query", "trigger": "a"}, {"event": "injection"}]
    (usage,) = count_usage(rows)
    assert usage.values() == {
        "trigger": "a", "fired": 2, "held": 1, "passed": 1, "muted": 1, "over_budget": 1, "conversations": 5,
        "last": "2026-11-24",
    }  # fmt: skip


def test_older_forms_of_events_count() -> None:
    rows: list[dict[str, Any]] = [
        {"event": "proactive_injection", "trigger": "a"},
        {"ts": "t", "injection": True, "trigger": "a", "doc": "d"},
    ]
    assert count_usage(rows)[0].fired == 2


def test_what_fired_most_comes_first() -> None:
    assert [one.trigger for one in count_usage([event("a"), event("b"), event("b"), event("c", "muted")])] == list(
        "bac"
    )


NAMES = st.sampled_from(["event", "trigger", "outcome", "ts", "conversation", "injection"])
ODD = st.none() | st.text(max_size=5) | st.integers() | st.lists(st.text(), max_size=1)


@given(st.lists(st.dictionaries(NAMES, ODD | st.just("injection"))))
def test_no_event_breaks_the_counting(events: list[dict[str, Any]]) -> None:
    count_usage(events)
