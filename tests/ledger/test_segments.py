"""The files of a ledger, and which of them a period needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deia.ledger.segments import find_parts

if TYPE_CHECKING:
    from pathlib import Path


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
    tmp_path: Path, name: str, since: str, *, reaches: bool
) -> None:
    (tmp_path / name).write_bytes(b"PAR1PAR1" if name.endswith("parquet") else b"{}\n")
    assert [part.name for part in find_parts([str(tmp_path)], since=since).readable] == [name] * reaches
