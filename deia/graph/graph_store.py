"""The graph of a commons and its library: entities and relations with their evidence, in one SQLite database.

It is made of the facts of each document, and can be made again at any time. What a reference leads to is decided
again when a name that is part of it comes or goes, so the same documents give the same graph in whatever order.
"""

from __future__ import annotations

import functools
import itertools
import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from deia import files
from deia.collecting import uncollected
from deia.errors import DeiaError
from deia.fast_json import Json
from deia.graph.facts import CERTAINTIES, DOCUMENT, MODULE, PACKAGE, Entity, Facts
from deia.graph.graph_changes import Changes
from deia.graph.reaching import PATHS, reach
from deia.graph.resolving import Missing, Names, last_part, resolve
from deia.graph.schema import Schema, read_schema
from deia.tables import text_beside

DATABASE = "graph.sqlite"
SCHEMA, MERGES, FOUND_BY = "schema", "merges", "extractor"  # names of rows in `about`; the first two hold JSON
FORMAT = "5"
PATIENCE = 30.0  # seconds to wait for another process that writes
CACHE = -64_000  # kB of pages that a writer keeps
SAME = {"CONCEPT": "SERVICE"}  # a concept in prose is the service of its name, and has that type where there is one
FEW = 100  # documents that are asked for one by one
BULK = 3_000  # references beyond which every name is read at once

UPDATE = """update entities set name = ?1, folded = ?2, last = ?3, type = iif(?4 = 'CONCEPT', type, ?4),
    description = iif(shared and ?5 = '', description, ?5)
    where id = ?6 and (name, type, description) is not (?1, ?4, ?5)"""
NAMING = """select documents.name from entities join places on places.entity = entities.id join documents
    on documents.id = places.document where key in (?1, ?2) union select documents.name from refs join documents
    on documents.id = refs.document where target_type != '' and target collate nocase in (?3, ?4)"""
# The fields of an entity by each document, the last by name first.
FIELDS = """iif(exists (select 1 from places where entity = {0} and fields != ''),
    (select json_group_array(fields) from (select fields from places join documents on documents.id = places.document
    where places.entity = {0} and fields != '' order by documents.name desc)), '[]')"""
NO_FIELDS = "[]"  # most entities have none
INSERT = """insert into entities (id, name, folded, last, type, description, key, shared, document)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?)"""


class GraphError(DeiaError):
    """The graph cannot be opened or asked."""


