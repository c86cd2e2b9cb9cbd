from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.ledger.trigger_usage import OUTCOMES, count_usage

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia


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


def write(commons: Path, *events: dict[str, Any]) -> None:
    folder = commons / "telemetry" / "events"
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(one) + "\n" for one in events) + "{torn\n"
    (folder / "2026-11-20-x.jsonl").write_text(lines, encoding="utf-8")


def test_the_command_tells_what_fired_what_never_did_and_what_is_gone(deia: Deia, commons: Path) -> None:
    write(commons, event("site-delete", "held"), event("site-delete", "passed"), event("old"))
    told = deia("triggers", "stats")
    assert told.code == 0
    assert told.out.splitlines()[1].split() == ["old", "1", "0", "0", "0", "0", "1", "2026-11-20T10:00:00.000Z"]
    assert "2 firings of 2 triggers." in told.out
    assert "Never seen (2): site-missing, site-rename." in told.out
    assert "No longer exists (1): old." in told.out
    assert "1 damaged line skipped" in told.out
    fields = json.loads(deia("triggers", "stats", "--format", "json").out)
    assert {one["trigger"]: one["fired"] for one in fields["triggers"]} == {"site-delete": 1, "old": 1}


def test_only_some_time_is_counted_where_it_is_asked_for(deia: Deia, commons: Path) -> None:
    write(commons, event("site-delete", ts="2020-01-01T10:00:00.000Z"))
    assert json.loads(deia("triggers", "stats", "--since", "7d", "--format", "json").out)["triggers"] == []
    assert deia("triggers", "stats", "--since", "soon").code == 2


def test_the_list_names_the_origin_of_every_trigger(deia: Deia, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "site-delete   project  stable, critical, hold: Deleting a shop site" in deia("triggers", "list").out
    monkeypatch.setenv("DEIA_STARTER", "true")
    rows = json.loads(deia("triggers", "list", "--format", "json").out)
    assert {row["origin"] for row in rows} == {"project", "starter"}
    assert rows[0]["origin"] == "project"
