"""The library of a commons: its sources, their files, and what was read and cut of them, in one SQLite database.

It is the person's own, in their state folder and never in a repository, and belongs to a commons by the commons' real
path, as compiled files do. Texts and chunks are kept by content, so that a file that was only moved is not read again.
What was committed survives a kill; the file `revision` beside the database tells searches that something changed.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import zlib
from contextlib import contextmanager
from datetime import UTC, datetime

from deia import files
from deia.folders import LIBRARY_PREFIX, LIBRARY_SOURCES, LIBRARY_STATE, library_folder
from deia.ingest.chunk_rows import packed
from deia.ingest.naming import named
from deia.ingest.source import FOLDER, Found, Source, SourceError, without_password
from deia.records import TYPE_CHECKING, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, Self

    from deia.fast_json import Json
    from deia.ingest.reading import Reading
    from deia.knowledge import Chunk

DATABASE = "library.sqlite"
TIER_OF = "tier:"  # begins the name under which the tier of a collection is stored
PLACES = ("anchors", "links")  # of a page: each a name or an address, with its line
PENDING, PROCESSING, PROCESSED, FAILED = "pending", "processing", "processed", "failed"
READ, SKIPPED = "read", "skipped"  # of a file, beside FAILED
TAKEN = "The source {} of the same collection has a document of this name; choose another collection for one of them."
EVER = -1  # the revision after which everything changed
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
PATIENCE = 30.0  # seconds to wait for another process to finish writing
HAS_FILES = "select exists (select 1 from files where source = ?)"
EMPTY = {"empty": "yes"}  # said of a source of which no file is known
ABOUT = "select value from about where name = ?"
SCHEMA = """
create table if not exists about (name text primary key, value);
create table if not exists sources (name text primary key, fields text, prefix text unique, status text, error text,
    checked text, mark text);
create table if not exists files (source text, path text, stamp text, content text, state text, note text,
    primary key (source, path)) without rowid;
create table if not exists documents (id text primary key, source text, path text, title text, type text, tags text,
    updated text, content text, chunks integer, revision integer);
