"""What several reports share, worked out once a run: questions, what came of them, firings and judgements.

Narrow temporary tables in the warehouse's own connection, made when the first report asks for them and gone with it.
People, questions and documents are numbers in them (DuckDB's 64-bit hash: of five million different ones two are taken
for one another in one ledger of a million), which takes a fifth of the memory and half of the time of the texts.
Refuses to keep anything on disk: what is gathered is never older than the ledger.
"""

from __future__ import annotations

from deia.ledger.warehouse_schema import ALIKE, MINUTES, TELLING, WHO
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    import duckdb


class Gathered(Record):
    """A table by its SQL, and the tables that it is made of."""

    sql: str
    needs: tuple[str, ...] = ()


ID = "CASE WHEN id IS NOT NULL THEN hash(id) END AS id"
DOC_SHOWN = 5  # of an answer's documents that count as shown
NUMBER = f"hash({WHO.removesuffix(' AS who')}) AS who"
ASKED = "lower(trim(query))"

TABLES = {
    # Answers that somebody called noise or wrong.
    "against": Gathered(
        sql="SELECT DISTINCT hash(about) AS about FROM events"
        " WHERE event = 'feedback' AND verdict IN ('noise', 'wrong') AND about IS NOT NULL"
    ),
    # The view `queries`, a row a question.
    "asking": Gathered(
        needs=("against",),
        sql=f"""SELECT ts, {ID}, {NUMBER}, CASE WHEN query IS NOT NULL THEN hash({ASKED}) END AS asked,
            (CASE WHEN matched = 'false' OR (matched IS NULL AND len(docs) = 0) THEN 'no'
                WHEN id IS NOT NULL AND hash(id) IN (FROM against) THEN 'badly'
                WHEN matched = 'partial' OR confidence = 'low' THEN 'badly' ELSE 'yes'
            END)::ENUM ('yes', 'badly', 'no') AS answered, [hash(doc) for doc in docs] AS docs
        FROM events WHERE event = 'query'""",
    ),
    # Of the view `resolutions`, what was opened.
    "opening": Gathered(
        needs=("asking",),
        sql=f"""SELECT asked, epoch(r.ts - q.ts) AS seconds
        FROM asking q ASOF JOIN (SELECT ts, hash(who) AS who, hash(doc) AS doc FROM reads) r
            ON q.who = r.who AND r.ts >= q.ts
        WHERE r.ts <= q.ts + INTERVAL {MINUTES} MINUTE AND list_contains(q.docs, r.doc)""",
    ),
    # Every different question with its text and its telling words.
    "wording": Gathered(
        sql=f"""SELECT hash(text) AS asked, text, [hash(word) for word in {TELLING.format("text")}] AS words
        FROM (SELECT DISTINCT {ASKED} AS text FROM (
            SELECT DISTINCT query FROM events WHERE event = 'query' AND query IS NOT NULL))"""
    ),
    # The view `rephrasings`.
    "asking_again": Gathered(
        needs=("asking", "wording"),
        sql=f"""SELECT s.* EXCLUDE (again_at, ts) FROM (
            SELECT ts, asked, answered, lead(asked) OVER w AS again, lead(answered) OVER w AS again_answered,
                lead(ts) OVER w AS again_at
            FROM asking WHERE asked IS NOT NULL AND who <> hash('?') WINDOW w AS (PARTITION BY who ORDER BY ts)
        ) s JOIN wording one ON one.asked = s.asked JOIN wording other ON other.asked = s.again
        WHERE s.again <> s.asked AND again_at <= s.ts + INTERVAL {MINUTES} MINUTE
            AND {ALIKE.format("one.words", "other.words")}""",
    ),
    # Every document by its name and its number, with how often it was named in answers, injected and opened.
    "showing": Gathered(
        sql=f"""SELECT name, hash(name) AS doc, sum(asked)::BIGINT AS asked, sum(put)::BIGINT AS put,
            sum(opened)::BIGINT AS opened, max(last) AS last
        FROM (
            SELECT name, count(*) AS asked, 0 AS put, 0 AS opened, max(ts) AS last FROM (
                SELECT unnest(docs[1:{DOC_SHOWN}]) AS name, ts FROM events WHERE event = 'query') GROUP BY 1
            UNION ALL SELECT name, 0, count(*) FILTER (told), 0, max(ts) FILTER (told) FROM (
                SELECT unnest(docs) AS name, ts, outcome IN ('shown', 'held') AS told FROM injections) GROUP BY 1
            UNION ALL SELECT doc, 0, 0, count(*), max(ts) FROM reads GROUP BY 1
            UNION ALL SELECT DISTINCT docs[1], 0, 0, 0, NULL::TIMESTAMP FROM events WHERE event = 'feedback'
        ) WHERE name IS NOT NULL AND name <> '' GROUP BY 1"""
    ),
    # The view `injections`.
    "firing": Gathered(
        sql=f"""SELECT ts, {ID}, {NUMBER}, trigger, coalesce(outcome, 'shown') AS outcome, hash(docs[1]) AS doc
        FROM events WHERE event = 'injection' AND trigger IS NOT NULL"""
    ),
    # The view `feedback`, with the first document of what was judged.
    "judging": Gathered(
        needs=("asking", "firing"),
        sql="""WITH said AS (
            SELECT ts, hash(about) AS about, verdict, trigger, outcome, hash(docs[1]) AS doc FROM events
            WHERE event = 'feedback' AND about IS NOT NULL
        ),
        judged AS (
            SELECT id, any_value(trigger) AS trigger, any_value(outcome) AS outcome, any_value(doc) AS doc
            FROM (SELECT id, trigger, outcome, doc FROM firing UNION ALL SELECT id, NULL, NULL, docs[1] FROM asking)
            WHERE id IN (SELECT about FROM said) GROUP BY 1
        )
        SELECT ts, about, verdict, coalesce(j.trigger, f.trigger) AS trigger, coalesce(j.outcome, f.outcome) AS outcome,
            CASE WHEN j.id IS NULL THEN f.doc ELSE j.doc END AS doc
        FROM said f LEFT JOIN judged j ON j.id = about
        UNION ALL SELECT ts, NULL, verdict, trigger, outcome, hash(docs[1]) FROM events
        WHERE event = 'feedback' AND about IS NULL""",
    ),
    # How many calls were held of which nobody said anything and that were not let pass later, as one number.
    "holding": Gathered(
        needs=("firing", "judging"),
        sql="""SELECT count(*) AS open FROM firing i LEFT JOIN (
            SELECT trigger, who, max(ts) AS last FROM firing WHERE outcome = 'passed' GROUP BY ALL
        ) p ON p.trigger = i.trigger AND p.who = i.who
        WHERE outcome = 'held' AND NOT coalesce(last >= i.ts, false)
            AND (id IS NULL OR id NOT IN (SELECT about FROM judging WHERE about IS NOT NULL))""",
    ),
}


def gather(connection: duckdb.DuckDBPyConnection, *names: str) -> None:
    """Make some tables of TABLES and what they are made of, unless this connection has them."""
    for name in names:
        gather(connection, *TABLES[name].needs)
        connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS {name} AS {TABLES[name].sql}")
