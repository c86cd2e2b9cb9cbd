"""The log as a browser reads it, and what a person does about an event."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from deia.errors import DeiaError
from deia.folders import state_folder
from deia.serve.page.live_views import (
    MOST_FIELD,
    allow,
    judge_event,
    mute,
    noise,
    recent,
    shown_event,
    silences,
    unmute,
)
from deia.serve.server.desk import Desk
from deia.watch.silence.allow import offer
from deia.watch.silence.mutes import muted_triggers
from tests.serve.page.events import log

if TYPE_CHECKING:
    from tests.serve.server.conftest import Place

FIRED = {"event": "injection", "id": "a-b-1", "trigger": "site-delete", "outcome": "held", "conversation": "c1"}


def test_the_last_events_come_in_portions(desk: Desk, place: Place) -> None:
    log(place, *({**FIRED, "id": f"a-b-{n}", "ts": f"2026-01-01T00:00:{n:02d}Z"} for n in range(10)))
    first: Any = recent(desk, {"last": 4})
    assert [event["id"] for event in first["events"]] == ["a-b-6", "a-b-7", "a-b-8", "a-b-9"]
    assert first["more"] is True
    rest: Any = recent(desk, {"last": 40, "skip": 4})
    assert [event["id"] for event in rest["events"]] == [f"a-b-{n}" for n in range(6)]
    assert rest["more"] is False
    for wrong in ({"last": 0}, {"last": "x"}, {"last": 10**9}, {"skip": "x"}, {"skip": -1}):
        with pytest.raises(DeiaError):
            recent(desk, wrong)


def test_an_event_of_any_size_and_shape_is_bounded() -> None:
    shown: Any = shown_event({"a" * 99: "b" * 9_999, "c": [["d" * 9_999]] * 99, "e": {"f": "g" * 9_999}, "h": 1})
    assert len(json.dumps(shown)) < 12 * MOST_FIELD


def test_a_verdict_is_recorded_about_the_event(desk: Desk, place: Place) -> None:
    log(place, FIRED)
    assert judge_event(desk, {"id": "a-b-1", "verdict": "noise"}) == {
        "of": "a-b-1", "name": "site-delete", "verdict": "noise",
    }  # fmt: skip
    assert recent(desk, {})["events"][-1]["event"] == "feedback"  # type: ignore[index, call-overload]
    with pytest.raises(DeiaError, match="nothing in the log"):
        judge_event(desk, {"id": "nowhere", "verdict": "noise"})


def test_a_mute_is_here_or_in_a_conversation_and_ends_one_by_one(desk: Desk) -> None:
    state = state_folder(os.environ)
    mute(desk, {"trigger": "site-delete", "where": "here"})
    mute(desk, {"trigger": "site-delete", "where": "conversation", "conversation": "c1", "span": "hour"})
    in_force: Any = silences(desk, {})["mutes"]
    assert sorted(bool(one["folder"]) for one in in_force) == [False, True]
    assert "site-delete" in muted_triggers(state, folder=desk.folder, now=time.time())
    unmute(desk, next(one for one in in_force if one["folder"]))
    assert "site-delete" not in muted_triggers(state, folder=desk.folder, now=time.time())
    assert "site-delete" in muted_triggers(state, folder=desk.folder, now=time.time(), conversation="c1")
    with pytest.raises(DeiaError, match="no trigger"):
        mute(desk, {"trigger": "no-such"})


def test_a_stopped_call_is_allowed_by_its_code(desk: Desk) -> None:
    code = offer(state_folder(os.environ), "c1", ["site-delete"], now=time.time())
    pending: Any = silences(desk, {})["pending"]
    assert [(one["code"], one["triggers"]) for one in pending] == [(code, ["site-delete"])]
    assert allow(desk, {"code": code})["pending"] == []
    with pytest.raises(DeiaError, match="unknown or has expired"):
        allow(desk, {"code": "WRONG1"})


def test_the_report_on_noise_has_pictures_by_the_drawer_of_reports(desk: Desk, place: Place) -> None:
    log(place, FIRED, {"event": "feedback", "id": "f-1-1", "of": "a-b-1", "verdict": "noise"})
    report: Any = noise(desk, {})
    drawn = [block["svg"] for block in report["blocks"] if "svg" in block]
    assert drawn
    assert all(svg.startswith('<svg xmlns="http://www.w3.org/2000/svg"') for svg in drawn if svg)
    assert report["figures"]


def test_what_a_view_reads_as_text_is_text() -> None:
    event: Any = {"ts": 1.5, "trigger": ["a"], "because": {"b": 1}, "conversation": None, "event": 7, "outcome": True}
    shown = shown_event(event)
    assert all(isinstance(value, str) for value in shown.values())
    assert (shown["ts"], shown["conversation"], shown["event"]) == ("1.5", "", "7")
    assert shown_event({"n": 1}) == {"n": 1}


def test_here_is_the_folder_of_the_commons(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(os.path.join(desk.root, "bok"))
    below = Desk(desk.root)
    mute(below, {"trigger": "site-delete", "where": "here"})
    assert silences(below, {})["folder"] == below.root
    assert "site-delete" in muted_triggers(state_folder(os.environ), folder=below.root, now=time.time())


def test_a_mute_of_no_conversation_is_refused(desk: Desk) -> None:
    with pytest.raises(DeiaError, match="has no conversation"):
        mute(desk, {"trigger": "site-delete", "where": "conversation"})
    assert silences(desk, {})["mutes"] == []
