"""The ledger as tables, with torn, old and foreign files in it, and the limits of a person's own SQL."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.errors import QueryError
from deia.ledger.compaction import compact
from deia.ledger.warehouse import ask, ask_freely, open_warehouse, read_through
from deia.ledger.warehouse_schema import COLUMNS, VIEWS
from deia.problems import CommonsError
from tests.ledger.conftest import NOW, firing, question, raw

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from tests.ledger.conftest import Write


def rows(folder: Path, sql: str, *given: Any) -> list[tuple[Any, ...]]:
    return read_through([str(folder)], lambda connection: ask(connection, sql, given))


def test_events_have_their_columns_and_a_time(write: Write) -> None:
    folder = write(question("how?", "a", "b"), firing("t", because="x"))
    answer = rows(
        folder, "SELECT strftime(ts, '%c'), event, docs, trigger, response_time_ms FROM events ORDER BY event"
    )
    assert [row[1:] for row in answer] == [
        ("injection", ["d"], "t", None),
        ("query", ["a", "b"], None, 3.5),
    ]
    assert all("2026" in row[0] for row in answer)


@pytest.mark.slow
def test_torn_and_foreign_lines_are_counted_and_hide_no_other(tmp_path: Path) -> None:
    good = b'{"ts": "2026-11-20T10:00:00Z", "event": "query", "query": "q", "docs": []}\n'
    bad = [
        b'{"ts": "2026-\n',
        b"[1]\n",
        b"\xff\xfe\n",
        b"\0" * 50 + b"\n",
        b'{"a": ' * 3000 + b"\n",
        b"x" * 70_000 + b"\n",
    ]
    raw(tmp_path, "2026-11-20-a.jsonl", b"\n" + good + b"".join(line + b"\n" + good for line in bad) + b'{"ts": "20')
    assert rows(tmp_path, "SELECT count(*), count(DISTINCT query) FROM events") == [(len(bad) + 1, 1)]
    assert rows(tmp_path, "FROM damage") == [("2026-11-20-a.jsonl", len(bad) + 1)]


def test_the_older_forms_are_read(tmp_path: Path) -> None:
    lines = (
        b'{"ts": "2026-01-01T00:00:00Z", "agent": "a", "query": "q1", "matched": true, "docs": ["d1"]}\n'
        b'{"ts": "2026-01-01T00:00:01Z", "agent_id": "b", "event": "proactive_injection", "trigger": "t"}\n'
        b'{"ts": "2026-01-01T00:00:02Z", "agent_id": "b", "event": "index_update", "change": "c"}\n'
        b'{"ts": 1767225603, "query": "q2", "results": [{"id": "d2"}, {"id": "d3"}], "clicked": "d2"}\n'
        b'{"ts": "2026-01-01T00:00:04+01:00", "injection": "text", "trigger": "t2", "doc": "d4", "session": "s"}\n'
    )
    raw(tmp_path, "old.jsonl", lines)
    answer = rows(
        tmp_path, "SELECT event, agent, coalesce(query, trigger, change), docs, conversation FROM events ORDER BY line"
    )
    assert answer == [
        ("query", "a", "q1", ["d1"], None),
        ("injection", "b", "t", [], None),
        ("index", "b", "c", [], None),
        ("injection", None, "t2", ["d4"], "s"),
        ("query", None, "q2", ["d2", "d3"], None),
    ]
    assert rows(tmp_path, "SELECT doc, via FROM reads") == [("d2", "click")]
    assert rows(tmp_path, "SELECT outcome FROM injections") == [("shown",), ("shown",)]
    assert rows(tmp_path, "SELECT count(*) FROM events WHERE ts IS NULL") == [(0,)]


def test_several_machines_and_folders_read_as_one(write: Write, tmp_path: Path) -> None:
    here = write(question("q", "a"), writer="one")
    write(question("q", "b"), writer="two")
    there = write(question("q", "c"), folder=tmp_path / "there")
    answer = read_through(
        [str(here), str(there), str(tmp_path / "nowhere")], lambda c: ask(c, "SELECT docs FROM events")
    )
    assert sorted(row[0][0] for row in answer) == ["a", "b", "c"]


def test_what_is_before_a_time_is_left_out(write: Write) -> None:
    folder = write(question("old"), day="2026-11-01")
    write(question("new"), day="2026-11-20")
    answer = read_through(
        [str(folder)], lambda c: ask(c, "SELECT query FROM queries"), since="2026-11-10T00:00:00.000Z"
    )
    assert answer == [("new",)]


def test_a_question_is_answered_badly_by_low_confidence_or_by_judgement(write: Write) -> None:
    folder = write(
        question("fine", "a"), question("low", "a", confidence="low"), question("none"),
        question("partial", "a", matched="partial"), question("judged", "a", id="j"),
        {"event": "feedback", "of": "j", "verdict": "wrong"},
    )  # fmt: skip
    assert dict(rows(folder, "SELECT asked, answered FROM queries")) == {
        "fine": "yes", "low": "badly", "none": "no", "partial": "badly", "judged": "badly",
    }  # fmt: skip


def test_a_document_that_is_opened_belongs_to_the_question_that_named_it(write: Write) -> None:
    folder = write(
        question("first", "a", "b", conversation="c"), {"event": "read", "doc": "b", "conversation": "c"},
        question("second", "a", conversation="c"), {"event": "read", "doc": "z", "conversation": "c"},
        question("elsewhere", "b", conversation="d"),
    )  # fmt: skip
    answer = rows(folder, "SELECT asked, opened, seconds FROM resolutions ORDER BY ts")
    assert answer == [("first", "b", 1.0), ("second", None, None), ("elsewhere", None, None)]


def test_other_words_that_found_it_are_seen(write: Write) -> None:
    folder = write(
        question("k8s cert", conversation="c"), question("kubernetes certificate", "a", conversation="c"),
        question("something else", "b", conversation="d"),
    )  # fmt: skip
    answer = rows(folder, "SELECT asked, answered, again, again_answered FROM rephrasings")
    assert answer == [("k8s cert", "no", "kubernetes certificate", "yes")]


def test_every_view_has_its_purpose_and_can_be_asked(write: Write) -> None:
    folder = write(question("q", "a"))
    with open_warehouse([str(folder)]) as connection:
        for name, view in VIEWS.items():
            assert view.purpose
            assert isinstance(ask(connection, f"FROM {name}"), list)
        assert {row[0] for row in ask(connection, "SELECT column_name FROM (DESCRIBE events)")} == set(COLUMNS)


# --- SQL of whoever asks ---

REFUSED = (
    "COPY events TO '{folder}/out.csv'", "COPY (SELECT 1) TO '{parquet}'", "ATTACH '{folder}/x.db'", "INSTALL httpfs",
    "LOAD httpfs", "SET enable_external_access = true", "SET allowed_paths = ['/']", "RESET lock_configuration",
    "SELECT * FROM read_text('{secret}')", "SELECT * FROM read_blob('{secret}')", "SELECT * FROM read_csv('{secret}')",
    "SELECT * FROM read_json('{secret}')", "FROM '{secret}'", "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM outside",
    "EXPORT DATABASE '{folder}/x'", "IMPORT DATABASE '{folder}/x'", "CREATE TABLE x (a INT)", "DROP VIEW events",
    "DELETE FROM damage", "UPDATE damage SET lines = 1", "INSERT INTO damage VALUES ('x', 1)", "PRAGMA database_list",
    "SELECT 1; SELECT 2", "", ";", "EXPLAIN ANALYZE COPY (SELECT 1) TO '{folder}/out.csv'", "CALL pragma_version()",
    "SELECT * FROM read_parquet('{folder}/../*.parquet')", "CREATE SECRET s (TYPE s3)", "CHECKPOINT", "no sql at all",
)  # fmt: skip


@pytest.mark.parametrize("sql", REFUSED)
def test_sql_reaches_nothing_but_the_ledger_and_changes_nothing(write: Write, tmp_path: Path, sql: str) -> None:
    folder = write(question("q", "a"), day="2026-10-01", writer=os.uname().nodename)
    compact(str(folder), now=NOW)
    (parquet,) = folder.glob("*.parquet")
    before = parquet.read_bytes()
    secret = tmp_path / "secret.txt"
    secret.write_text("outside")
    outside = [{"a": 1}]  # a name that DuckDB would otherwise look for here
    with open_warehouse([str(folder)]) as connection, pytest.raises(QueryError):
        ask_freely(connection, sql.format(folder=tmp_path, parquet=parquet, secret=secret))
    assert outside
    assert parquet.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["events", "secret.txt"]


@pytest.mark.parametrize(
    "sql",
    ["SELECT count(*) FROM events", "FROM queries", "WITH x AS (FROM events) SELECT count(*) FROM x", "DESCRIBE events",
     "SUMMARIZE events", "EXPLAIN SELECT 1", "SHOW TABLES", "VALUES (1)"],
)  # fmt: skip
def test_questions_are_answered(write: Write, sql: str) -> None:
    with open_warehouse([str(write(question("q", "a")))]) as connection:
        answer = ask_freely(connection, sql)
    assert answer.columns
    assert answer.rows


def test_a_long_answer_is_cut_and_says_so(write: Write) -> None:
    with open_warehouse([str(write())]) as connection:
        answer = ask_freely(connection, "FROM range(50)", most=10)
    assert (len(answer.rows), answer.cut) == (10, True)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sql=st.text(max_size=60))
def test_no_text_asked_as_sql_raises_anything_but_a_refusal(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    try:
        ask_freely(connection, sql)
    except QueryError as error:
        assert error.fix  # noqa: PT017 - either an answer, or a cure


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with open_warehouse([str(tmp_path_factory.mktemp("empty"))]) as opened:
        yield opened


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.lists(st.binary(max_size=60) | st.just(b'{"event": "query", "ts": 1}'), max_size=9))
def test_no_content_of_a_segment_stops_a_report(tmp_path_factory: pytest.TempPathFactory, content: list[bytes]) -> None:
    folder = tmp_path_factory.mktemp("events")
    raw(folder, "2026-11-20-a.jsonl", b"\n".join(content))
    whole = sum(line.strip() == b'{"event": "query", "ts": 1}' for line in b"\n".join(content).split(b"\n"))
    assert rows(folder, "SELECT count(*) FROM events")[0][0] >= whole


# --- while others write, and when files are broken ---


def test_a_parquet_file_copied_in_half_is_left_out_and_named(write: Write) -> None:
    folder = write(question("q", "a"), day="2026-10-01", writer=os.uname().nodename)
    compact(str(folder), now=NOW)
    (whole,) = folder.glob("*.parquet")
    raw(folder, "2026-09-01_half.parquet", whole.read_bytes()[:-20])
    assert rows(folder, "SELECT count(*) FROM events") == [(1,)]
    assert rows(folder, "FROM damage") == [("2026-09-01_half.parquet", 0)]


def test_a_parquet_file_that_lies_about_itself_is_told_and_no_traceback(write: Write) -> None:
    folder = write(question("q", "a"))
    raw(folder, "2026-09-01_x.parquet", b"PAR1" + b"garbage" * 9 + b"PAR1")
    with pytest.raises(CommonsError, match="cannot be read"):
        rows(folder, "FROM events")


WRITER = """
import sys
from deia import spool
for number in range(int(sys.argv[2])):
    identity = spool.append(sys.argv[1], "query", {"query": "w " * 200, "docs": ["a"]})
    sys.stdout.write(identity + "\\n"); sys.stdout.flush()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_writers_that_are_killed_lose_nothing_acknowledged_and_reports_run_meanwhile(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path), "400"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    counts = []
    for victim in running[:2]:
        assert victim.stdout is not None
        victim.stdout.readline()
        counts.append(rows(tmp_path, "SELECT count(*), count(*) FILTER (len(query) < 399) FROM events")[0])
        victim.kill()
    acknowledged = [line for process in running for line in process.communicate()[0].split("\n")[:-1] if line]
    kept = {row[0] for row in rows(tmp_path, "SELECT id FROM events")}
    assert len(acknowledged) >= 800
    assert kept >= set(acknowledged)
    assert rows(tmp_path, "FROM damage") == []
    assert all(torn == 0 for _, torn in counts)