class Graph:
    """An open graph; not for several threads at the same time."""

    def __init__(self, folder: str) -> None:
        """Open the graph in a folder, or make one; raise GraphError if that is impossible."""
        self.folder = folder
        self._schema: Schema | None = None
        self._merges: Mapping[str, Sequence[str]] | None = None
        try:
            files.make_folders(folder)
            self.database = sqlite3.connect(
                f"{folder}/{DATABASE}", timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
            self.database.execute("pragma synchronous = normal")
            self._changes = Changes(self.database)
            if self.about("format") != FORMAT:
                self._begin_anew()
        except sqlite3.Error as error:
            raise self._broken(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _at: object) -> None:
        self.database.close()
        if isinstance(error, sqlite3.Error):
            raise self._broken(error) from error

    def _broken(self, error: sqlite3.Error) -> GraphError:
        fix = f"Remove {self.folder}/{DATABASE}; it is made again when it is needed."
        return GraphError(f"the graph cannot be read: {error}", where=self.folder, fix=fix)

    def _begin_anew(self) -> None:
        run = self.database.execute
        run("pragma journal_mode = wal")
        run("begin immediate")
        for (name,) in run("select name from sqlite_master where type = 'table'").fetchall():
            run(f'drop table "{name}"')
        self._run_all(".sql")
        run("insert or replace into about values ('format', ?)", (FORMAT,))
        run("commit")

    def _run_all(self, ending: str) -> None:
        """Run the statements of the file beside this one."""
        for statement in filter(str.strip, text_beside(__file__, ending).split(";")):
            self.database.execute(statement)

    def index(self) -> None:
        """Create the missing indexes of names and relations; once much is written, this takes half the time."""
        self._run_all(".indexes.sql")

    def about(self, name: str) -> str:
        """Return what was written about the graph under a name, such as the state of a part of it; or ""."""
        try:
            row = self.database.execute("select value from about where name = ?", (name,)).fetchone()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return ""
            raise
        return str(row[0]) if row else ""

    def hashes(self, names: Collection[str] | None = None) -> dict[str, str]:
        """Return the hash of each document, by name, or at least of those with some names."""
        if names is None or len(names) > FEW:
            return dict(self.database.execute("select name, hash from documents"))
        rows = (self.database.execute("select name, hash from documents where name = ?", (name,)) for name in names)
        return dict(itertools.chain.from_iterable(rows))

    def size(self) -> int:
        """Return how many documents the graph has."""
        return int(self.database.execute("select count(*) from documents").fetchone()[0])

    # --- writing ---

    @contextmanager
    def transaction(self, states: Mapping[str, str] = {}) -> Iterator[None]:
        """Make what the block puts and removes count as a whole or not at all, and record states of the graph with it.

        Each state is named after the part of the graph that is in it.
        """
        self.database.execute(f"pragma cache_size = {CACHE}")
        self.database.execute("begin immediate")
        try:
            yield
            self._settle()
            self.database.executemany("insert or replace into about values (?, ?)", states.items())
            self.database.execute("commit")
        finally:
            self._changes = Changes(self.database)
            if self.database.in_transaction:
                self.database.execute("rollback")

    def put(self, name: str, digest: str, facts: Facts, *, title: str = "") -> None:
        """Add a document with its facts, or replace those that it had."""
        run = self.database.execute
        row = run("select id from documents where name = ?", (name,)).fetchone()
        document: int = row[0] if row else run("insert into documents (name) values (?)", (name,)).lastrowid or 0
        before = self._changes.names_of(document) if row else set()
        if row:
            self._clear(document)
        kind = MODULE if facts.module else DOCUMENT
        own = Entity(facts.module or name, kind, 1, 1, title, facts.fields, shared=not facts.module)
        ids = self._put_entities(document, (own, *facts.entities))
        run("update documents set hash = ?, entity = ? where id = ?", (digest, ids[""], document))
        if row:
            self._sweep(document, set(ids.values()))
        self.database.executemany(
            "insert into aliases values (?, ?, ?, ?)",
            [(document, alias.name, last_part(alias.name), alias.target) for alias in facts.aliases],
        )
        levels = {certainty: level for level, certainty in enumerate(CERTAINTIES)}
        self.database.executemany(
            "insert into refs (document, source, type, target, last, target_type, line, certainty, description,"
            " otherwise, fields) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (document, ids.get(source, ids[""]), kind, target, last_part(target), target_type, line,
                 levels.get(certainty, 0), description, otherwise, fields_text(dict(fields)) if fields else "")  # type: ignore[arg-type]
                for kind, target, line, source, target_type, certainty, description, otherwise, fields
                in facts.references
            ],
        )  # fmt: skip
        self._changes.add(before ^ self._changes.names_of(document), document)

    def remove(self, name: str) -> None:
        """Take a document out of the graph, with what only it says."""
        row = self.database.execute("select id from documents where name = ?", (name,)).fetchone()
        if row:
            self._changes.add(self._changes.names_of(row[0]))
            self._clear(row[0])
            self._sweep(row[0], set())
            self.database.execute("delete from documents where id = ?", row)

    def _clear(self, document: int) -> None:
        """Remove the references of a document, and what they led to."""
        for sql in (
            "delete from relations where ref in (select id from refs where document = ?)",
            "delete from refs where document = ?",
            "delete from aliases where document = ?",
        ):
            self.database.execute(sql, (document,))

    def _put_entities(self, document: int, entities: Sequence[Entity]) -> dict[str, int]:
        """Write entities, and return their ids by name; the first is the document itself, whose name is ""."""
        run = self.database.execute
        ids: dict[str, int] = {}
        keys: dict[str, str] = {}
        first_key = ""
        new, places = list[tuple[object, ...]](), list[tuple[object, ...]]()
        (most,) = run("select ifnull(max(id), 0) from entities").fetchone()
        known = dict(run("select key, id from entities where document = ?", (document,)).fetchall())
        for number, original in enumerate(entities):
            entity = self._merged(original)
            name, kind, first, last, description, fields, shared = entity
            key = self._key(document, entity) if number or shared else f"{document}\0"
            first_key = first_key or key
            if number:
                keys[original.name] = key
            if key in ids:
                continue
            values = (name, name.casefold(), last_part(name), kind, description)
            ident = known.get(key) or (self._shared(kind, name) if shared else 0)
            if not ident:
                ident = most + len(new) + 1
                new.append((ident, *values, key, shared, None if shared else document))
            elif not shared or description or kind not in SAME:
                run(UPDATE, (*values, ident))
            ids[key] = ident
            places.append((ident, document, first, last, fields_text(fields)))
        self.database.executemany(INSERT, new)
        self.database.executemany("insert or replace into places values (?, ?, ?, ?, ?)", places)
        return {**{name: ids[key] for name, key in keys.items()}, "": ids[first_key]}

    @staticmethod
    def _key(document: int, entity: Entity) -> str:
        return shared_key(entity.type, entity.name) if entity.shared else f"{document}\0{entity.name}"

    def _shared(self, kind: str, name: str) -> int:
        row = self.database.execute("select id from entities where key = ?", (shared_key(kind, name),)).fetchone()
        return int(row[0]) if row else 0

    def _sweep(self, document: int, kept: set[int]) -> None:
        """Remove what a document no longer defines or names."""
        run = self.database.execute
        for (entity,) in run("select entity from places where document = ?", (document,)).fetchall():
            if entity in kept:
                continue
            run("delete from places where entity = ? and document = ?", (entity, document))
            if run("select shared from entities where id = ?", (entity,)).fetchone() == (0,):
                run("delete from relations where target = ?", (entity,))
                run("delete from entities where id = ?", (entity,))

    # --- resolving ---

    @uncollected()
    def _settle(self) -> None:
        """Resolve the references of the documents that changed, and those elsewhere that lead through what changed."""
        is_bulk = self._changes.are_many
        has_documents = bool(self.database.execute("select 1 from documents limit 1").fetchone())
        if has_documents and not is_bulk:
            self.index()
        rows = self._changes.references()
        names = Names(self.database, in_bulk=is_bulk or len(rows) > BULK)
        is_all = self.database.execute("select count(*) from refs").fetchone() == (len(rows),)
        refs = [] if is_all else [(row[0],) for row in rows]
        self.database.execute("delete from relations" if is_all else "select 1")
        self.database.executemany("delete from relations where ref = ?", refs)
        relations = self._relations(names, rows)
        self.database.executemany("insert or ignore into relations values (?, ?, ?, ?, ?)", relations)
        if has_documents:
            self.index()
        self.database.execute(
            "delete from entities where shared and not exists (select 1 from places where entity = entities.id)"
            " and not exists (select 1 from relations where target = entities.id)"
        )

    def _relations(self, names: Names, rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, int, str, int, int]]:
        """Yield the relations that references show."""
        leads = functools.cache(functools.partial(_leads, names))  # a document says most things several times
        for ident, document, source, kind, target, target_type, certainty, otherwise in rows:
            for entity, level in leads(document, kind, target, target_type, otherwise):
                to = self._made(entity.type, entity.name) if isinstance(entity, Missing) else entity
                if to != source or kind == "CALLS":
                    yield source, to, kind, max(level, certainty), ident

    def _made(self, kind: str, name: str) -> int:
        """Return the shared entity of a type and a name, which is made if there is none."""
        name, kind = self._merged(Entity(name, kind, shared=True))[:2]
        ident = self._shared(kind, name)
        if not ident:
            values = (None, name, name.casefold(), last_part(name), kind, "", shared_key(kind, name), True, None)
            ident = self.database.execute(INSERT, values).lastrowid or 0
        return ident

    # --- merged entities ---

    @property
    def merges(self) -> Mapping[str, Sequence[str]]:
        """By the key of each entity that is a synonym of another: its name, and the type and the name of the other."""
        if self._merges is None:
            self._merges = json.loads(self.about(MERGES) or "{}")
        return self._merges

    def merge(self, merges: Mapping[str, Sequence[str]]) -> None:
        """Make entities synonyms of others from now on; the caller then puts the documents `naming` them again."""
        run = self.database.execute
        self._merges = merges
        run("insert or replace into about values (?, ?)", (MERGES, json.dumps(merges)))
        run("delete from aliases where document = 0")
        for name, _, into in merges.values():
            run("insert into aliases values (0, ?, ?, ?)", (name, last_part(name), into))

    def naming(self, merges: Mapping[str, Sequence[str]]) -> set[str]:
        """Return the documents that name what these merges would newly join, or separate again."""
        documents: set[str] = set()
        changed = {key: value for mapping in (merges, self.merges) for key, value in mapping.items()}
        for key, (name, kind, into) in changed.items():
            if list(merges.get(key, ())) != list(self.merges.get(key, ())):
                rows = self.database.execute(NAMING, (key, shared_key(kind, into), name, into))
                documents.update(document for (document,) in rows)
        return documents

    def _merged(self, entity: Entity) -> Entity:
        """Return the entity that an entity is a synonym of, or the entity itself."""
        into = self.merges.get(shared_key(entity.type, entity.name)) if self.merges and entity.shared else None
        return entity._replace(type=into[1], name=into[2]) if into else entity

    # --- fields ---

    @property
    def schema(self) -> Schema:
        """The schema that gives the fields of entities and relations their defaults."""
        if self._schema is None:
            self._schema = read_schema(json.loads(self.about(SCHEMA) or "{}"))
        return self._schema


def _leads(
    names: Names, document: int, kind: str, target: str, target_type: str, otherwise: str
) -> list[tuple[int | Missing, int]]:
    """Return what a reference leads to, each with the index of the certainty that it has at most."""
    if target_type:
        return [(Missing(target_type, target), 0)]
    if otherwise or ("/" in target and kind in PATHS):
        return reach(names, target) or ([(Missing(PACKAGE, otherwise), 0)] if otherwise else [])
    entities = resolve(names, document, kind, target)
    if not entities and ":" in target and kind in PATHS:  # at the root of a source, such as shop:cart
        return reach(names, target)
    return entities


def merged(stored: str) -> dict[str, Json]:
    """Return the fields of an entity from a value of `FIELDS`; where documents differ, the first by name counts."""
    if stored == NO_FIELDS:
        return {}
    return {name: value for fields in json.loads(stored) for name, value in json.loads(fields).items()}


def fields_text(fields: Mapping[str, Json]) -> str:
    """Return fields as they are stored and exported."""
    return json.dumps(fields) if fields else ""


def shared_key(kind: str, name: str) -> str:
    """Return the key of an entity that is the same wherever it is named."""
    return f"{SAME.get(kind, kind)} {name.casefold()}"
