"""The tables that reports share contain what the views contain, for any ledger."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.ledger.reports import REPORTS, Known, make_reports
from deia.ledger.shared_rows import TABLES, gather
from deia.ledger.warehouse import ask, open_warehouse
from tests.ledger.conftest import question, raw

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from tests.ledger.conftest import Write

# Each gathered table as SQL, and the same asked of the views; people, documents and questions as numbers.
SAME = {
    "asked_queries": (
        "SELECT ts, who, asked, answered, len(docs), docs[1] FROM asked_queries",
        """SELECT ts, hash(who), CASE WHEN asked IS NOT NULL THEN hash(asked) END, answered, len(docs),
            CASE WHEN len(docs) > 0 THEN hash(docs[1]) END FROM queries""",
    ),
    "opened_documents": (
        "SELECT asked, seconds FROM opened_documents",
        "SELECT CASE WHEN asked IS NOT NULL THEN hash(asked) END, seconds FROM resolutions WHERE opened IS NOT NULL",
    ),
    "query_texts": (
        "SELECT asked, text FROM query_texts",
        "SELECT DISTINCT hash(asked), asked FROM queries WHERE asked IS NOT NULL",
    ),
    "repeated_queries": (
        "SELECT asked, again, answered, again_answered FROM repeated_queries",
        "SELECT hash(asked), hash(again), answered, again_answered FROM rephrasings",
    ),
    "document_counts": (
        "SELECT name, asked, put, opened FROM document_counts WHERE asked + put + opened > 0",
        """SELECT name, count(*) FILTER (kind = 1), count(*) FILTER (kind = 2), count(*) FILTER (kind = 3) FROM (
            SELECT unnest(docs[1:5]) AS name, 1 AS kind FROM queries
            UNION ALL SELECT unnest(docs), 2 FROM injections WHERE outcome IN ('shown', 'held')
            UNION ALL SELECT doc, 3 FROM reads) WHERE name <> '' GROUP BY 1""",
    ),
    "fired_triggers": (
        "SELECT ts, who, trigger, outcome FROM fired_triggers",
        "SELECT ts, hash(who), trigger, outcome FROM injections",
    ),
    "judgements": (
        """SELECT ts, about, verdict, trigger, coalesce(outcome = 'held', false), name
            FROM judgements LEFT JOIN document_counts USING (doc)""",
        """SELECT ts, CASE WHEN about IS NOT NULL THEN hash(about) END, verdict, trigger,
            coalesce(outcome = 'held', false), CASE WHEN docs[1] <> '' THEN docs[1] END FROM feedback""",
    ),
}
DOCS = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=7)
WORDS = ["how do I move the site", "move a site", "moving sites", "rotate the key", "Rotate keys ", "?", ""]
EVENTS = st.one_of(
    st.fixed_dictionaries(
        {"event": st.just("query"), "docs": DOCS},
        optional={
            "query": st.sampled_from(WORDS), "matched": st.sampled_from([True, False, "partial"]),
            "confidence": st.sampled_from(["high", "low"]), "clicked": st.sampled_from(["a", "b"]),
            "response_time_ms": st.floats(0, 900),
        },
    ),
    st.fixed_dictionaries(
        {"event": st.just("injection"), "trigger": st.sampled_from(["t", "u"]), "docs": DOCS},
        optional={"outcome": st.sampled_from(["shown", "held", "passed", "muted", "quiet", "over_budget"])},
    ),
    st.fixed_dictionaries({"event": st.just("read"), "doc": st.sampled_from(["a", "b", "z"])}),
    st.fixed_dictionaries(
        {"event": st.just("feedback"), "verdict": st.sampled_from(["useful", "noise", "wrong", "prevented"])},
        optional={"of": st.integers(0, 60).map(lambda number: f"e{number}"), "trigger": st.just("t"), "docs": DOCS},
    ),
)  # fmt: skip
WHERE = st.fixed_dictionaries(
    {"after": st.sampled_from([1, 40, 1700, 1801])},
    optional={"conversation": st.sampled_from(["c1", "c2"]), "agent": st.sampled_from(["x", "y"])},
)


def written(folder: Path, events: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    """Write consecutive events, some without the id by which they could be judged."""
    at, lines = datetime(2026, 11, 1, tzinfo=UTC), []
    for number, (event, where) in enumerate(events):
        at += timedelta(seconds=where["after"])
        identity = {} if number % 7 == 6 else {"id": f"e{number}"}
        fields = {name: value for name, value in where.items() if name != "after"}
        lines.append(json.dumps({"ts": at.isoformat(), **identity, **fields, **event}))
    raw(folder, "2026-11-01-here.jsonl", "\n".join(lines).encode())


def counted(connection: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query as sorted texts."""
    return sorted(tuple(map(str, row)) for row in ask(connection, sql))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(events=st.lists(st.tuples(EVENTS, WHERE), min_size=20, max_size=60))
