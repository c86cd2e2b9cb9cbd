"""All reports by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deia.ledger import gaps, question_reports, usage_reports
from deia.ledger.report_values import Report
from deia.ledger.usage_reports import Known
from deia.ledger.warehouse import Connection

REPORTS: dict[str, Callable[[Connection, Known], Report]] = {
    "summary": lambda connection, _: usage_reports.summary(connection),
    "queries": lambda connection, _: question_reports.queries(connection),
    "documents": usage_reports.documents,
    "triggers": usage_reports.triggers,
    "gaps": lambda connection, _: gaps.gaps(connection),
    "latency": lambda connection, _: question_reports.latency(connection),
    "agents": lambda connection, _: usage_reports.agents(connection),
}


def make_reports(connection: Connection, known: Known, names: Sequence[str]) -> list[Report]:
    """Return the named reports from one warehouse, in that order."""
    return [REPORTS[name](connection, known) for name in names]
