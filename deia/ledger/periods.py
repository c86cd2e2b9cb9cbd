"""Counts and quantiles over time, in days, weeks or months, whichever a person can still read."""

from __future__ import annotations

from collections.abc import Mapping

from deia.ledger.report_values import Chart
from deia.ledger.warehouse import ask
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

# The longest span in days → what it is told in.
UNITS = ((70, "day"), (500, "week"), (10**9, "month"))


def over_time(
    connection: duckdb.DuckDBPyConnection, title: str, table: str, series: Mapping[str, str | float], *, unit: str = ""
) -> Chart:
    """Give a chart over time: of the rows that a condition holds for, or of a quantile of the column `ms`."""
    first, last = ask(connection, f"SELECT min(ts), max(ts) FROM {table}")[0]
    kind = "lines" if unit else "columns"
    if first is None:
        return Chart(title=title, kind=kind, labels=(), series={}, unit=unit)
    step = next(name for most, name in UNITS if (last - first).days <= most)
    told = f"[{', '.join(f'count(*) FILTER ({what})' for what in series.values())}]"
    if unit:  # all in one: each quantile by itself would keep all values once more
        told = f"quantile_cont(ms, [{', '.join(map(str, series.values()))}])"
    rows = ask(
        connection,
        f"""WITH steps AS (SELECT unnest(generate_series(date_trunc('{step}', $1::TIMESTAMP),
            date_trunc('{step}', $2::TIMESTAMP), INTERVAL 1 {step})) AS step),
        found AS (SELECT date_trunc('{step}', ts)::TIMESTAMP AS step, {told} AS told FROM {table} WHERE ts IS NOT NULL
            GROUP BY 1)
        SELECT strftime(steps.step, '%Y-%m-%d'), told FROM steps LEFT JOIN found
            ON steps.step = found.step ORDER BY 1""",
        [first, last],
    )
    empty = 0.0 if kind == "columns" else None
    values = {
        name: tuple(empty if row[1] is None else round(float(row[1][at]), 2) for row in rows)
        for at, name in enumerate(series)
    }
    return Chart(title=f"{title}, by {step}", kind=kind, labels=tuple(row[0] for row in rows), series=values, unit=unit)
