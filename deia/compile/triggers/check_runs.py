"""The mark of a conversation in which a check fails, by how programs and people report it.

It ends when a test runner reports that all passed.
"""

from __future__ import annotations

from collections.abc import Iterable

from deia.knowledge import Clause, Earlier
from deia.tables import Tables

FAILING_TURNS = 30  # turns for which a failure counts; a call and its result are two
NUMBER = r"[1-9]\d{0,5}"
TABLES = Tables(__file__)
REPORTED_FAILING = [line.replace("<number>", NUMBER) for line in TABLES.lines("reported failing")]
REPORTED_PASSING = TABLES.lines("reported passing")
SAID_TO_FAIL = [line.replace("<check>", "".join(TABLES.lines("check"))) for line in TABLES.lines("said to fail")]


def clauses(kind: str, values: Iterable[str]) -> tuple[Clause, ...]:
    """Return a clause of one kind for each value."""
    return tuple(Clause(kind=kind, value=value) for value in values)


CHECKS_FAILING = Earlier(
    any=(*clauses("output", REPORTED_FAILING), *clauses("phrase", SAID_TO_FAIL)),
    until=clauses("output", REPORTED_PASSING),
    within=FAILING_TURNS,
)
