"""All reports by name, and what each needs to be made from a ledger."""

from __future__ import annotations

from deia.learn import gaps, questions, usefulness
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import duckdb

    from deia.learn.report import Report
    from deia.learn.usefulness import Known

REPORTS: dict[str, Callable[[duckdb.DuckDBPyConnection, Known], Report]] = {
    "summary": lambda connection, _: usefulness.summary(connection),
    "queries": lambda connection, _: questions.queries(connection),
    "documents": usefulness.documents,
    "triggers": usefulness.triggers,
    "gaps": lambda connection, _: gaps.gaps(connection),
    "latency": lambda connection, _: questions.latency(connection),
    "agents": lambda connection, _: usefulness.agents(connection),
}


def make_reports(connection: duckdb.DuckDBPyConnection, known: Known, names: Sequence[str]) -> list[Report]:
    """Make some reports from one warehouse, in the order named."""
    return [REPORTS[name](connection, known) for name in names]
