"""PostgreSQL with pgvector as an engine: half-precision vectors in a graph (HNSW), one table for each space.

A filter counts before the limit: the passages of the documents that pass are compared one by one. Without one, the
graph is followed until as many passages are found as are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar
from weakref import finalize

from deia.engines.engine import PATIENCE, SLOW, EngineError, Near, Shelf, Stats, missing, problem

# Of a catalog's 30 nearest passages, a graph with pgvector's own 16 and 64 finds nearly all if it looks at 100.
LOOKED_AT = 100
MEMORY = "2GB"  # for making the graph, which becomes many times slower if it does not fit: 1 GB held 850,000 x 384
ABOUT = """create extension if not exists vector;
create table if not exists deia_spaces (space text primary key, state text not null)"""
TABLES = """create table if not exists {space} (document text, ordinal int, vector halfvec({dimensions}) not null,
    primary key (document, ordinal));
create table if not exists {space}_documents (document text primary key, mark text not null);
insert into deia_spaces values ('{space}', '') on conflict do nothing"""
NEAREST = """select document, ordinal, 1 - (vector <=> %(vector)s::halfvec) from {space}
where (select state from deia_spaces where space = '{space}') = %(state)s
order by vector <=> %(vector)s::halfvec limit %(limit)s"""
AMONG = """with passing as materialized (select document, ordinal, vector <=> %(vector)s::halfvec as distance
    from {space}
    where document = any(%(among)s) and (select state from deia_spaces where space = '{space}') = %(state)s)