def test_what_is_gathered_is_what_the_views_say(
    tmp_path_factory: pytest.TempPathFactory, events: list[tuple[dict[str, Any], dict[str, Any]]]
) -> None:
    folder = tmp_path_factory.mktemp("events")
    written(folder, events)
    with open_warehouse([str(folder)]) as connection:
        gather(connection, *TABLES)
        for name, (gathered, views) in SAME.items():
            assert counted(connection, gathered) == counted(connection, views), name
        ((unrepeated,),) = ask(
            connection,
            """SELECT count(*) FROM injections i WHERE outcome = 'held'
                AND NOT EXISTS (SELECT 1 FROM injections p WHERE p.outcome = 'passed' AND p.trigger = i.trigger
                    AND p.who = i.who AND p.ts >= i.ts)""",
        )
        assert ask(connection, "FROM unrepeated_holds") == [(unrepeated,)]


def test_every_table_is_held_against_a_view() -> None:
    assert set(SAME) | {"unrepeated_holds"} == set(TABLES)


@pytest.mark.slow
def test_reports_say_the_same_alone_and_after_all_others(write: Write) -> None:
    folder = write(
        question("how do I move a site", conversation="c"), question("move the site", "a", "b", conversation="c"),
        {"event": "read", "doc": "b", "conversation": "c"}, {"event": "feedback", "of": "nobody", "verdict": "noise"},
        question("else", "a", id="q", conversation="c"), {"event": "feedback", "of": "q", "verdict": "wrong"},
    )  # fmt: skip
    known = Known(today="2026-11-20")
    with open_warehouse([str(folder)]) as connection:
        together = make_reports(connection, known, [*REPORTS, *REPORTS])
    alone = []
    for name in REPORTS:
        with open_warehouse([str(folder)]) as connection:
            alone += make_reports(connection, known, [name])
    assert [report.to_dict() for report in together] == [report.to_dict() for report in (*alone, *alone)]


@pytest.mark.parametrize(
    ("first", "then", "alike"),
    [
        ("how do I delete the site", "deleting sites", True),
        ("k8s cert", "kubernetes certificate", True),
        ("reload of prometheus has faild", "reload of prometheus has failed", True),
        ("Straße löschen", "löschen der straße", True),
        ("rotate the api key of the bucket", "restore a database from last night", False),
        ("who can delete a site", "who can see the invoice of the team", False),  # small words alone
        ("how?", "why?", False),
        ("", "move", False),
    ],
)  # fmt: skip
def test_only_questions_alike_are_asked_again(write: Write, first: str, then: str, *, alike: bool) -> None:
    folder = write(question(first, conversation="c"), question(then, "a", conversation="c"))
    with open_warehouse([str(folder)]) as connection:
        assert len(ask(connection, "FROM successions")) == 1
        assert len(ask(connection, "FROM rephrasings")) == int(alike)
        (report,) = make_reports(connection, Known(), ["queries"])
    shown = {figure.label: figure.value for figure in report.figures}
    assert shown["asked again in other words"] == int(alike)
