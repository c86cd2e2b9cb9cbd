"""From the name that a reference gives to the entities that it leads to, and how sure that is.

A name is followed part by part: through other names that documents give to things, into modules, classes and their
bases, and into what calls return. A method of something unknown is found by its name, if few things are called that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from deia.graph.facts import BY_NAME, CERTAINTIES, MODULE, RESOLVED
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

SURE, NAMED = CERTAINTIES.index(RESOLVED), CERTAINTIES.index(BY_NAME)
MADE_BY = ("__new__", "__init__")  # what is called when a class is
FEW = 3  # things of one name that a reference may lead to
CLASS, FUNCTION, METHOD = "CLASS", "FUNCTION", "METHOD"
CODE = frozenset(("IMPORTS", "CALLS", "INHERITS", "REFERENCES"))  # these look for what code defines
PAGES = frozenset(("DEFINITION", "DOCUMENT", "SECTION"))  # what code does not refer to
ENDS = "()[]"  # what the parts of a name may end with
SIGNS = str.maketrans(":/#", "...")  # between the parts of a name
ITEM = "[]"  # ends the name of what is in a container
TAKING = frozenset(("get", "pop", "popleft", "setdefault"))  # methods of containers that give what is in them
MOST_ITEMS = 80  # things that are put into a container
DEEPEST = 100  # steps from a name to what it stands for
FUEL = 2_000  # names that are looked up for one reference
MOST_BASES = 60
COMMON = frozenset(  # methods of built-in types: called on something unknown, it is most likely these that are meant
    name for kind in (str, bytes, bytearray, list, dict, set, int, float) for name in dir(kind)
) | frozenset(
    """close flush read readline readlines seek tell write writelines acquire release match fullmatch search sub group
    groups groupdict start end span findall finditer pack unpack now timetuple""".split()
)
MANY = 60  # methods of one name beyond which none is taken for what a caller means
QUERIES = {
    "name": "select {} id, entities.name, type, document from entities where (not shared"
    " or (type = 'DOCUMENT' and exists (select 1 from places where entity = entities.id)))",
    "last": "select {} id, entities.name, type, document from entities where not shared and type = 'METHOD'",
    "alias": "select {} target from aliases join documents on documents.id = document where true",
    "bases": "select {} target from refs where type = 'INHERITS'",
    "imports": "select {} target from refs where type = 'IMPORTS'",
    "own": "select {} entities.name from entities join documents on documents.entity = entities.id where true",
}
KEYS = {"name": "entities.name", "last": "last", "alias": "aliases.name", "bases": "source",
        "imports": "refs.document", "own": "documents.id"}  # fmt: skip
ORDERS = {"name": "id", "last": "id", "alias": "documents.name, aliases.rowid", "bases": "id",
          "imports": "1", "own": "1"}  # fmt: skip

ONE_BY_ONE = {kind: f"{sql.format('')} and {KEYS[kind]} = ? order by {ORDERS[kind]}" for kind, sql in QUERIES.items()}


class Missing(NamedTuple):
    """A shared entity that a reference leads to although nothing declares it, such as a package from elsewhere."""

    type: str
    name: str


class Place(NamedTuple):
    """An entity on the way of a name."""

    id: int
    name: str
    type: str
    document: int | None  # None of what several documents share
    is_instance: bool = False  # of the class that the entity is
    is_super: bool = False  # what lies behind the class in the order of its bases
    level: int = SURE


# What a row of each query becomes.
OF_ROWS: dict[str, Callable[..., Any]] = {"name": Place, "last": Place, "alias": str, "bases": str,
                                          "imports": str, "own": str}  # fmt: skip


def last_part(name: str) -> str:
    """Return the last part of a qualified name, folded: `raw_decode` of json.decoder.JSONDecoder.raw_decode."""
    last = name.rpartition(".")[2]
    for sign in ":/#":  # of which `translate` would take three times as long
        last = last.rpartition(sign)[2]
    return last.rstrip(ENDS).casefold() or name.casefold()


def parts_of(name: str) -> set[str]:
    """Return the parts of a name, folded: `json`, `reader` and `read` of `json.Reader().read`."""
    return {part.rstrip(ENDS) for part in name.casefold().translate(SIGNS).split(".")}


def resolve(names: Names, document: int, kind: str, target: str) -> list[tuple[int | Missing, int]]:
    """Return what a reference leads to, each with the index of the certainty that it has at most."""
    path = target.replace(":", ".") if kind in CODE else target
    key = (kind, path)
    if key not in names.answers:
        names.answers[key] = () if path[:1] == "." else tuple(_meant(names, kind, names.places(path)))
    places = names.answers[key]
    if len(places) > 1 and ITEM not in path:
        own = tuple(place for place in places if place.document == document) or places
        places = own if len(own) == 1 else _less_sure(own)
    if kind == "CALLS":
        places = _dispatched(names, path, places) or _named(names, document, path)
        if classes := [place for place in places if place.type == CLASS]:
            places += tuple(method for place in classes for name in MADE_BY for method in names.members(place, name))
    elif not places and kind == "IMPORTS" and ":" not in target:
        return [(Missing(MODULE if "." in target else "PACKAGE", target), SURE)]
    return [(place.id, place.level) for place in places]


def _less_sure(places: Sequence[Place]) -> tuple[Place, ...]:
    """Return places as known by name only, or none if they are not few."""
    return tuple(place._replace(level=NAMED) for place in places) if len(places) <= FEW else ()


def _meant(names: Names, kind: str, places: Iterable[Place]) -> Iterator[Place]:
    """Yield what a kind of reference means by places: a call of an instance means its `__call__`."""
    for place in places:
        if kind == "CALLS" and place.is_instance:
            yield from names.members(place, "__call__")
        elif not (place.is_instance or (kind in CODE and place.type in PAGES)):
            yield place


def _dispatched(names: Names, path: str, places: tuple[Place, ...]) -> tuple[Place, ...]:
    """Return places, with the methods of subclasses that may be called in their stead."""
    head, _, last = path.rpartition(".")
    if (
        not head
        or len(places) > 1
        or (places and places[0].type != METHOD)
        or head.endswith(("super()", "__class__"))
        or last == "__init__"
    ):
        return places
    return (*places, *_less_sure(names.overriding(head, last)))


def _named(names: Names, document: int, path: str) -> tuple[Place, ...]:
    """Return the methods of a name that a document may mean, where what they are called on is unknown."""
    head, _, last = path.rpartition(".")
    if last in COMMON or last[:2] == "__" or last[-1:] == ")" or (head and not names.is_open(head)):
        return ()
    methods = names.ending(last.casefold())
    if len(methods) > MANY:
        return ()
    near = names.near(document)
    return _less_sure(
        [place for place in methods if place.name.endswith(f".{last}") and place.name.partition(".")[0] in near]
    )


class Names:
    """What names lead to, remembered while references are resolved."""

    def __init__(self, database: sqlite3.Connection, *, in_bulk: bool = False) -> None:
        self._database = database
        self._in_bulk = in_bulk
        self._tables: dict[str, dict[str | int, list[Any]]] = {kind: {} for kind in QUERIES}
        self._places: dict[str, tuple[Place, ...]] = {}
        self._orders: dict[int, list[Place]] = {}
        self._below: dict[
            str, list[tuple[Place, frozenset[int]]]
        ] = {}  # methods of a name, with the bases of their class
        self._near: dict[int, set[str]] = {}
        self._open: set[str] = set()  # names that are being looked up
        self._fuel = FUEL
        self._is_cut = False  # a lookup ended early, and is not to be remembered
        self.answers: dict[tuple[str, str], tuple[Place, ...]] = {}
        if in_bulk:
            for kind, sql in QUERIES.items():
                table, of_row = self._tables[kind], OF_ROWS[kind]
                for key, *row in database.execute(f"{sql.format(KEYS[kind] + ',')} order by {ORDERS[kind]}"):
                    table.setdefault(key, []).append(of_row(*row))

    def _ask(self, kind: str, value: str | int) -> Sequence[Any]:
        rows = self._tables[kind].get(value)
        if rows is None:
            if self._in_bulk:
                return ()
            rows = [OF_ROWS[kind](*row) for row in self._database.execute(ONE_BY_ONE[kind], (value,))]
            self._tables[kind][value] = rows
        return rows

    def exactly(self, name: str) -> Sequence[Place]:
        """Return what has exactly this name."""
        return self._ask("name", name)

    def ending(self, last: str) -> Sequence[Place]:
        """Return the methods whose name ends with a part, folded."""
        return self._ask("last", last)

    def aliases(self, name: str) -> list[str]:
        """Return what a name stands for, in the order in which documents say it."""
        targets = self._ask("alias", name)
        return list(dict.fromkeys(targets)) if targets else []

    def is_open(self, path: str) -> bool:
        """Return whether a name begins with a class or a function that no document describes completely."""
        while path:
            if places := self.places(path):
                return places[0].type != MODULE
            path = path[:-2] if path[-1] in ENDS else path.rpartition(".")[0]
        return False

    def overriding(self, head: str, name: str) -> list[Place]:
        """Return the methods of a name in the classes that inherit from what a path leads to."""
        below = self._below[name] if name in self._below else self._defining(name)
        owners = {place.id for place in self.places(head) if place.type == CLASS} if below else ()
        return [place for place, bases in below if not bases.isdisjoint(owners)]

    def _defining(self, name: str) -> list[tuple[Place, frozenset[int]]]:
        """Return the methods of a name with the bases of their class, and keep these if all were found."""
        methods = self.ending(name.casefold())
        below, is_cut = list[tuple[Place, frozenset[int]]](), False
        for place in methods if len(methods) <= MANY else ():
            for owner in self.exactly(place.name.removesuffix(f".{name}"))[:1]:
                self._fuel, self._is_cut = FUEL, False
                below.append((place, frozenset(base.id for base in self._order(owner)[1:])))
                is_cut = is_cut or self._is_cut
        if not is_cut:
            self._below[name] = below
        return below

    def near(self, document: int) -> set[str]:
        """Return the first parts of a document's own name and of what it imports."""
        if document not in self._near:
            known = (*self._ask("own", document), *self._ask("imports", document))
            self._near[document] = {name.partition(".")[0] for name in known}
        return self._near[document]

    def places(self, path: str) -> tuple[Place, ...]:
        """Return what a name leads to."""
        self._fuel, self._is_cut = FUEL, False
        return self._place(path)

    def _place(self, path: str) -> tuple[Place, ...]:
        if path in self._places:
            return self._places[path]
        self._fuel -= 1
        if path in self._open or len(self._open) > DEEPEST or self._fuel < 0:
            self._is_cut = True
            return ()
        self._open.add(path)
        places = tuple(dict.fromkeys(self._followed(path)))
        self._open.discard(path)
        if not self._is_cut:
            self._places[path] = places
        return places

    def _followed(self, path: str) -> Iterable[Place]:
        if places := self.exactly(path) or self._stood_for(path):
            return places
        if path.endswith("()"):
            return [*self._returned(path[:-2])] or self._taken(path[:-2])
        head, _, last = path.rpartition(".")
        members = [place for owner in self._place(head) for place in self._members(owner, last)] if head else []
        return members or (self._contained(path[:-2]) if path.endswith(ITEM) else ())

    def _stood_for(self, name: str) -> tuple[Place, ...]:
        """Return the first that a name stands for; it is less sure if the name stands for others, too."""
        targets = self.aliases(name)
        if name.endswith(ITEM):
            return self._put_in(name, targets)
        places = next(filter(None, (self._place(target) for target in targets)), ())
        return tuple(place._replace(level=NAMED) for place in places) if len(targets) > 1 else places

    def _returned(self, called: str) -> Iterator[Place]:
        for place in self._place(called):
            if place.type == CLASS and not place.is_instance:
                yield place._replace(is_instance=True)
            elif place.type in (FUNCTION, METHOD) and place.name != called:
                yield from self._place(f"{place.name}()")

    def _put_in(self, name: str, targets: Sequence[str]) -> tuple[Place, ...]:
        """Return what was put into a container, or into one that it stands for; which of them is meant is not known."""
        others = (f"{alias.removesuffix(ITEM)}{ITEM}" for alias in self.aliases(name.removesuffix(ITEM)))
        contents = [self._place(target) for target in (*targets, *others)[:MOST_ITEMS]]
        return tuple(place._replace(level=NAMED) for places in contents for place in places)[:MOST_ITEMS]

    def _contained(self, path: str) -> tuple[Place, ...]:
        """Return what was put into an object that is a container itself."""
        orders = (self._order(owner) for owner in self._place(path) if owner.type == CLASS)
        contents = (self._stood_for(f"{place.name}{ITEM}") for order in orders for place in order)
        return next(filter(None, contents), ())

    def _taken(self, called: str) -> tuple[Place, ...]:
        """Return what is in a container, if what is called is a method that takes something out of it."""
        head, _, last = called.rpartition(".")
        return self._place(f"{head.removesuffix(ITEM)}{ITEM}") if head and last in TAKING else ()

    def members(self, owner: Place, name: str) -> tuple[Place, ...]:
        """Return what a member of a module, a class or an instance leads to."""
        self._fuel, self._is_cut = FUEL, False
        return self._members(owner, name)

    def _members(self, owner: Place, name: str) -> tuple[Place, ...]:
        if owner.type == MODULE:
            return (owner,) if name == "__class__" else self._in_module(owner.name, name)
        if owner.type == METHOD:  # most likely a property
            returned = (place for place in self._place(f"{owner.name}()") if place.type == CLASS)
            return tuple(member for place in returned for member in self._members(place, name))
        if owner.type != CLASS:
            return ()
        if name in ("super", "__class__"):
            return (owner._replace(is_super=name == "super", is_instance=False),)
        for place in self._order(owner)[owner.is_super :]:
            path = f"{place.name}.{name}"
            if exact := self.exactly(path):
                return tuple(
                    member if member.level == owner.level else member._replace(level=owner.level) for member in exact
                )
            if places := self._stood_for(path):
                return places
        return ()

    def _in_module(self, module: str, name: str) -> tuple[Place, ...]:
        path = f"{module}.{name}"
        if path not in self._open and (places := self._place(path)):
            return places
        stars = (self._place(f"{target[:-1]}{name}") for target in self.aliases(f"{module}.*"))
        return next(filter(None, stars), ())

    def _order(self, owner: Place) -> list[Place]:
        """Return a class and its bases, those that several classes share last."""
        if owner.id in self._orders:
            return self._orders[owner.id]
        order: list[Place] = []
        waiting = [owner]
        while waiting and len(order) < MOST_BASES:
            place = waiting.pop()
            order.append(place)
            bases = [base for target in self._ask("bases", place.id) for base in self._place(target)]
            waiting.extend(base for base in reversed(bases) if base.type == CLASS and not base.is_instance)
        last = {place.id: place for place in reversed(order)}
        order = [*reversed(last.values())]
        order.sort(key=lambda place: place.id != owner.id)
        if not self._is_cut:
            self._orders[owner.id] = order
        return order