create index if not exists documents_of on documents (source, path);
create index if not exists documents_since on documents (revision);
create table if not exists removed (id text primary key, revision integer);
create table if not exists contents (key text primary key, body blob);
"""


class Registered(Record):
    """A source of the registry, and its status."""

    source: Source
    prefix: str  # what the paths of its documents begin with
    status: str = PENDING
    error: str = ""
    checked: str = ""  # when it was last looked at
    mark: str = ""  # what the source itself calls its state: a commit
    documents: int = 0
    chunks: int = 0
    failed: int = 0
    skipped: int = 0

    def shown(self) -> Registered:
        """Return it as it may be shown: without the password in an address that an older deia kept."""
        place, error = (without_password(text, self.source.place) for text in (self.source.place, self.error))
        return self.but(source=self.source.but(place=place), error=error)


class Shelved(Record):
    """A document of the library, without its text."""

    id: str
    title: str
    type: str
    tags: tuple[str, ...]
    updated: str
    content: str  # the key of its text and chunks


class Kept(Record):
    """The text and the chunks of a content."""

    text: str
    rows: tuple[tuple[Json, ...], ...]  # each chunk as `packed` returns it
    anchors: Sequence[tuple[str, int]] = ()  # of a page: a name that links lead to, with its line
    links: Sequence[tuple[str, int]] = ()  # where a line links to
    type: str = ""  # as a reading has it
    language: str = ""


def library_at(root: str, environ: Mapping[str, str], *, only: Sequence[str] = ()) -> Library | None:
    """Return the library of a commons if it has one, or some collections of it."""
    folder = library_folder(root, environ)
    return Library(folder, only=only) if files.exists(f"{folder}/{DATABASE}") else None


class Library:
    """An open library; it may not be shared between threads."""

    def __init__(self, folder: str, *, only: Sequence[str] = ()) -> None:
        """Open the library in a folder, or make one; raise SourceError if that is impossible.

        If `only` names collections, documents for a catalog are read from these alone.
        """
        self.folder = folder
        self._places = tuple(f"{LIBRARY_PREFIX}{name}/" for name in only) or ("",)
        self._changed = False
        try:
            if not files.make_folders(folder):
                raise SourceError("the library cannot be written", where=folder, fix="Check its permissions.")
            self._database = sqlite3.connect(f"{folder}/{DATABASE}", timeout=PATIENCE, isolation_level=None)
            self._database.execute("pragma journal_mode = wal")
            self._database.executescript(SCHEMA)
            fresh = [("token", secrets.token_hex(8)), ("revision", 0)]
            self._database.executemany("insert or ignore into about values (?, ?)", fresh)
        except sqlite3.Error as error:
            fix = f"Get write permission for {folder}, and see that there is space."
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGED:  # whatever is whole must not be removed
                fix = f"It is damaged: remove {folder} and take your sources in again."
            raise SourceError(f"the library cannot be opened: {error}", where=folder, fix=fix) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def copied(self, folder: str) -> Library:
        """Return a copy of the library in another folder, to try something on."""
        copy = Library(folder)
        self._database.backup(copy._database)
        return copy

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what is written in the block as a whole, or not at all."""
        self._database.execute("begin immediate")
        try:
            yield
            if self._changed:
                self._database.execute("update about set value = value + 1 where name = 'revision'")
            self._database.execute("commit")
        finally:
            self._changed = False
            if self._database.in_transaction:
                self._database.execute("rollback")

    def publish(self) -> None:
        """Tell searches that the library changed, if it did since the last time, and the status of its sources."""
        state = self.state.encode()
        if files.read(f"{self.folder}/{LIBRARY_STATE}") != state:
            files.replace(f"{self.folder}/{LIBRARY_STATE}", state)
        stands = {
            one.source.name: {
                "status": one.status, "error": one.error, "place": one.source.place, "kind": one.source.kind,
                **({} if self._row(HAS_FILES, one.source.name)[0] else EMPTY),
            }
            for one in map(Registered.shown, self.registry())
        }  # fmt: skip
        files.replace(f"{self.folder}/{LIBRARY_SOURCES}", json.dumps(stands).encode())

    @property
    def state(self) -> str:
        """The library's token and its revision: what was compiled from a state need not be compiled again."""
        return f"{self._row(ABOUT, 'token')[0]}:{self.revision}"

    @property
    def revision(self) -> int:
        """How many changes were committed."""
        return int(self._row(ABOUT, "revision")[0])

    def _row(self, sql: str, *values: object) -> tuple[Any, ...]:
        row: tuple[Any, ...] = self._database.execute(sql, values).fetchone()
        return row

    # --- the registry ---

    def registry(self) -> list[Registered]:
        """Return every source, by name, without the numbers of its documents, chunks and files."""
        rows = self._database.execute(
            "select name, fields, prefix, status, error, checked, mark from sources order by name"
        ).fetchall()
        return [
            Registered(source=_source(fields), prefix=prefix, status=status, error=error, checked=checked, mark=mark)
            for _, fields, prefix, status, error, checked, mark in rows
        ]

    def sources(self) -> list[Registered]:
        """Return every source, by name, with these numbers: counting takes 8 ms for 20,000 files."""
        sql = "select source, count(*), sum(chunks) from documents group by 1"
        counts = {name: counts for name, *counts in self._database.execute(sql)}
        sql = "select source, state, count(*) from files group by 1, 2"
        states: dict[tuple[str, str], int] = {(name, at): count for name, at, count in self._database.execute(sql)}
        return [
            registered.but(
                documents=counts.get(name := registered.source.name, (0, 0))[0], chunks=counts.get(name, (0, 0))[1],
                failed=states.get((name, FAILED), 0), skipped=states.get((name, SKIPPED), 0),
            )
            for registered in self.registry()
        ]  # fmt: skip

    def named(self, source: Source) -> Source:
        """Return a source with its name and collection, as `naming.named` gives them."""
        return named(source, [one.source for one in self.registry()])

    def register(self, source: Source) -> Registered:
        """Add a source to the registry, or update the fields of the one that it is; return it as registered."""
        source = self.named(source)
        before = next((registered for registered in self.registry() if registered.source.name == source.name), None)
        taken = {registered.prefix for registered in self.registry() if registered.source.name != source.name}
        prefix = f"{source.collection}/"
        prefix = f"{prefix}{source.name}/" if prefix in taken else prefix
        fields = json.dumps(source.values())
        with self.transaction():
            if before and (before.source.values() != source.values() or before.prefix != prefix):
                self._database.execute("update files set stamp = '' where source = ?", (source.name,))
            self._database.execute(
                "insert into sources values (?, ?, ?, ?, '', '', '') on conflict (name) do update set"
                " fields = excluded.fields, prefix = excluded.prefix, mark = ''",
                (source.name, fields, prefix, PENDING),
            )
        self.publish()
        return next(registered for registered in self.registry() if registered.source.name == source.name)

    def set_status(self, name: str, status: str, *, error: str = "", mark: str | None = None) -> None:
        """Record the status of a source, and its own mark."""
        checked = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._database.execute(
            "update sources set status = ?, error = ?, checked = ?, mark = coalesce(?, mark) where name = ?",
            (status, error, checked, mark, name),
        )

    def remove_source(self, name: str) -> None:
        """Take a source out of the registry, and its documents out of the library."""
        with self.transaction():
            self._drop(name, self._database.execute("select path from files where source = ?", (name,)).fetchall())
            self._database.execute("delete from sources where name = ?", (name,))
            self._sweep()

    def tiers(self) -> dict[str, str]:
        """Return the tiers that were set for collections."""
        rows = self._database.execute("select name, value from about where name like ?", (f"{TIER_OF}%",)).fetchall()
        return {name.removeprefix(TIER_OF): value for name, value in rows}

    def set_tier(self, collection: str, tier: str) -> None:
        """Set the tier of a collection, or remove it."""
        with self.transaction():
            self._database.execute("delete from about where name = ?", (f"{TIER_OF}{collection}",))
            if tier:
                self._database.execute("insert into about values (?, ?)", (f"{TIER_OF}{collection}", tier))
            self._changed = True
        self.publish()

    # --- files and documents ---

    def known(self, source: str) -> dict[str, tuple[str, str, str]]:
        """Return the stamp, the content's key and the state of every file of a source, by path."""
        rows = self._database.execute("select path, stamp, content, state from files where source = ?", (source,))
        return {path: (stamp, content, state) for path, stamp, content, state in rows}

    def notes(self, source: str) -> list[tuple[str, str, str]]:
        """Return the path, the state and the note of every file of a source about which there is something to say."""
        sql = "select path, state, note from files where source = ? and note != '' order by path"
        return self._database.execute(sql, (source,)).fetchall()

    def has(self, content: str) -> bool:
        """Return whether a content was read before."""
        return self._database.execute("select 1 from contents where key = ?", (content,)).fetchone() is not None

    def keep(self, content: str, reading: Reading, chunks: Sequence[Chunk]) -> None:
        """Keep what was read and cut of a content."""
        lines = reading.text.split("\n")
        title = "" if reading.title == os.path.basename(reading.path) else reading.title
        body = {
            "title": title, "type": reading.type, "language": reading.language, "text": reading.text,
            "notes": list(reading.notes), "chunks": [packed(chunk, lines) for chunk in chunks],
            **{name: reading.metadata[name] for name in PLACES if name in reading.metadata},
        }  # fmt: skip
        data = zlib.compress(json.dumps(body).encode(), 1)
        before = self._database.execute("select body from contents where key = ?", (content,)).fetchone()
        if before and before[0] != data:  # read again, by another reader or chunker
            sql = "update documents set revision = ?, chunks = ? where content = ?"
            self._changed = bool(self._database.execute(sql, (self.revision + 1, len(chunks), content)).rowcount)
        self._database.execute("insert or replace into contents values (?, ?)", (content, data))

    def put(self, registered: Registered, file: Found, content: str, *, state: str = READ, note: str = "") -> int:
        """Record a file, and its document if it was read and is not another source's; return how many chunks it has."""
        name, chunks = registered.source.name, 0
        if state == READ:
            body = self._body(content)
            chunks = len(body["chunks"])
            note = note or " ".join(body["notes"])
            tags = [tag for tag in (*registered.source.tags, body["language"]) if tag]
            ident = f"{LIBRARY_PREFIX}{registered.prefix}{file.path}"
            title = _storable(body["title"]) or os.path.basename(file.path)
            kept = (name, file.path, title, body["type"], json.dumps(tags), file.day, content, chunks)
            sql = "select source, path, title, type, tags, updated, content, chunks from documents where id = ?"
            before = self._database.execute(sql, (ident,)).fetchone()
            if before and before[0] != name:
                return self.put(registered, file, content, state=FAILED, note=TAKEN.format(before[0]))
            if before != kept:
                self._forget(name, [(file.path,)], but=ident)
                shelf = (ident, *kept, self.revision + 1)
                self._database.execute("insert or replace into documents values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", shelf)
                self._database.execute("delete from removed where id = ?", (ident,))
                self._changed = True
        else:
            self._forget(name, [(file.path,)])
        row = (name, file.path, file.stamp, content, state, _storable(note))
        self._database.execute("insert or replace into files values (?, ?, ?, ?, ?, ?)", row)
        return chunks

    def drop(self, source: str, paths: Iterable[str]) -> None:
        """Forget files that are gone, and what nothing needs any more."""
        self._drop(source, [(path,) for path in paths])
        self._sweep()

    def _drop(self, source: str, paths: Sequence[tuple[str]]) -> None:
        self._forget(source, paths)
        self._database.executemany("delete from files where source = ? and path = ?", [(source, at) for (at,) in paths])

    def _forget(self, source: str, paths: Sequence[tuple[str]], *, but: str = "") -> None:
        """Remove the documents of some files."""
        for (path,) in paths:
            sql = "select id from documents where source = ? and path = ? and id != ?"
            for (ident,) in self._database.execute(sql, (source, path, but)).fetchall():
                self._database.execute("delete from documents where id = ?", (ident,))
                self._database.execute("insert or replace into removed values (?, ?)", (ident, self.revision + 1))
                self._changed = True

    def _sweep(self) -> None:
        self._database.execute("delete from contents where key not in (select content from documents)")

    def _body(self, content: str) -> dict[str, Any]:
        (data,) = self._row("select body from contents where key = ?", content)
        body: dict[str, Any] = json.loads(zlib.decompress(data))
        return body

    def original(self, ident: str) -> str:
        """Return the file that a document was read from, or "" if its source is not a folder."""
        sql = "select fields, path from documents join sources on source = name where id = ?"
        row = self._database.execute(sql, (ident,)).fetchone()
        if row is None or (source := _source(row[0])).kind != FOLDER:
            return ""
        return source.place if os.path.isfile(source.place) else f"{source.place}/{row[1]}"

    # --- for the catalog ---

    def documents(self, since: int = EVER, *, source: str = "") -> list[Shelved]:
        """Return every document, or those that changed after a revision or are of a source, by id."""
        sql = """select id, title, type, tags, updated, content from documents
            where revision > ? and ? in ('', source) order by +id"""  # few changed: by the index of revisions
        return [
            Shelved(id=ident, title=title, type=kind, tags=tuple(json.loads(tags)), updated=updated, content=content)
            for ident, title, kind, tags, updated, content in self._database.execute(sql, (since, source))
            if ident.startswith(self._places)
        ]

    def passages(self, kind: str = "", *, since: int = EVER) -> int:
        """Return how many passages the documents have, or those of a type, or those that changed after a revision."""
        sql = "select coalesce(sum(chunks), 0) from documents where ? in ('', type) and revision > ?"
        return int(self._row(sql, kind, since)[0])

    def removed(self, since: int) -> list[str]:
        """Return the ids of the documents that were removed after a revision."""
        rows = self._database.execute("select id from removed where revision > ?", (since,))
        return [ident for (ident,) in rows if ident.startswith(self._places)]

    def kept(self, content: str) -> Kept:
        """Return the text and the chunks of a content."""
        body = self._body(content)
        anchors, links = (tuple(map(tuple, body.get(name, ()))) for name in PLACES)
        return Kept(
            text=str(body["text"]), rows=tuple(map(tuple, body["chunks"])), anchors=anchors, links=links,
            type=str(body["type"]), language=str(body["language"]),
        )  # fmt: skip


def _storable(text: str) -> str:
    """Return a text without lone surrogates, which SQLite cannot store."""
    return text.encode("utf-8", "replace").decode()


def _source(fields: str) -> Source:
    values: dict[str, Any] = json.loads(fields)
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return Source(**values)
