"""Answers of the graph as records, which know how they are shown: entities, relations, traces, paths and numbers.

Every relation has the line that shows it. Where a name may mean several things, the answer lists these instead, each
as it can be typed. Where a name was guessed, a note says so. What an answer may have many of is a tuple, because tuples
are made faster than records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from deia.fast_json import Json
from deia.graph.facts import RESOLVED
from deia.graph.schema import field_text
from deia.graph.traversal import DOWNSTREAM, MAX_DEPTH, TAKING
from deia.records import Record
from deia.text import counted, one_line, shorten

MOST_NAME, MOST_DESCRIPTION = 200, 120  # characters that are shown
MOST_CHAINS = 50
FORWARDS, BACKWARDS, FLOWS_ON = "--[{}]-->", "<--[{}]--", " → "
CUT = "There is more: beyond a limit, or of what has very many relations, only a part is shown."


class Place(NamedTuple):
    """Where an entity is defined or named."""

    document: str
    first: int = 0
    last: int = 0

    def __str__(self) -> str:
        return f"{self.document}:{self.first}" if self.first else self.document


class Node(NamedTuple):
    """An entity as answers show it."""

    name: str
    type: str
    description: str = ""
    places: tuple[Place, ...] = ()
    documents: int = 0  # in which it is defined or named; `places` has the first of them
    fields: Mapping[str, Json] = {}

    @property
    def short(self) -> str:
        """The name on one line."""
        return shorten(one_line(self.name), MOST_NAME)

    @property
    def typed(self) -> str:
        """The text that means this entity alone, where its name does not."""
        is_own = self.documents == 1 and self.places[0].document != self.name
        return f"{self.type} {self.name}{f' in {self.places[0].document}' if is_own else ''}"

    def described(self, label: str = "") -> str:
        """Return a line about the entity: by default its type and name first, then its place and description."""
        place = f" ({self.places[0]}{', …' if self.documents > 1 else ''})" if self.places else ""
        about = f": {shorten(one_line(self.description), MOST_DESCRIPTION)}" if self.description else ""
        return f"{label or f'{self.type} {self.short}'}{place}{_listed(self.fields)}{about}"


class Evidence(NamedTuple):
    """The line that shows a relation."""

    document: str
    line: int = 0
    description: str = ""

    def __str__(self) -> str:
        place = f"{self.document}:{self.line}" if self.line else self.document
        return f"{place} {self.description}".rstrip()


class Relation(NamedTuple):
    """A relation as it is written: what its source does to its target."""

    source: Node
    type: str
    target: Node
    certainty: str
    evidence: Evidence
    fields: Mapping[str, Json] = {}

    def __str__(self) -> str:
        unsure = "" if self.certainty == RESOLVED else f", {self.certainty}"
        shown = shorten(str(self.evidence), MOST_DESCRIPTION)
        ends = f"{self.source.short} {self.arrow(self.source)} {self.target.short}"
        return f"{ends} ({shown}{unsure}){_listed(self.fields)}"

    def arrow(self, start: Node) -> str:
        """Return the arrow from one of its ends to the other; it points where data goes if the target is consumed."""
        begins = start is self.source or (start is not self.target and start == self.source)
        is_forwards = begins != (self.type in TAKING)
        return (FORWARDS if is_forwards else BACKWARDS).format(self.type)


class GraphAnswer(Record):
    """What all answers have: what was asked about, and what to say of that."""

    note: str = ""  # that a name was guessed, or may mean several things
    choices: tuple[Node, ...] = ()  # what the name may mean; then there is no other answer
    is_cut: bool = False  # whether there may be more

    def to_dict(self) -> dict[str, Json]:
        """Return the answer as JSON."""
        return {name: _plain(value) for name, value in self.values().items()}

    @property
    def text(self) -> str:
        """The answer for people and models."""
        lines = [self.note] if self.note else []
        lines += [f"  {choice.described(choice.typed)}" for choice in self.choices]
        if not self.choices:
            lines += [*self._lines(), *([CUT] if self.is_cut else [])]
        return "\n".join(map(_on_one_line, lines))

    def _lines(self) -> Iterator[str]:
        raise NotImplementedError


class EntitiesAnswer(GraphAnswer):
    """Entities of a type, or that a name may mean."""

    entities: tuple[Node, ...] = ()
    total: int = 0

    def _lines(self) -> Iterator[str]:
        if not self.entities:
            yield "The graph has no such entities."
        yield from (node.described() for node in self.entities)
        if len(self.entities) < self.total:
            yield f"{len(self.entities)} of {self.total}"


class RelationsAnswer(GraphAnswer):
    """The relations of an entity."""

    entity: Node | None = None
    relations: tuple[Relation, ...] = ()

    def _lines(self) -> Iterator[str]:
        if self.entity:
            yield self.entity.described()
        yield from _indented(self.relations)
        if not self.relations:
            yield "  No relations are known."


class Chain(NamedTuple):
    """Entities in the order in which things flow, from the one that is asked about or towards it."""

    entities: tuple[Node, ...]

    def __str__(self) -> str:
        return FLOWS_ON.join(node.short for node in self.entities)


class TraceAnswer(GraphAnswer):
    """What is upstream or downstream of an entity: by distance, as chains, and the relations that show it."""

    entity: Node | None = None
    direction: str = DOWNSTREAM
    layers: tuple[tuple[Node, ...], ...] = ()
    chains: tuple[Chain, ...] = ()
    relations: tuple[Relation, ...] = ()

    def _lines(self) -> Iterator[str]:
        if self.entity and not self.chains:
            yield f"Nothing is known {self.direction} of {self.entity.short}."
            return
        yield from map(str, self.chains[:MOST_CHAINS])
        if len(self.chains) > MOST_CHAINS:
            yield f"and {len(self.chains) - MOST_CHAINS} more chains"
        yield "because"
        yield from _indented(self.relations)


class PathAnswer(GraphAnswer):
    """A shortest path: entities, and the relation between each and the next."""

    entities: tuple[Node, ...] = ()
    relations: tuple[Relation, ...] = ()
    asked: tuple[str, str] = ("", "")
    max_depth: int = MAX_DEPTH

    def _lines(self) -> Iterator[str]:
        if not self.entities:
            start, end = self.asked
            yield f"No path between {start!r} and {end!r} has {counted(self.max_depth, 'step')} or fewer."
            return
        steps = zip(self.relations, self.entities, self.entities[1:], strict=False)
        yield "".join([
            self.entities[0].short, *(f" {relation.arrow(node)} {other.short}" for relation, node, other in steps)
        ])  # fmt: skip
        yield from _indented(self.relations)


class DependentsAnswer(GraphAnswer):
    """What may break if an entity changes."""

    entity: Node | None = None
    direct: int = 0
    total: int = 0
    types: Mapping[str, int] = {}  # of direct and indirect dependents
    by_relation: Mapping[str, int] = {}
    relations: tuple[Relation, ...] = ()  # of the nearest

    def _lines(self) -> Iterator[str]:
        name = self.entity.short if self.entity else ""
        if not self.total:
            yield f"Nothing is known to depend on {name}."
            return
        how = f"{self.direct} directly; by relation: {_counts(self.by_relation)}"
        yield f"{counted(self.total, 'thing')} may break if {name} changes ({_counts(self.types)}), {how}"
        yield from _indented(self.relations)
        if len(self.relations) < self.total:
            yield f"  and {self.total - len(self.relations)} more"


class StatsAnswer(GraphAnswer):
    """How much there is in the graph and in the library."""

    documents: int = 0
    chunks: int = 0
    entities: int = 0
    relations: int = 0
    vectors: int = 0
    entity_types: Mapping[str, int] = {}
    relation_types: Mapping[str, int] = {}
    extractor: str = ""  # what found them

    def _lines(self) -> Iterator[str]:
        names = ("documents", "chunks", "entities", "relations", "vectors")
        yield ", ".join(f"{name.capitalize()}: {getattr(self, name)}" for name in names)
        for what, types in (("Entities", self.entity_types), ("Relations", self.relation_types)):
            if types:
                yield f"{what} by type: {_counts(types)}"
        if self.extractor:
            yield f"Found by {self.extractor}"


def _indented(relations: Iterable[Relation]) -> Iterator[str]:
    return (f"  {relation}" for relation in relations)


def _counts(types: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {number}" for kind, number in types.items())


def _listed(fields: Mapping[str, Json]) -> str:
    """Return fields as they follow a line, such as ` [status=active]`."""
    shown = ", ".join(f"{name}={field_text(value)}" for name, value in fields.items())
    return f" [{shorten(shown, MOST_DESCRIPTION)}]" if shown else ""


def _on_one_line(line: str) -> str:
    """Return a line without what would break it, its indentation kept."""
    bare = line.lstrip(" ")
    return " " * (len(line) - len(bare)) + one_line(bare)


def _plain(value: Any) -> Json:
    """Return a value of an answer as JSON."""
    if isinstance(value, Place | Node | Evidence | Relation | Chain):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value  # type: ignore[no-any-return]  # text, a number, or fields that were read from JSON
