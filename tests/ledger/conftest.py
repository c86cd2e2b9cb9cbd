"""Fixtures that write ledgers as real segments."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from deia import spool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Write = Callable[..., Path]

NOW = 1_795_168_800.0  # 2026-11-20, 10:00 UTC
DAY = 86_400


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes events into a day's segment, a second apart."""

    def into(
        *events: dict[str, Any], day: str = "2026-11-20", writer: str = "here", folder: Path | None = None
    ) -> Path:
        place = folder or tmp_path / "events"
        place.mkdir(parents=True, exist_ok=True)
        lines = []
        for number, event in enumerate(events):
            ts = f"{day}T{10 + number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
            lines.append({"ts": ts, "v": 1, "id": f"{day}-{writer}-{number}", **event})
        with (place / f"{day}-{writer}.jsonl").open("ab") as file:
            for line in lines:
                file.write(spool.encoded(line))
        return place

    return into


def question(text: str, *docs: str, **fields: Any) -> dict[str, Any]:
    event = {"event": "query", "query": text, "matched": bool(docs), "confidence": "high", "docs": list(docs)}
    return {**event, "agent": "tester", "response_time_ms": 3.5, "tier": "static", **fields}


def firing(trigger: str, outcome: str = "shown", **fields: Any) -> dict[str, Any]:
    return {"event": "injection", "trigger": trigger, "outcome": outcome, "host": "a-host", "docs": ["d"], **fields}


def raw(folder: Path, name: str, content: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().split("\n") if line
    ]
