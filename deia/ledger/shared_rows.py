"""Temporary tables that several reports share: queries, what came of them, firings and judgements.

They live in the warehouse's own connection, are made when the first report asks for them, and are never kept on disk,
so they are never older than the ledger. People, queries and documents are numbers in them, which takes a fifth of the
memory and half of the time of texts. The numbers are DuckDB's 64-bit hashes: among five million different values, two
are confused in one of a million ledgers.
"""

from __future__ import annotations

from deia.ledger.sql_files import read_statements
from deia.ledger.warehouse import Connection
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
