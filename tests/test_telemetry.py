from __future__ import annotations

import json
from pathlib import Path

import pytest

from deia import telemetry
from deia.errors import QueryError


def test_an_event_of_another_program_is_in_the_log_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEIA_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("DEIA_COMMONS", raising=False)
    identity = telemetry.log_event(
        agent_id="bot-7", event="librarian_query", query="dns password=hunter22hunter", matched=True, docs_returned=2,
        response_time_ms=12,
    )  # fmt: skip
    lines = [json.loads(line) for path in tmp_path.rglob("*.jsonl") for line in path.read_text().splitlines() if line]
    event = next(line for line in lines if line["id"] == identity)
    assert (event["event"], event["agent"], event["matched"], event["returned"]) == ("query", "bot-7", True, 2)
    assert "hunter22" not in json.dumps(lines)


def test_an_unknown_event_is_refused_by_name() -> None:
    with pytest.raises(QueryError, match="party"):
        telemetry.log_event(event="party")


@pytest.mark.parametrize("field", ["ts", "v", "id"])
def test_what_deia_fills_in_itself_is_refused(field: str) -> None:
    with pytest.raises(QueryError, match=f"deia itself fills in {field}"):
        telemetry.log_event(**{field: "x"})  # type: ignore[arg-type]


def test_documents_are_counted_named_or_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEIA_STATE", str(tmp_path / "state"))
    assert telemetry.log_event(docs_returned=None)
    for wrong in ("a.md", 2.5, -1, True):
        with pytest.raises(QueryError, match="is no number of documents"):
            telemetry.log_event(docs_returned=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -1, "12", None])
def test_a_time_that_can_be_none_is_refused(wrong: float) -> None:
    with pytest.raises(QueryError, match=r"response_time_ms .* is no time\. Give milliseconds"):
        telemetry.log_event(response_time_ms=wrong)
