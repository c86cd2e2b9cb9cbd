"""What several reports share: temporary tables of queries, firings and judgements, and charts over time.

The tables live in the warehouse's own connection and are made when the first report asks for them, so they are never
older than the ledger. People, queries and documents are numbers in them, which takes a fifth of the
memory and half of the time of texts. The numbers are DuckDB's 64-bit hashes: among five million different values, two
are confused in one of a million ledgers.
"""

from __future__ import annotations

from collections.abc import Mapping

from deia.ledger.report_values import Chart
from deia.ledger.sql_files import read_statements
from deia.ledger.warehouse import Connection, ask
from deia.ledger.warehouse_schema import ALIKE, MINUTES, WORDS_OF

ID = "CASE WHEN id IS NOT NULL THEN hash(id) END AS id"
DOC_SHOWN = 5  # documents of an answer that count as shown

TABLES = read_statements(
    __file__, id=ID, shown=DOC_SHOWN, minutes=MINUTES, words_of_text=WORDS_OF.format("text"),
    alike=ALIKE.format("one.words", "other.words"),
)  # fmt: skip


def gather(connection: Connection, *names: str) -> None:
    """Create some of TABLES and the tables they need, unless this connection has them already."""
    for name in names:
        sql = TABLES[name].sql
        gather(connection, *(other for other in TABLES if other in sql))
        connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS {name} AS {sql}")


# The longest span in days, and the unit in which it is shown.
UNITS = ((70, "day"), (500, "week"), (10**9, "month"))


def over_time(
    connection: Connection, title: str, table: str, series: Mapping[str, str | float], *, unit: str = ""
) -> Chart:
    """Return a chart over time: counts of the rows that meet each condition, or, with a `unit`, quantiles of `ms`."""
    first, last = ask(connection, f"SELECT min(ts), max(ts) FROM {table}")[0]
    kind = "lines" if unit else "columns"
    if first is None:
        return Chart(title=title, kind=kind, labels=(), series={}, unit=unit)
    step = next(name for most, name in UNITS if (last - first).days <= most)
    columns = f"[{', '.join(f'count(*) FILTER ({condition})' for condition in series.values())}]"
    if unit:  # all quantiles in one call, since each call keeps all values
        columns = f"quantile_cont(ms, [{', '.join(map(str, series.values()))}])"
    rows = ask(
        connection,
        f"""WITH steps AS (SELECT unnest(generate_series(date_trunc('{step}', $1::TIMESTAMP),
            date_trunc('{step}', $2::TIMESTAMP), INTERVAL 1 {step})) AS step),
        counts AS (SELECT date_trunc('{step}', ts)::TIMESTAMP AS step, {columns} AS counts FROM {table}
            WHERE ts IS NOT NULL GROUP BY 1)
        SELECT strftime(steps.step, '%Y-%m-%d'), counts.counts FROM steps LEFT JOIN counts
            ON steps.step = counts.step ORDER BY 1""",
        [first, last],
    )
    empty = 0.0 if kind == "columns" else None
    values = {
        name: tuple(empty if row[1] is None else round(float(row[1][at]), 2) for row in rows)
        for at, name in enumerate(series)
    }
    return Chart(title=f"{title}, by {step}", kind=kind, labels=tuple(row[0] for row in rows), series=values, unit=unit)
