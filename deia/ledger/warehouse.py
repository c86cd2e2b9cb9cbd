"""The ledger as tables: DuckDB views over the segments and the Parquet files of one or several machines, read only.

The segments are taken in once, when the warehouse is opened; Parquet is read as it is asked for. No lock is taken and
nothing is kept: a report neither blocks a writer nor is blocked. Broken lines are counted and left out. Refuses, to
whoever asks in SQL, every file outside the ledger, every statement but a question, and every change of its settings.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Timer
from typing import Any, TypeVar

from deia.errors import CommonsError, QueryError
from deia.ledger.segments import Parts, find_parts
from deia.ledger.warehouse_schema import COLUMNS, FIELDS, IDS, TYPES, VIEWS
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    import duckdb

    T = TypeVar("T")

MEMORY = "1GB"  # what DuckDB may use before it goes to disk
THREADS = 4  # at most: a report is no reason to take a whole machine
STAGED = 256_000_000  # bytes of segments from which they are staged on disk and not in memory
MOST_ROWS = 100_000  # of an answer to a question in SQL
SECONDS = 30.0  # that an answer to a question in SQL may take
MOST_MEMORY = 2_000_000_000  # bytes that it may take besides
ATTEMPTS = 3  # of a report whose files were compacted under it


class Table(Record):
    """Rows with the names of their columns, as SQL gave them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    cut: bool = False  # whether there were more rows than are told


