"""The files of a ledger, and which of them a period needs."""

from __future__ import annotations

import pytest

from deia.ledger.segments import Part


@pytest.mark.parametrize(
    ("name", "since", "reaches"),
    [
        ("2026-11-20-here.jsonl", "", True),
        ("2026-11-20-here.jsonl", "2026-11-20T23:00:00.000Z", True),
        ("2026-11-19-here.jsonl", "2026-11-20T00:00:00.000Z", False),
        ("events.jsonl", "2026-11-20T00:00:00.000Z", True),
        ("2026-01-01_31-here~1.parquet", "2026-11-20T00:00:00.000Z", True),  # which tells by its own statistics
    ],
)  # fmt: skip
def test_a_segment_is_read_where_its_name_lets_it_reach_into_the_period(
    name: str, since: str, *, reaches: bool
) -> None:
    assert Part(path=f"/events/{name}", size=1).may_reach(since) is reaches
