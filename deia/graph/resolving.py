"""From the name that a reference gives to the entities that it leads to, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from deia.graph.facts import BY_NAME, CERTAINTIES, RESOLVED

if TYPE_CHECKING:
    import sqlite3
    from typing import Any

SURE, NAMED = CERTAINTIES.index(RESOLVED), CERTAINTIES.index(BY_NAME)


class Missing(NamedTuple):
    """A shared entity that a reference leads to although nothing declares it, such as a package from elsewhere."""

    type: str
    name: str


def last_part(name: str) -> str:
    """Return the last part of a qualified name, folded: `raw_decode` of json.decoder.JSONDecoder.raw_decode."""
    return name.rpartition(".")[2].casefold() or name.casefold()


def resolve(names: Names, _document: int, kind: str, target: str) -> list[tuple[int | Missing, int]]:
    """Return what a reference leads to, each with the index of the certainty that it has at most."""
    found = names.exactly(target)
    if found:
        return [(row[0], SURE) for row in found[:1]]
    for name in names.aliases(target):
        return resolve(names, _document, kind, name)
    same = names.ending(last_part(target))
    return [(same[0][0], NAMED)] if len(same) == 1 else []


class Names:
    """What names lead to, remembered while references are resolved."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._asked: dict[tuple[str, str | int], list[Any]] = {}

    def _ask(self, kind: str, sql: str, value: str | int) -> list[Any]:
        key = (kind, value)
        if key not in self._asked:
            self._asked[key] = self._database.execute(sql, (value,)).fetchall()
        return self._asked[key]

    def exactly(self, name: str) -> list[tuple[int, str, str, int | None]]:
        """Return the entities of a name: id, name, type and document, in the order of documents."""
        sql = "select id, name, type, document from entities where name = ? order by document, id"
        return self._ask("name", sql, name)

    def ending(self, last: str) -> list[tuple[int, str, str, int | None]]:
        """Return the entities whose name ends with a part, folded."""
        sql = "select id, name, type, document from entities where last = ? order by document, id"
        return self._ask("last", sql, last)

    def aliases(self, name: str) -> list[str]:
        """Return what a name stands for."""
        return [row[0] for row in self._ask("alias", "select target from aliases where name = ? order by 1", name)]

    def bases(self, entity: int) -> list[str]:
        """Return the names of what a class inherits from, as its document tells them."""
        sql = "select target from refs where source = ? and type = 'INHERITS' order by id"
        return [row[0] for row in self._ask("bases", sql, entity)]

    def module(self, document: int) -> str:
        """Return the name of a document's own entity."""
        sql = "select name from entities join documents on entities.id = entity where documents.id = ?"
        return str(self._ask("module", sql, document)[0][0])