@contextmanager
def open_warehouse(
    folders: Sequence[str], *, since: str = "", memory: str = MEMORY
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the ledgers in some folders as one; give a connection that has `events`, `damage` and the views of VIEWS.

    `since` is a time as the ledger writes it; earlier events are left out, and files that hold none later are not read:
    segments by their names, of Parquet the groups of rows by their statistics. The connection reads nothing but the
    ledger's own files, and its settings are locked.

    Raises:
        duckdb.IOException: a file was compacted away between being found and being read; `read_through` tries again.
    """
    import duckdb  # noqa: PLC0415 - as above

    parts = find_parts(folders, since=since)
    scratch = tempfile.mkdtemp(prefix="deia-warehouse-")
    connection = duckdb.connect(":memory:")
    try:
        connection.execute(f"SET temp_directory = {quoted(scratch)}")
        connection.execute(f"SET memory_limit = {quoted(memory)}")
        connection.execute(f"SET threads = {min(os.cpu_count() or 1, THREADS)}")
        connection.execute("SET preserve_insertion_order = false")
        staged = _take_in(connection, parts, scratch)
        _define(connection, parts, since)
        _lock(connection, [*(part.path for part in parts.parquet), *staged])
        yield connection
    finally:
        connection.close()
        shutil.rmtree(scratch, ignore_errors=True)


def read_through(folders: Sequence[str], work: Callable[[duckdb.DuckDBPyConnection], T], *, since: str = "") -> T:
    """Open a warehouse and do some work on it; again where the ledger was compacted meanwhile.

    Raises:
        CommonsError: the ledger cannot be read.
    """
    import duckdb  # noqa: PLC0415 - as above

    for attempt in range(1, ATTEMPTS + 1):
        try:
            with open_warehouse(folders, since=since) as connection:
                return work(connection)
        except duckdb.Error as error:
            if attempt == ATTEMPTS or not isinstance(error, duckdb.IOException):
                fix = "If it is memory, ask for less with --since, or type: deia telemetry compact"
                raise CommonsError(f"the ledger cannot be read: {error}", where=folders[0], fix=fix) from error
    raise AssertionError(ATTEMPTS)


def ask(connection: duckdb.DuckDBPyConnection, sql: str, given: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Give the rows of a question that deia itself asks."""
    return connection.execute(sql, list(given)).fetchall()


def ask_freely(
    connection: duckdb.DuckDBPyConnection, sql: str, *, most: int = MOST_ROWS, seconds: float = SECONDS
) -> Table:
    """Give the answer to a question that a person wrote in SQL.

    Raises:
        QueryError: it is no question (only SELECT and its like are), more than one, DuckDB cannot answer it, or it
            takes more time or memory than it may.
    """
    import duckdb  # noqa: PLC0415 - 100 ms, and only reports need it

    try:
        statements = connection.extract_statements(sql)
        kinds = {statement.type for statement in statements}
        if len(statements) != 1 or not kinds <= {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN}:
            raise QueryError(
                "one question is wanted, beginning with SELECT, FROM, WITH, DESCRIBE, SUMMARIZE or EXPLAIN",
                fix='Type: deia telemetry sql "SELECT event, count(*) FROM events GROUP BY event"',
            )
        with _bounded(connection, seconds):
            answer = connection.execute(statements[0])
            rows = answer.fetchmany(most + 1)
    except duckdb.InterruptException as error:
        fix = "Ask for less (WHERE, LIMIT, --since), or give it longer with --seconds."
        raise QueryError(f"no answer within {seconds:g} seconds", fix=fix) from error
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        fix = "Ask for less: WHERE, LIMIT, --since, or fewer columns."
        raise QueryError("the answer takes more memory than a question may", fix=fix) from error
    except duckdb.Error as error:
        raise QueryError(str(error).strip(), fix="The tables: deia telemetry sql --tables") from error
    columns = tuple(column[0] for column in answer.description or ())
    return Table(columns=columns, rows=tuple(rows[:most]), cut=len(rows) > most)


@contextmanager
def _bounded(connection: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
    """Interrupt what takes longer, and give it no more memory than `MOST_MEMORY` beside what is taken now.

    DuckDB's own limit counts its buffers and not what one function makes: repeat('x', 2000000000) goes past it.
    """
    timer = Timer(seconds, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        with _little_memory():
            yield
    finally:
        timer.cancel()


@contextmanager
def _little_memory() -> Iterator[None]:
    """Hold this process to a little more memory than it has, where the system can (Linux)."""
    if sys.platform != "linux":
        yield
        return
    import resource  # noqa: PLC0415 - not every system has it

    before = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm", "rb") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    known = [limit for limit in before if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([taken + MOST_MEMORY, *known]), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def quoted(text: str) -> str:
    """Write a text as SQL does."""
    return "'" + text.replace("'", "''") + "'"


def _take_in(connection: duckdb.DuckDBPyConnection, parts: Parts, scratch: str) -> list[str]:
    """Read the segments into a table, or onto disk where they are large; give the files that this made."""
    segments = [part.path for part in parts.segments]
    empty = ", ".join(f'NULL::{kind} AS "{name}"' for name, kind in TYPES.items())
    connection.execute(f"CREATE TABLE nothing AS SELECT {empty} LIMIT 0")
    connection.execute("CREATE TABLE damage (source VARCHAR, lines BIGINT)")
    if parts.damaged:
        connection.executemany("INSERT INTO damage VALUES (?, 0)", [[part.name] for part in parts.damaged])
    if not segments:
        connection.execute("CREATE TABLE recent AS FROM nothing")
        return []
    if sum(part.size for part in parts.segments) < STAGED:
        connection.execute(f"CREATE TABLE taken AS {typed(segments, broken=True)}")
        connection.execute("CREATE VIEW recent AS SELECT * FROM taken WHERE line IS NOT NULL")
        connection.execute("INSERT INTO damage SELECT source, count(*) FROM taken WHERE line IS NULL GROUP BY 1")
        return []
    staged = os.path.join(scratch, "segments.parquet")
    connection.execute(f"COPY ({typed(segments, broken=True)}) TO {quoted(staged)} (FORMAT parquet)")
    connection.execute(f"CREATE VIEW recent AS SELECT * FROM read_parquet({quoted(staged)}) WHERE line IS NOT NULL")
    connection.execute(
        f"INSERT INTO damage SELECT source, count(*) FROM read_parquet({quoted(staged)}) WHERE line IS NULL GROUP BY 1"
    )
    return [staged]


def typed(segments: Sequence[str], *, broken: bool = False) -> str:
    """Give the question that reads segments as events; with `broken`, lines that are none as rows without a line."""
    shape = "{" + ", ".join(f'"{name}": "{kind}"' for name, kind in FIELDS.items()) + "}"
    ids = {f"ids_{name}": IDS.format(name) for name in ("docs", "results")}
    columns = {name: sql.format(**ids) if name == "docs" else sql for name, sql in COLUMNS.items()}
    told = ", ".join(
        f'{sql} AS "{name}"' if name != "line" else f"CASE WHEN sound THEN {sql} END AS line"
        for name, sql in columns.items()
    )
    files = f"[{', '.join(map(quoted, segments))}]"
    return (
        f"SELECT {told} FROM (SELECT json, filename, json IS NOT NULL AND json_type(json) = 'OBJECT' AS sound,"
        f" json_transform(CASE WHEN json_type(json) = 'OBJECT' THEN json END, {quoted(shape)}) AS f"
        f" FROM read_ndjson_objects({files}, ignore_errors=true, filename=true))" + ("" if broken else " WHERE sound")
    )


def _define(connection: duckdb.DuckDBPyConnection, parts: Parts, since: str) -> None:
    columns = ", ".join(f'"{name}"' for name in COLUMNS)
    packed = [quoted(part.path) for part in parts.parquet]
    both = f"SELECT {columns} FROM recent"
    if packed:
        read = f"SELECT * FROM read_parquet([{', '.join(packed)}], union_by_name=true)"
        older = f"SELECT * FROM nothing UNION ALL BY NAME {read}"
        both += f" UNION ALL SELECT {columns} FROM ({older})"
    kept = f" WHERE ts >= {quoted(since)}::TIMESTAMP" if since else ""
    connection.execute(f"CREATE VIEW events AS SELECT * FROM ({both}){kept}")
    for name, view in VIEWS.items():
        connection.execute(f"CREATE VIEW {name} AS {view.sql}")


def _lock(connection: duckdb.DuckDBPyConnection, paths: Sequence[str]) -> None:
    """Close every way out of the ledger for whoever asks in SQL."""
    connection.execute(f"SET allowed_paths = [{', '.join(map(quoted, paths))}]")
    for setting in (
        "python_enable_replacements = false", "autoinstall_known_extensions = false",
        "autoload_known_extensions = false", "allow_community_extensions = false", "enable_external_access = false",
        "lock_configuration = true",
    ):  # fmt: skip
        connection.execute(f"SET {setting}")
