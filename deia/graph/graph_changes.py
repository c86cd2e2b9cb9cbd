"""What changes while documents are put into the graph, and which references may lead elsewhere because of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from deia.graph.facts import DOCUMENT
from deia.graph.resolving import last_part, parts_of

MANY = 30  # names that changed; beyond these, every reference is resolved again
LONGEST = 1_000  # characters of a name that are looked for
COLUMNS = "select id, document, source, type, target, target_type, certainty, otherwise from refs"
INHERITS = "<"  # before the name that another inherits from, as `=` is before what it stands for
NAMED = """select name, type from entities where document = ?1 and type != 'SECTION' union all
    select name, type from places join entities on entities.id = entity
    where places.document = ?1 and shared and type = 'DOCUMENT' union all
    select name, '=' || target from aliases where document = ?1 union all
    select name, '<' || target from refs join entities on entities.id = source
    where refs.document = ?1 and refs.type = 'INHERITS'"""
OTHER_NAMES = "select last, target from aliases where target like ?"
HEIRS = """select entities.last, target from refs join entities on entities.id = source
    where refs.type = 'INHERITS' and target like ?"""

Name = tuple[str, str]  # with the type of what has it, or what it stands for or inherits from


class Changes:
    """The names that came or went, and the documents that were put, in one transaction."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._run = database.execute
        self._names: set[Name] = set()
        self._last: set[str] = set()  # their last parts
        self._documents: set[int] = set()  # whose references are to be resolved

    @property
    def are_many(self) -> bool:
        """Whether every reference is to be resolved again, whatever else changes."""
        return len(self._last) > MANY

    def names_of(self, document: int) -> set[Name]:
        """Return the names that other documents may know a document's entities by; none if they no longer matter."""
        return set() if self.are_many else set(self._run(NAMED, (document,)))

    def add(self, names: set[Name], *documents: int) -> None:
        """Add names that came or went, and the documents that were put."""
        self._documents.update(documents)
        self._names |= names
        self._last |= {last_part(name) for name, what in names if not _is_address(name, what)}

    def references(self) -> list[tuple[Any, ...]]:
        """Return the references that may lead elsewhere than before: of documents and through names that changed."""
        if self.are_many:
            return self._run(COLUMNS).fetchall()
        addresses = {name for name, what in self._names if _is_address(name, what)}
        names = {last_part(name) for name, _ in self._names if name not in addresses}
        names = self._touched(names)
        if len(names) > MANY or not all(name.isascii() and name != "*" for name in names):
            return self._run(COLUMNS).fetchall()
        return list({row[0]: row for row in self._leading(addresses, names)}.values())

    def _leading(self, addresses: set[str], names: set[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the references of documents, to addresses, and to what has a name or is reached through it."""
        for document in self._documents:
            yield from self._run(f"{COLUMNS} where document = ?", (document,))
        for name in addresses:
            yield from self._run(f"{COLUMNS} where target = ? and (instr(target, '/') or instr(target, '#'))", (name,))
        for name in names:
            yield from self._run(f"{COLUMNS} where last = ? and target_type = ''", (name,))
            through = self._run(f"{COLUMNS} where target like ? and target_type = ''", (_within(name),))
            yield from (row for row in through if name in parts_of(row[4]))

    def _touched(self, names: set[str]) -> set[str]:
        """Return last parts of names, with those of what stands for them or inherits from them, in however many steps.

        A class whose bases changed adds its methods, since calls on objects of those bases may now lead to them.
        """
        classes = {last_part(name) for name, what in self._names if what[:1] == INHERITS}
        waiting = [*names]
        while waiting and len(names) <= MANY:
            name = waiting.pop()
            heirs, others = (
                {last for last, target in self._run(sql, (_within(name),)) if name in parts_of(target)}
                for sql in (HEIRS, OTHER_NAMES)
            )
            related = heirs | others
            waiting.extend(related - names)
            names |= related
            classes |= heirs
        if len(names) > MANY:
            return names
        methods = "select last from entities where type = 'METHOD' and instr(folded, ?)"
        return names.union(*({last for (last,) in self._run(methods, (f".{name}.",))} for name in classes))


def _within(name: str) -> str:
    """Return a pattern for `like` of what may contain a name; it takes half the time of a search in lower case."""
    return f"%{name[:LONGEST].replace('%', '_')}%"


def _is_address(name: str, what: str) -> bool:
    """Whether only links lead to a name."""
    return "#" in name or ("/" in name and what == DOCUMENT)
