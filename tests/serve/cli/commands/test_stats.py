"""`deia stats` and `deia feedback` as a person types them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deia import files, spool
from deia.ledger.tail import read_ledger, tidy

if TYPE_CHECKING:
    from tests.serve.conftest import Deia

REPORTS = ("queries", "documents", "triggers", "gaps", "latency", "agents")


@pytest.fixture
def events(commons: Path) -> Path:
    """Write a ledger with a question, a firing and a torn line."""
    folder = commons / "telemetry" / "events"
    spool.append(str(folder), "query", {"query": "how do sites move?", "matched": False, "agent": "a"})
    spool.append(str(folder), "injection", {"trigger": "site-delete", "outcome": "held", "host": "h", "docs": ["x"]})
    (folder / "2026-01-01-a.jsonl").write_text('{"ts": "torn')
    return folder


def test_the_summary_says_what_is_kept_and_where(deia: Deia, events: Path) -> None:
    told = deia("stats")
    assert told.code == 0
    assert "calls held" in told.out
    assert "Broken lines that were skipped: 1" in told.out
    assert "telemetry = full" in told.out
    assert events.as_posix() in told.out
    assert "sent nowhere" in told.out


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_is_shown_and_given_as_json(deia: Deia, events: Path, name: str) -> None:
    assert deia("stats", name).out.strip()
    told = json.loads(deia("stats", name, "--json", "--since", "7d").out)
    assert told["report"] == name


def test_a_report_needs_no_events_and_no_index(deia: Deia, commons: Path) -> None:
    assert "No events yet" in deia("stats").out
    (commons / "commons_index.yaml").unlink()
    (commons / "deia.toml").touch()
    assert deia("stats", "documents").code == 0


@pytest.mark.slow
def test_the_page_is_written_where_it_was_asked_for(deia: Deia, events: Path, tmp_path: Path) -> None:
    assert deia("report", "--html", str(tmp_path / "page.html")).out == f"wrote {tmp_path}/page.html\n"
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "how do sites move?" in text
    assert deia("report", "--html", str(tmp_path / "no" / "page.html")).code == 2


def test_without_a_name_the_page_is_written_into_the_folder_of_the_person_and_not_of_the_project(
    deia: Deia, commons: Path, events: Path, environ: dict[str, str]
) -> None:
    before = sorted(commons.rglob("*.html"))
    page = Path(environ["DEIA_STATE"]) / "reports/work-place.html"
    assert deia("report").out == f"wrote {page.as_posix()}\n"
    assert "how do sites move?" in page.read_text(encoding="utf-8")
    assert sorted(commons.rglob("*.html")) == before


def test_figures_name_the_commons_and_the_folders_that_they_are_from(deia: Deia, commons: Path, events: Path) -> None:
    first = deia("stats", "triggers").out.splitlines()[0]
    assert first == f"Of the commons in {commons.as_posix()}; logged in {commons.as_posix()}/telemetry/events"


def test_anything_can_be_asked_in_sql_and_nothing_done(deia: Deia, events: Path, tmp_path: Path) -> None:
    assert json.loads(deia("stats", "sql", "SELECT count(*) AS n FROM events", "--json").out) == [{"n": 2}]
    assert "how do sites move?" in deia("stats", "sql", "SELECT query FROM queries").out
    assert "response_time_ms" in deia("stats", "sql", "--tables").out
    refused = deia("stats", "sql", f"COPY events TO '{tmp_path}/out.csv'")
    assert (refused.code, (tmp_path / "out.csv").exists()) == (2, False)
    assert "expected one query" in refused.err
    assert deia("stats", "sql").code == 2


def test_a_gap_is_drafted(deia: Deia, events: Path) -> None:
    assert "How do sites move?" in deia("stats", "gaps", "--draft", "1").out
    missing = deia("stats", "gaps", "--draft", "7")
    assert (missing.code, "there is no gap 7; there are 1" in missing.err) == (2, True)


def test_other_ledgers_are_read_too(deia: Deia, events: Path, tmp_path: Path) -> None:
    spool.append(str(tmp_path / "other"), "query", {"query": "theirs", "matched": False})
    found = json.loads(deia("stats", "queries", "--json", "--ledger", str(tmp_path / "other")).out)
    assert found["figures"][0]["value"] == 2
    assert deia("stats", "queries", "--ledger", str(tmp_path / "nowhere")).code == 2


def test_a_file_of_an_older_form_is_read_where_it_lies(deia: Deia, events: Path) -> None:
    before = json.loads(deia("stats", "queries", "--json").out)["figures"][0]["value"]
    old = '{"ts": "2026-01-01T00:00:00Z", "agent": "a", "query": "old", "results": ["x"]}\nbroken\n'
    (events / "old.jsonl").write_text(old, encoding="utf-8")
    assert json.loads(deia("stats", "queries", "--json").out)["figures"][0]["value"] == before + 1


def test_feedback_is_an_event_about_another(deia: Deia, events: Path) -> None:
    assert "'site-delete'" in deia("feedback", "site-delete", "prevented", "--note", "token=abcd1234").out
    (noted,) = read_ledger(str(events), event="feedback").events
    fired = read_ledger(str(events), event="injection").events[0]
    assert (noted["of"], noted["verdict"], noted["note"]) == (fired["id"], "prevented", "token=[secret]")
    deia("search", "site")
    assert "Recorded: injection 'site-delete'" in deia("feedback", "last", "helpful").out, "not the question since"
    noted = read_ledger(str(events), event="feedback").events[-1]
    assert (noted["of"], noted["verdict"]) == (fired["id"], "useful")
    assert deia("feedback", "nothing-so-called", "noise").code == 2
    assert deia("feedback", "last", "great").code == 2


def test_feedback_is_refused_where_nothing_is_kept(deia: Deia, events: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEIA_TELEMETRY", "off")
    told = deia("feedback", "last", "useful")
    assert (told.code, "telemetry is off" in told.err) == (2, True)


def test_what_was_compacted_is_still_in_the_log_and_in_the_counts(deia: Deia, commons: Path) -> None:
    folder = commons / "telemetry" / "events"
    folder.mkdir(parents=True)
    for day in range(1, 10):
        line = {"ts": f"2026-01-{day:02d}T00:00:00.000Z", "v": 1, "event": "injection", "id": f"i{day}",
                "trigger": "site-delete", "outcome": "held", "conversation": f"c{day}"}  # fmt: skip
        (folder / f"2026-01-{day:02d}-{files.writer()}.jsonl").write_bytes(spool.encoded(line))
    before = [read_ledger(str(folder), last=last).events for last in (0, 3)]
    assert "folded" in deia("stats", "compact").out
    assert [path.suffix for path in folder.iterdir()] == [".parquet"]
    assert [read_ledger(str(folder), last=last).events for last in (0, 3)] == before
    report = json.loads(deia("stats", "triggers", "--json").out)
    (row,) = report["tables"][0]["rows"]
    assert (row["trigger"], row["held"]) == ("site-delete", 9)


def test_compiling_compacts_when_that_is_due(deia: Deia, commons: Path) -> None:
    folder = commons / "telemetry" / "events"
    folder.mkdir(parents=True)
    for day in range(1, 10):
        line = {"ts": f"2026-01-{day:02d}T00:00:00.000Z", "event": "query", "query": "q"}
        (folder / f"2026-01-{day:02d}-{files.writer()}.jsonl").write_bytes(spool.encoded(line))
    assert "The log was compacted" in deia("compile").out
    assert tidy(str(commons), environ={"DEIA_TRUST": "*"}, now=1_795_168_800.0) == ""


def test_a_question_without_an_end_is_given_up(deia: Deia, events: Path) -> None:
    endless = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"
    told = deia("stats", "sql", "--seconds", "0.2", endless)
    assert told.code == 2
    assert "no answer within 0.2 seconds" in told.err
    assert "--seconds" in told.err


@pytest.mark.skipif(sys.platform != "linux", reason="only there a process can hold itself to less memory")
def test_a_question_may_not_take_all_memory(deia: Deia, events: Path) -> None:
    told = deia("stats", "sql", "SELECT length(repeat('x', 2000000000))")
    assert told.code == 2
    assert "more memory than allowed" in told.err
    assert "2" in deia("stats", "sql", "SELECT count(*) FROM events").out
