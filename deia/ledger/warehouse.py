"""The ledger as tables: read-only DuckDB views over the segments and Parquet files of one or several machines.

Segments are loaded when the warehouse is opened, Parquet files are read when they are queried. No lock is taken and
nothing is kept, so a report neither blocks a writer nor is blocked. Broken lines are counted and left out. A person's
own SQL can reach no file outside the ledger, run no statement but queries, and change no settings.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Timer
from typing import Any, TypeAlias, TypeVar

from deia.errors import QueryError
from deia.ledger.segments import Parts, find_parts, nameable
from deia.ledger.warehouse_schema import COLUMNS, FIELDS, IDS, PLAUSIBLE, TIME_LIKE, TYPES, VIEWS
from deia.problems import CommonsError
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    import duckdb

Connection: TypeAlias = "duckdb.DuckDBPyConnection"  # as a text, because importing DuckDB takes 100 ms
T = TypeVar("T")
Row = TypeVar("Row", bound=Record)

MEMORY = "400MB"  # that DuckDB may use before it goes to disk
THREADS = 2  # at most, so that a report does not occupy a whole machine
STAGED = 16_000_000  # bytes of segments from which they are staged on disk instead of in memory
MOST_ROWS = 100_000  # in the answer to a person's own SQL
SECONDS = 30.0  # that a person's own SQL may take
MOST_MEMORY = 2_000_000_000  # bytes that it may take in addition
Cells: TypeAlias = tuple[Any, ...]  # a row, as duckdb reads it
ATTEMPTS = 3  # of a report whose files were compacted while it read them


class Table(Record):
    """The result of a query: rows, and the names of the columns."""

    columns: tuple[str, ...]
    rows: tuple[Cells, ...]
    cut: bool = False  # whether there were more rows


@contextmanager
def open_warehouse(folders: Sequence[str], *, since: str = "") -> Iterator[Connection]:
    """Open the ledgers in some folders as one; yield a connection with `events`, `damage` and the views of VIEWS.

    Events before `since`, a time as the ledger writes it, are left out, and files without later ones are not read:
    segments by their names, row groups of Parquet files by their statistics. The connection reads only the ledger's own
    files, and its settings are locked. Raise duckdb.IOException if a file disappeared in a compaction before it could
    be read; `read_through` tries again.
    """
    import duckdb  # noqa: PLC0415 - 100 ms, and only reports need it

    scratch = tempfile.mkdtemp(prefix="deia-warehouse-")
    connection = duckdb.connect(":memory:")
    try:
        parts = find_parts([nameable(folder, scratch) for folder in folders], since=since)
        connection.execute(f"SET temp_directory = {quoted(scratch)}")
        connection.execute(f"SET memory_limit = {quoted(MEMORY)}")
        connection.execute(f"SET threads = {min(os.cpu_count() or 1, THREADS)}")
        connection.execute("SET preserve_insertion_order = false")
        staged = _load_segments(connection, parts, scratch)
        _create_views(connection, parts, since)
        _restrict(connection, [*(part.path for part in parts.parquet), *staged])
        yield connection
    finally:
        connection.close()
        shutil.rmtree(scratch, ignore_errors=True)


def read_through(folders: Sequence[str], work: Callable[[Connection], T], *, since: str = "") -> T:
    """Open a warehouse and return what `work` returns; try again if the ledger was compacted in the meantime."""
    import duckdb  # noqa: PLC0415 - 100 ms, and only reports need it

    for attempt in range(1, ATTEMPTS + 1):
        try:
            with open_warehouse(folders, since=since) as connection:
                return work(connection)
        except duckdb.Error as error:
            if attempt == ATTEMPTS or not isinstance(error, duckdb.IOException):
                fix = "If memory is short, ask for less with --since, or type: deia stats compact"
                raise CommonsError(f"the log cannot be read: {error}", where=folders[0], fix=fix) from error
    raise AssertionError(ATTEMPTS)


def ask(connection: Connection, sql: str, parameters: Sequence[object] = ()) -> list[Cells]:
    """Return the rows of a query that deia itself makes."""
    return connection.execute(sql, list(parameters)).fetchall()


def ask_records(
    connection: Connection, kind: type[Row], sql: str, parameters: Sequence[object] = ()
) -> tuple[Row, ...]:
    """Return the rows of a query that deia itself makes as records, whose fields have the names of the columns."""
    answer = connection.execute(sql, list(parameters))
    names = [column[0] for column in answer.description or ()]
    return tuple(kind(**dict(zip(names, row, strict=True))) for row in answer.fetchall())


def ask_freely(connection: Connection, sql: str, *, most: int = MOST_ROWS, seconds: float = SECONDS) -> Table:
    """Return the result of a query that a person wrote in SQL."""
    import duckdb  # noqa: PLC0415 - 100 ms, and only reports need it

    try:
        statements = connection.extract_statements(sql)
        kinds = {statement.type for statement in statements}
        if len(statements) != 1 or not kinds <= {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN}:
            raise QueryError(
                "expected one query that begins with SELECT, FROM, WITH, DESCRIBE, SUMMARIZE or EXPLAIN",
                fix='Type: deia stats sql "SELECT event, count(*) FROM events GROUP BY event"',
            )
        with _limited(connection, seconds):
            answer = connection.execute(statements[0])
            rows = answer.fetchmany(most + 1)
    except duckdb.InterruptException as error:
        fix = "Ask for less (WHERE, LIMIT, --since), or allow more time with --seconds."
        raise QueryError(f"no answer within {seconds:g} seconds", fix=fix) from error
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        fix = "Ask for less: WHERE, LIMIT, --since, or fewer columns."
        raise QueryError("the answer takes more memory than allowed", fix=fix) from error
    except duckdb.Error as error:
        raise QueryError(str(error).strip(), fix="To see the tables, type: deia stats sql --tables") from error
    columns = tuple(column[0] for column in answer.description or ())
    return Table(columns=columns, rows=tuple(rows[:most]), cut=len(rows) > most)


@contextmanager
def _limited(connection: Connection, seconds: float) -> Iterator[None]:
    """Interrupt a query that takes too long, and limit its additional memory to `MOST_MEMORY`."""
    # DuckDB's own limit covers its buffers but not the values of a single function, such as repeat('x', 2000000000).
    timer = Timer(seconds, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        with _limited_memory():
            yield
    finally:
        timer.cancel()


@contextmanager
def _limited_memory() -> Iterator[None]:
    """Limit this process to little more memory than it has now, where the system can (Linux)."""
    if sys.platform != "linux":
        yield
        return
    import resource  # noqa: PLC0415 - not every system has it

    before = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm", "rb") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    known = [limit for limit in before if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([used + MOST_MEMORY, *known]), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def quoted(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def _load_segments(connection: Connection, parts: Parts, scratch: str) -> list[str]:
    """Load the segments into a table, or into a file if they are large; return the files that this made."""
    segments = [part.path for part in parts.segments]
    empty = ", ".join(f'NULL::{kind} AS "{name}"' for name, kind in TYPES.items())
    connection.execute(f"CREATE TABLE nothing AS SELECT {empty} LIMIT 0")
    connection.execute("CREATE TABLE damage (source VARCHAR, lines BIGINT)")
    if parts.damaged:
        names = [part.name.encode("utf-8", "replace").decode() for part in parts.damaged]
        connection.executemany("INSERT INTO damage VALUES (?, 0)", [[name] for name in names])
    if not segments:
        connection.execute("CREATE TABLE recent AS FROM nothing")
        return []
    if sum(part.size for part in parts.segments) < STAGED:
        connection.execute(f"CREATE TABLE taken AS {events_sql(segments, broken=True)}")
        connection.execute("CREATE VIEW recent AS SELECT * FROM taken WHERE line IS NOT NULL")
        connection.execute("INSERT INTO damage SELECT source, count(*) FROM taken WHERE line IS NULL GROUP BY 1")
        return []
    staged = os.path.join(scratch, "segments.parquet")
    connection.execute(f"COPY ({events_sql(segments, broken=True)}) TO {quoted(staged)} (FORMAT parquet)")
    connection.execute(f"CREATE VIEW recent AS SELECT * FROM read_parquet({quoted(staged)}) WHERE line IS NOT NULL")
    connection.execute(
        f"INSERT INTO damage SELECT source, count(*) FROM read_parquet({quoted(staged)}) WHERE line IS NULL GROUP BY 1"
    )
    return [staged]


def events_sql(segments: Sequence[str], *, broken: bool = False) -> str:
    """Return the SELECT that reads segments as events; with `broken`, broken lines become rows without a `line`."""
    shape = "{" + ", ".join(f'"{name}": "{kind}"' for name, kind in FIELDS.items()) + "}"
    ids = {f"ids_{name}": IDS.format(name) for name in ("docs", "results")}
    columns = {name: sql.format(**ids) if name == "docs" else sql for name, sql in COLUMNS.items()}
    selected = ", ".join(
        f'{sql} AS "{name}"' if name != "line" else f"CASE WHEN sound THEN {sql} END AS line"
        for name, sql in columns.items()
    )
    files = f"[{', '.join(map(quoted, segments))}]"
    lines = (
        "SELECT json, filename, json IS NOT NULL AND json_type(json) = 'OBJECT' AS is_object,"
        f" json_transform(CASE WHEN json_type(json) = 'OBJECT' THEN json END, {quoted(shape)}) AS f"
        f" FROM read_ndjson_objects({files}, ignore_errors=true, filename=true)"
    )
    ts = COLUMNS["ts"]
    is_time = f"{PLAUSIBLE.format(ts)} AND NOT ({TIME_LIKE} AND {ts} IS NULL)"
    checked = f"SELECT *, is_object AND {is_time} AS sound FROM ({lines})"
    return f"SELECT {selected} FROM ({checked})" + ("" if broken else " WHERE sound")


def _create_views(connection: Connection, parts: Parts, since: str) -> None:
    columns = ", ".join(f'"{name}"' for name in COLUMNS)
    packed = [quoted(part.path) for part in parts.parquet]
    events = f"SELECT {columns} FROM recent"
    if packed:
        read = f"SELECT * FROM read_parquet([{', '.join(packed)}], union_by_name=true)"
        older = f"SELECT * FROM nothing UNION ALL BY NAME {read}"
        events += f" UNION ALL SELECT {columns} FROM ({older})"
    condition = f" WHERE {PLAUSIBLE.format('ts')}" + (f" AND ts >= {quoted(since)}::TIMESTAMP" if since else "")
    connection.execute(f"CREATE VIEW events AS SELECT * FROM ({events}){condition}")
    for name, view in VIEWS.items():
        connection.execute(f"CREATE VIEW {name} AS {view.sql}")


def _restrict(connection: Connection, paths: Sequence[str]) -> None:
    """Prevent a person's own SQL from reaching anything outside the ledger."""
    connection.execute(f"SET allowed_paths = [{', '.join(map(quoted, paths))}]")
    for setting in (
        "python_enable_replacements = false", "autoinstall_known_extensions = false",
        "autoload_known_extensions = false", "allow_community_extensions = false", "enable_external_access = false",
        "lock_configuration = true",
    ):  # fmt: skip
        connection.execute(f"SET {setting}")
