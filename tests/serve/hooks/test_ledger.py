"""What the hook writes to the ledger: what came of a held call, and how long the turn took."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from deia.compile.compiler import compile_commons
from deia.ledger.report_values import Grid
from deia.ledger.reports import Known, make_reports
from deia.ledger.warehouse import read_through
from deia.serve import hook

if TYPE_CHECKING:
    from pathlib import Path


def called(command: str, commons: Path, environ: dict[str, str]) -> str:
    """Return what the hook answers to a tool call, as Claude Code starts it."""
    event = {
        "session_id": "s1", "cwd": str(commons), "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": str(time.time_ns()),
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-I", "-S", hook.__file__, "claude-code"],
        input=json.dumps(event), capture_output=True, text=True, check=True, env=environ, timeout=30,
    ).stdout  # fmt: skip


def test_a_held_call_that_is_repeated_is_logged_as_passed_with_the_time_of_each_turn(
    commons: Path, environ: dict[str, str]
) -> None:
    compile_commons(str(commons), environ=environ)
    began = time.perf_counter()
    answers = [called("shopctl site:delete --yes", commons, environ) for _ in range(2)]
    most = (time.perf_counter() - began) * 1000
    assert ["deny" in answer for answer in answers] == [True, False]
    (segment,) = (commons / "telemetry" / "events").glob("*.jsonl")
    events: list[dict[str, Any]] = [json.loads(line) for line in segment.read_text().split("\n") if line]
    assert [event["outcome"] for event in events] == ["held", "passed"]
    assert 0 < sum(event["response_time_ms"] for event in events) < most
    folder = str(segment.parent)
    triggers, latency = read_through([folder], lambda found: make_reports(found, Known(), ["triggers", "latency"]))
    assert {figure.label: figure.value for figure in triggers.figures}["let pass"] == 1
    (paths,) = (block for block in latency.blocks if isinstance(block, Grid))
    assert paths.rows[0][:2] == ("claude-code · injection", 2)
