"""A queue of texts to be encoded and files to be read, in PostgreSQL: each is done at least once; repeats do no harm.

A worker locks what it takes (`for update skip locked`) until its results are committed, so what it leaves behind when
it is killed is free at once. The key of texts and vectors is the digest of model and text, that of files the digest of
their content and of how they are cut; the model of a file is what reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias
from weakref import finalize

from deia.engines.engine import address_of, problem
from deia.engines.postgres import LOCK, Connection, Found, connected, storable

TABLES = """create table if not exists deia_work (key bytea primary key, model text not null, body text not null,
    number bigint generated always as identity);
create index if not exists deia_work_next on deia_work (model, number);
create table if not exists deia_codes (key bytea primary key, codes bytea not null)"""
PUT = """insert into deia_work (key, model, body)
select key, model, body from unnest(%s::bytea[], %s::text[], %s::text[]) as new (key, model, body)
where not exists (select from deia_codes where deia_codes.key = new.key) on conflict do nothing"""
TAKE = """select key, body from deia_work where model = %s order by number limit %s for update skip locked"""
KEEP = "insert into deia_codes select * from unnest(%s::bytea[], %s::bytea[]) on conflict do nothing"
HERE = "postgres"
AT_ONCE = 1_000
Row: TypeAlias = tuple[Any, ...]  # as psycopg, which is an extra, reads its columns
ABANDONED = 120  # seconds of silence, after which what a worker took is free again: its machine may be gone


def is_shared(environ: Mapping[str, str]) -> bool:
    """Return whether there is a queue."""
    return address_of(environ).startswith(HERE)


class WorkQueue:
    """The queue of a database; every method raises EngineError if it is away."""

    def __init__(self, address: str) -> None:
        """Connect, and make the tables if they are not there."""
        self._address = address
        self._connection = connected(address)
        self._closing = finalize(self, self._connection.close)
        self._asked(_prepared)

    def put(self, model: str, texts: Mapping[bytes, str]) -> None:
        """Put texts into the queue, except those that are there or done, without what PostgreSQL cannot store."""
        rows = [(key, model, storable(text)) for key, text in texts.items()]
        for start in range(0, len(rows), AT_ONCE):
            self._rows(PUT, [list(column) for column in zip(*rows[start : start + AT_ONCE], strict=True)])

    def work(self, model: str, most: int, encode: Callable[[Sequence[str]], Sequence[bytes]]) -> int:
        """Take some texts and store their vectors; return how many. Until that is committed, nobody else takes them."""

        def turn(connection: Connection) -> int:
            with connection.transaction():
                rows = connection.execute(TAKE, (model, most)).fetchall()
                if rows:
                    keys = [key for key, _ in rows]
                    connection.execute(KEEP, (keys, list(encode([text for _, text in rows]))))
                    connection.execute("delete from deia_work where key = any(%s)", (keys,))
            return len(rows)

        return self._asked(turn)

    def finished(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the vectors of those texts that are done."""
        query = "select key, codes from deia_codes where key = any(%s)"
        vectors: dict[bytes, bytes] = {}
        for start in range(0, len(keys), AT_ONCE):
            vectors.update(self._rows(query, (list(keys[start : start + AT_ONCE]),)))
        return vectors

    def forget(self, keys: Sequence[bytes]) -> None:
        """Remove pieces and their results."""
        self._rows("delete from deia_work where key = any(%s)", (list(keys),))
        self._rows("delete from deia_codes where key = any(%s)", (list(keys),))

    def waiting(self, model: str) -> int:
        """Return how many texts are not done."""
        return int(self._rows("select count(*) from deia_work where model = %s", (model,))[0][0])

    def close(self) -> None:
        """Close the connection; what was taken and is not done is free again."""
        self._closing()

    def _rows(self, query: str, values: Sequence[object]) -> list[Row]:
        """Return the rows of a statement, if it has any."""

        def ask(connection: Connection) -> list[Row]:
            cursor = connection.execute(query, values)
            return cursor.fetchall() if cursor.description else []

        return self._asked(ask)

    def _asked(self, ask: Callable[[Connection], Found]) -> Found:
        import psycopg  # noqa: PLC0415 - an extra

        try:
            return ask(self._connection)
        except psycopg.Error as error:
            raise problem(self._address, error) from None


def _prepared(connection: Connection) -> None:
    connection.execute(f"set idle_in_transaction_session_timeout = '{ABANDONED}s'")
    with connection.transaction():
        connection.execute("select pg_advisory_xact_lock(%s)", (LOCK,))
        connection.execute(TABLES)
