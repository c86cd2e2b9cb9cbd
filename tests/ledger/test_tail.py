from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia import spool
from deia.ledger.tail import Extent, Follower, extent_of, read_ledger

if TYPE_CHECKING:
    from pathlib import Path


def test_what_was_written_is_read_in_order(tmp_path: Path) -> None:
    for number in range(5):
        spool.append(str(tmp_path), "query", {"query": f"q{number}"})
    spool.append(str(tmp_path), "error", {"error": "e"})
    ledger = read_ledger(str(tmp_path), event="query", last=3)
    assert [event["query"] for event in ledger.events] == ["q2", "q3", "q4"]
    assert ledger.broken == 0


def test_torn_lines_are_counted_and_older_forms_are_read(tmp_path: Path) -> None:
    lines = '{"ts": "2026-01-02T00:00:00Z", "query": "old form", "results": 3}\n{"ts": "2026-\n[1]\n\n'
    (tmp_path / "2026-01-02-a.jsonl").write_text(lines, encoding="utf-8")
    ledger = read_ledger(str(tmp_path), event="query")
    assert [event["query"] for event in ledger.events] == ["old form"]
    assert ledger.broken == 2


def test_what_is_older_is_left_out(tmp_path: Path) -> None:
    for day in ("2026-01-01", "2026-01-02"):
        line = f'{{"ts": "{day}T12:00:00.000Z", "event": "error"}}\n'
        (tmp_path / f"{day}-a.jsonl").write_text(line, encoding="utf-8")
    ledger = read_ledger(str(tmp_path), since="2026-01-02T00:00:00.000Z")
    assert [str(event["ts"])[:10] for event in ledger.events] == ["2026-01-02"]


def test_no_folder_is_an_empty_ledger(tmp_path: Path) -> None:
    assert read_ledger(str(tmp_path / "none")).events == ()


@given(st.binary(max_size=80))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_content_breaks_the_reading(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "2026-01-02-a.jsonl").write_bytes(content)
    read_ledger(str(tmp_path), last=5)


def test_how_much_a_ledger_holds_is_measured_with_what_cannot_be_read(tmp_path: Path) -> None:
    for day in ("2026-01-01", "2026-03-02"):
        lines = f'{{"ts": "{day}T12:00:00.000Z", "event": "error"}}\n{{"ts": "torn\n'
        (tmp_path / f"{day}-a.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "2025-12-01_31-b~1.parquet").write_bytes(b"PAR1 half")
    extent = extent_of(str(tmp_path))
    assert (extent.events, extent.oldest, extent.newest, extent.torn) == (2, "2026-01-01", "2026-03-02", 2)
    assert extent.damaged == ("2025-12-01_31-b~1.parquet",)
    assert extent.bytes == sum(path.stat().st_size for path in tmp_path.iterdir())
    assert extent_of(str(tmp_path / "none")) == Extent()


def test_what_is_added_from_now_on_is_read_once_and_a_half_written_line_later(tmp_path: Path) -> None:
    spool.append(str(tmp_path), "query", {"query": "before"})
    follower = Follower(str(tmp_path))
    assert follower.events() == []
    for number in range(3):
        spool.append(str(tmp_path), "query", {"query": f"q{number}"})
    assert [event["query"] for event in follower.events()] == ["q0", "q1", "q2"]
    assert follower.events() == []
    new = tmp_path / "2026-01-02-other.jsonl"
    new.write_text(
        '{"ts": "2026-01-02T00:00:00Z", "event": "error", "error": "x"}\nnot json\n{"ts": "2026-', encoding="utf-8"
    )
    assert [event["event"] for event in follower.events()] == ["error"]
    with new.open("a", encoding="utf-8") as file:
        file.write('01-02T00:00:01Z", "event": "read"}\n')
    assert [event["event"] for event in follower.events()] == ["read"]


def test_who_follows_a_folder_that_is_not_there_yet_reads_what_comes(tmp_path: Path) -> None:
    follower = Follower(str(tmp_path / "events"))
    assert follower.events() == []
    spool.append(str(tmp_path / "events"), "query", {"query": "first"})
    assert [event["query"] for event in follower.events()] == ["first"]
