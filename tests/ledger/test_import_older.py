"""Importing older ledgers: every known form is read, broken lines are skipped, nothing twice, nothing secret."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.errors import CommonsError
from deia.ledger.import_older import import_files, modernise
from tests.ledger.conftest import lines_of

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

OLD = (
    '{"ts": "2026-01-05T00:00:00Z", "agent": "a", "query": "by ann@example.org", "matched": true, "docs": ["d1"]}',
    '{"ts": "2026-01-05T00:00:01Z", "agent_id": "b", "event": "proactive_injection", "trigger": "t"}',
    '{"ts": "2026-02-05T00:00:02Z", "query": "q2", "results": ["d2"], "clicked": "d2"}',
    '{"ts": "2026-02-05T00:00:03Z", "injection": "text", "trigger": "t2", "doc": "d4", "session": "s"}',
    '{"ts": "torn',
    "[1, 2]",
    '{"nothing": "known"}',
)


def take(folder: Path, path: Path, known: set[str], telemetry: str = "full") -> tuple[int, int, int]:
    (done,) = import_files([str(path)], str(folder), telemetry=telemetry, known=known)
    return done.taken, done.known, done.broken


def test_older_forms_come_in_todays_and_broken_lines_are_counted(tmp_path: Path) -> None:
    source = tmp_path / "old.jsonl"
    source.write_text("\n".join(OLD), encoding="utf-8")
    folder = tmp_path / "events"
    assert take(folder, source, set()) == (4, 0, 3)
    events = lines_of(folder)
    assert [event["event"] for event in events] == ["query", "injection", "query", "injection"]
    assert events[0]["query"] == "by [email]"
    assert (events[1]["agent"], events[1]["outcome"]) == ("b", "shown")
    assert (events[2]["docs"], events[2]["clicked"], events[2]["matched"]) == (["d2"], "d2", True)
    assert (events[3]["conversation"], events[3]["docs"]) == ("s", ["d4"])
    assert sorted(path.name[:10] for path in folder.iterdir()) == ["2026-01-01", "2026-02-01"]


def test_a_file_that_was_taken_in_adds_only_what_is_new(tmp_path: Path) -> None:
    source, folder, known = tmp_path / "old.jsonl", tmp_path / "events", set[str]()
    source.write_text(f"{OLD[0]}\n{OLD[0]}\n", encoding="utf-8")
    assert take(folder, source, known) == (2, 0, 0)
    source.write_text(f"{OLD[0]}\n{OLD[0]}\n{OLD[1]}\n", encoding="utf-8")
    assert take(folder, source, known) == (1, 2, 0)
    assert len(lines_of(folder)) == 3


def test_ids_of_today_are_kept_so_that_feedback_still_belongs(tmp_path: Path) -> None:
    source = tmp_path / "other.jsonl"
    source.write_text('{"ts": "2026-01-05T00:00:00Z", "v": 1, "event": "query", "id": "abc", "query": "q"}')
    take(tmp_path / "events", source, set())
    assert [event["id"] for event in lines_of(tmp_path / "events")] == ["abc"]


def test_texts_are_left_out_where_only_metadata_is_wanted(tmp_path: Path) -> None:
    source = tmp_path / "old.jsonl"
    source.write_text(OLD[0])
    take(tmp_path / "events", source, set(), "metadata")
    (event,) = lines_of(tmp_path / "events")
    assert "query" not in event
    assert event["docs"] == ["d1"]


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommonsError, match="cannot be read"):
        take(tmp_path / "events", tmp_path / "nothing", set())
    with pytest.raises(CommonsError, match="cannot be read"):
        take(tmp_path / "events", tmp_path, set())


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(
    (
        "ts",
        "timestamp",
        "event",
        "query",
        "docs",
        "results",
        "injection",
        "trigger",
        "doc",
        "session",
        "agent_id",
        "id",
        "v",
    )
)


@settings(max_examples=80, deadline=None)
@given(event=st.dictionaries(NAMES, ANYTHING))
def test_no_line_raises_and_every_event_has_its_form(
    event: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    modern = modernise(event)
    assert isinstance(modern["event"], str)
    assert isinstance(modern["ts"], str)
    assert isinstance(modern.get("docs", []), list)
    place = tmp_path_factory.mktemp("import")
    (place / "x.jsonl").write_text(json.dumps(event))
    assert sum(take(place / "events", place / "x.jsonl", set())) == 1