select document, ordinal, 1 - distance from passing order by distance, document, ordinal limit %(limit)s"""
COUNTS = "select (select count(*) from {space}_documents), (select count(*) from {space})"
STATE = "select state from deia_spaces where space = %s"
SETTINGS = f"""set hnsw.ef_search = {LOOKED_AT}; set hnsw.iterative_scan = strict_order;
set hnsw.max_scan_tuples = 1000000; set statement_timeout = '{SLOW}s'"""
GONE = {
    "tcp_user_timeout": SLOW * 1000,
    "keepalives": 1,
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 3,
}  # so that a machine that is gone is noticed as soon as a slow one
Connection: TypeAlias = Any  # psycopg's, or a cursor of it; it is an extra
Found = TypeVar("Found")
LOCK = 0x64656961  # whoever makes tables; PostgreSQL's "if not exists" is no promise among several


def connected(address: str) -> Connection:
    """Return a connection that commits each statement; raise EngineError if there is none within a few seconds."""
    try:
        import psycopg  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing("psycopg, which speaks to PostgreSQL,", "postgres") from error
    try:
        connection = psycopg.connect(
            address, autocommit=True, connect_timeout=PATIENCE, application_name="deia", **GONE
        )
    except psycopg.ProgrammingError as error:
        raise problem(address, error, wrong_address=True) from None
    except psycopg.Error as error:
        raise problem(address, error) from None
    return connection


class PostgresEngine:
    """One space in PostgreSQL."""

    def __init__(self, address: str, space: str, dimensions: int) -> None:
        """Connect, and make the tables if they are not there."""
        self._address, self._space, self._dimensions = address, space, dimensions
        self._connection = connected(address)
        self._closing = finalize(self, self._connection.close)
        self._asked(self._prepare)

    def upsert(self, shelves: Sequence[Shelf]) -> None:
        """Put documents there, each instead of what was there of it; all of them or none."""

        def put(connection: Connection) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                self._emptied(cursor, [shelf.document for shelf in shelves])
                with cursor.copy(f"copy {self._space} from stdin") as rows:
                    for shelf in shelves:
                        for passage in shelf.passages:
                            rows.write_row((shelf.document, passage.ordinal, written(passage.vector)))
                with cursor.copy(f"copy {self._space}_documents from stdin") as rows:
                    for shelf in shelves:
                        rows.write_row((shelf.document, shelf.mark))

        self._slowly(put)

    def delete(self, documents: Collection[str]) -> None:
        """Remove documents."""

        def remove(connection: Connection) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                self._emptied(cursor, list(documents))

        self._slowly(remove)

    def search(
        self, vector: Sequence[float], *, limit: int, among: Collection[str] | None = None, state: str = ""
    ) -> list[Near]:
        """Return the nearest passages of some documents or of all, nearest first, or none if the state is another."""
        values = {"vector": written(vector), "limit": limit, "state": state}
        query = (NEAREST if among is None else AMONG).format(space=self._space)
        if among is not None:
            values["among"] = list(among)
        rows = self._asked(lambda connection: connection.execute(query, values).fetchall())
        return [Near(document=document, ordinal=ordinal, cosine=cosine) for document, ordinal, cosine in rows]

    def state(self) -> str:
        """Return which state is there as a whole, at once."""
        row = self._asked(lambda connection: connection.execute(STATE, (self._space,)).fetchone())
        return str(row[0]) if row else ""

    def stats(self) -> Stats:
        """Return how much is there, which may take long."""
        query = COUNTS.format(space=self._space)
        documents, passages = self._slowly(lambda connection: connection.execute(query).fetchone())
        return Stats(documents=documents, passages=passages, state=self.state())

    def marks(self) -> Mapping[str, str]:
        """Return the mark of every document."""
        query = f"select document, mark from {self._space}_documents"  # noqa: S608 - a name of our own
        return dict(self._slowly(lambda connection: connection.execute(query).fetchall()))

    def settle(self, state: str) -> None:
        """Write down which state is there as a whole, with a graph over all of it."""
        index = f"create index if not exists {self._space}_near on {self._space} using hnsw (vector halfvec_cosine_ops)"

        def write(connection: Connection) -> None:
            if state:
                connection.execute(index)
                connection.execute(f"analyze {self._space}")
            connection.execute("update deia_spaces set state = %s where space = %s", (state, self._space))

        self._slowly(write)

    def close(self) -> None:
        """Let the connection go."""
        self._closing()

    def _prepare(self, connection: Connection) -> None:
        tables = TABLES.format(space=self._space, dimensions=self._dimensions)
        is_there = "select to_regclass(%s) is not null and to_regclass('deia_spaces') is not null"
        if not connection.execute(is_there, (f"{self._space}_documents",)).fetchone()[0]:
            with connection.transaction():
                connection.execute("select pg_advisory_xact_lock(%s)", (LOCK,))
                connection.execute(ABOUT)
                connection.execute(tables)
        connection.execute(SETTINGS)

    def _emptied(self, cursor: Connection, documents: list[str]) -> None:
        for table in (self._space, f"{self._space}_documents"):
            cursor.execute(f"delete from {table} where document = any(%s)", (documents,))  # noqa: S608 - as above

    def _slowly(self, ask: Callable[[Connection], Found]) -> Found:
        """Ask for what may take long, such as building the graph."""

        def unhurried(connection: Connection) -> Found:
            with connection.transaction():
                connection.execute(f"set local statement_timeout = 0; set local maintenance_work_mem = '{MEMORY}'")
                return ask(connection)

        return self._asked(unhurried)

    def _asked(self, ask: Callable[[Connection], Found]) -> Found:
        """Return what an asker finds, once more over a new connection if the old one was cut."""
        import psycopg  # noqa: PLC0415 - an extra

        try:
            return ask(self._connection)
        except psycopg.OperationalError as error:
            if not self._connection.broken:
                raise problem(self._address, error) from None
        except psycopg.Error as error:
            raise problem(self._address, error) from None
        self._closing()
        self._connection = connected(self._address)
        self._closing = finalize(self, self._connection.close)
        try:
            if ask != self._prepare:
                self._prepare(self._connection)
            return ask(self._connection)
        except psycopg.Error as error:
            raise problem(self._address, error) from None


def written(vector: Sequence[float]) -> str:
    """Return a vector as pgvector reads it; raise EngineError if it is none."""
    if not all(-2 < value < 2 for value in vector):
        raise EngineError("a vector is not of unit length", fix="Type: deia compile --force")
    return f"[{','.join([f'{value:.6g}' for value in vector])}]"


def storable(text: str) -> str:
    """Return a text as PostgreSQL can keep it."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")
