"""Questions to the graph: from names to entities, and from these to answers with their evidence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from sqlite3 import Connection

from deia.errors import QueryError
from deia.fast_json import Json
from deia.graph import traversal
from deia.graph.facts import CERTAINTIES
from deia.graph.graph_answers import (
    Chain,
    DependentsAnswer,
    EntitiesAnswer,
    Evidence,
    Node,
    PathAnswer,
    Place,
    Relation,
    RelationsAnswer,
    StatsAnswer,
    TraceAnswer,
)
from deia.graph.graph_store import FIELDS, FOUND_BY, NO_FIELDS, Graph, merged
from deia.graph.names import LONGEST, find
from deia.graph.schema import field_text
from deia.graph.traversal import BOTH, DIRECTIONS, DOWNSTREAM, FLOWS, MAX_DEPTH, UPSTREAM, Edge, json_numbers
from deia.records import Record
from deia.suggestions import did_you_mean

LIMIT, MOST = 20, 1_000  # things that an answer lists
MOST_CHOICES = 20
MOST_PLACES = 5  # of an entity that is named in many documents
DEEPEST = 20
# Types that only describe documents; where a thing has the same name, the thing is meant.
LABELS = frozenset(("AUDIENCE", "CLUSTER", "COMMAND", "DEFINITION", "DOCUMENT", "PLATFORM", "SECTION", "TAG"))
NEAR = 2_000  # names that are searched for a similar one
MOST_DOCUMENTS = 10_000  # that are counted
NODES = f"""select entities.id, entities.name, entities.type, entities.description,
    {FIELDS.format("ids.value")},
    (select json_group_array(json_array(name, first, last)) from (select documents.name, first, last from places
        join documents on documents.id = places.document where places.entity = ids.value limit {MOST_PLACES}))
    from json_each(?) ids join entities on entities.id = ids.value order by ids.key"""  # noqa: S608 - constants
DOCUMENTS = f"""select value, (select count(*) from (select 1 from places where entity = value limit {MOST_DOCUMENTS}))
    from json_each(?)"""  # noqa: S608 - a constant
EVIDENCE = """select refs.id, documents.name, line, description, fields from json_each(?) ids
    join refs on refs.id = ids.value join documents on documents.id = refs.document"""


class Named(Record):
    """The entity that a name means, or several from which a person chooses."""

    entity: int = 0
    note: str = ""
    choices: tuple[Node, ...] = ()


# --- questions ---


def entities(
    graph: Graph, *, kind: str = "", query: str = "", fields: Mapping[str, str] = {}, limit: int = LIMIT
) -> EntitiesAnswer:
    """Return the entities of a type, or those that a name may mean, whose fields have these values."""
    limit, kind, note = _within(limit, MOST, "limit"), _known_type(graph, kind), ""
    if query.strip() or fields:
        matches, guess = _meant(graph.database, query, kind) if query.strip() else (_of_type(graph, kind), False)
        if not matches and query.strip():
            raise _unknown(graph.database, query, kind)
        matches = _having(graph, matches, fields) if fields else matches
        chosen, total, note = matches[:limit], len(matches), _guess(query) if guess else ""
    else:
        condition, values = ("type = ?", (kind,)) if kind else ("1", ())
        sql = f"select id from entities where {condition} order by folded, id limit ?"  # noqa: S608 - constants
        chosen = [row[0] for row in graph.database.execute(sql, (*values, limit))]
        types = traversal.stats(graph).entity_types
        total = types.get(kind, 0) if kind else sum(types.values())
    listed = tuple(nodes(graph, chosen).values())
    return EntitiesAnswer(entities=listed, total=total, note=note, is_cut=total > len(chosen))


def _of_type(graph: Graph, kind: str) -> list[int]:
    sql = "select id from entities where ?1 in ('', type) order by folded, id"
    return [entity for (entity,) in graph.database.execute(sql, (kind,))]


def _having(graph: Graph, idents: Sequence[int], fields: Mapping[str, str]) -> list[int]:
    """Return those of some entities whose fields have values; raise QueryError if no entity has such a field."""
    known = set[str]()
    for stored in graph.database.execute("select distinct fields from places where fields != ''"):
        known.update(json.loads(stored[0]))
    known.update(graph.schema.document_fields, graph.schema.entity_fields)
    for name in fields.keys() - known:
        raise QueryError(
            f"no entity has a field {name[:100]!r}", fix=f"Known are: {', '.join(sorted(known)) or 'none'}."
        )
    wanted = {name: _storable(value).casefold() for name, value in fields.items()}
    sql = f"""select entities.id, entities.type, {FIELDS.format("ids.value")} from json_each(?) ids
        join entities on entities.id = ids.value order by ids.key"""  # noqa: S608 - constants
    return [
        entity
        for entity, kind, stored in graph.database.execute(sql, (json_numbers(idents),))
        for has in (graph.schema.fields_of(kind, merged(stored)),)
        if all(name in has and field_text(has[name]).casefold() == value for name, value in wanted.items())
    ]


def relations(
    graph: Graph, entity: str, *, direction: str = BOTH, kind: str = "", limit: int = LIMIT
) -> RelationsAnswer:
    """Return the relations of an entity: those that lead in, out, or both."""
    _check_choice("direction", direction, DIRECTIONS)
    about = named(graph, entity, kind)
    if not about.entity:
        return RelationsAnswer(choices=about.choices, note=about.note)
    limit = _within(limit, MOST, "limit")
    edges, is_cut = traversal.neighbours(graph, about.entity, direction=direction, limit=limit)
    shown = nodes(graph, [about.entity])
    related = relations_of(graph, edges, shown)
    return RelationsAnswer(entity=shown[about.entity], relations=related, note=about.note, is_cut=is_cut)


def trace(
    graph: Graph, entity: str, *, direction: str = DOWNSTREAM, kind: str = "", max_depth: int = MAX_DEPTH
) -> TraceAnswer:
    """Return what is upstream or downstream of an entity, as chains."""
    _check_choice("direction", direction, FLOWS)
    depth = _within(max_depth, DEEPEST, "max depth")
    about = named(graph, entity, kind)
    if not about.entity:
        return TraceAnswer(choices=about.choices, note=about.note, direction=direction)
    layers, is_cut = traversal.trace(graph, [about.entity], direction=direction, depth=depth)
    shown = nodes(graph, [about.entity, *(entity for layer in layers for entity in layer)])
    chains = [
        Chain(tuple(shown[ident] for ident in (reversed(chain) if direction == UPSTREAM else chain)))
        for chain in _chains(about.entity, layers)
    ]
    return TraceAnswer(
        entity=shown[about.entity], direction=direction, note=about.note, is_cut=is_cut, chains=tuple(chains),
        layers=tuple(tuple(shown[entity] for entity in layer) for layer in layers),
        relations=relations_of(graph, [edge for layer in layers for edge in layer.values()], shown),
    )  # fmt: skip


def _chains(start: int, layers: Sequence[Mapping[int, Edge]]) -> list[list[int]]:
    """Return the chain from the start to each entity that leads no further."""
    before = {entity: edge.other(entity) for layer in layers for entity, edge in layer.items()}
    inner = set(before.values())
    chains = []
    for end in (entity for entity in before if entity not in inner):
        chain = [end]
        while chain[-1] != start:
            chain.append(before[chain[-1]])
        chains.append(chain[::-1])
    return chains


def path(graph: Graph, start: str, end: str, *, max_depth: int = MAX_DEPTH) -> PathAnswer:
    """Return a shortest path between two entities, whichever way the relations point."""
    depth = _within(max_depth, DEEPEST, "max depth")
    ends = [named(graph, name, "") for name in (start, end)]
    unclear = next((about for about in ends if not about.entity), None)
    if unclear:
        return PathAnswer(choices=unclear.choices, note=unclear.note)
    way = traversal.shortest_path(graph, ends[0].entity, ends[1].entity, max_depth=depth)
    shown = nodes(graph, way.entities)
    return PathAnswer(
        entities=tuple(shown[entity] for entity in way.entities), relations=relations_of(graph, way.edges, shown),
        note=" ".join(about.note for about in ends if about.note), is_cut=way.is_cut, asked=(start, end),
        max_depth=depth,
    )  # fmt: skip


def dependents(
    graph: Graph, entity: str, *, kind: str = "", max_depth: int = MAX_DEPTH, limit: int = LIMIT
) -> DependentsAnswer:
    """Return what may break if an entity, or something that belongs to it, changes."""
    depth, limit = _within(max_depth, DEEPEST, "max depth"), _within(limit, MOST, "limit")
    about = named(graph, entity, kind)
    if not about.entity:
        return DependentsAnswer(choices=about.choices, note=about.note)
    layers, is_cut = traversal.dependents(graph, [about.entity], depth=depth)
    edges = [edge for layer in layers for edge in layer.values()]
    return DependentsAnswer(
        entity=nodes(graph, [about.entity])[about.entity], note=about.note, is_cut=is_cut,
        direct=len(layers[0]) if layers else 0, total=len(edges),
        types=_types(graph.database, [entity for layer in layers for entity in layer]),
        by_relation={kind: sum(edge.type == kind for edge in edges) for kind in sorted({edge.type for edge in edges})},
        relations=relations_of(graph, edges[:limit], {}),
    )  # fmt: skip


def stats(graph: Graph, *, chunks: int = 0, vectors: int = 0) -> StatsAnswer:
    """Return how much the graph has; the caller says what else the library has."""
    counts = traversal.stats(graph)._asdict()
    return StatsAnswer(**counts, chunks=chunks, vectors=vectors, extractor=graph.about(FOUND_BY))


# --- from names to entities ---


def named(graph: Graph, text: str, kind: str) -> Named:
    """Return the one entity that a text means, or all that it may mean; raise QueryError if there is none."""
    kind = _known_type(graph, kind)
    matches, guess = _meant(graph.database, text, kind)
    if not matches:
        raise _unknown(graph.database, text, kind)
    things = matches if guess or kind else _things(graph.database, matches)
    if len(things) == 1:
        note = f"{text!r} may also mean {_listed(graph, matches, things)}." if things != matches else ""
        return Named(entity=things[0], note=_guess(text) if guess else note)
    several = f"{len(matches)} things"
    note = f"Nothing is called {text!r}, and {several} are near it." if guess else f"{text!r} may mean {several}."
    choices = tuple(nodes(graph, matches[:MOST_CHOICES]).values())
    return Named(note=f"{note} Ask again with one of these:", choices=choices)


def _things(database: Connection, idents: list[int]) -> list[int]:
    """Return the entities that are more than labels of documents, or all if none is."""
    sql = "select entities.id, entities.type from json_each(?) ids join entities on entities.id = ids.value"
    types = dict(database.execute(sql, (json_numbers(idents),)).fetchall())
    return [ident for ident in idents if types[ident] not in LABELS] or idents


def _listed(graph: Graph, idents: list[int], excluded: list[int]) -> str:
    others = [ident for ident in idents if ident not in excluded][:MOST_CHOICES]
    return ", ".join(f"{node.type} {node.short}" for node in nodes(graph, others).values())


def _meant(database: Connection, text: str, kind: str) -> tuple[list[int], bool]:
    """Return the entities that a text may mean, and whether they are a guess.

    The text may be a name, or what answers write where a name is not enough: `METHOD Cart.add in shop.py`.
    """
    text = _storable(" ".join(text.split())[:LONGEST])

    def has(sql: str, value: str) -> bool:
        return database.execute(f"select 1 from {sql} = ? limit 1", (value,)).fetchone() is not None  # noqa: S608

    first, _, rest = text.partition(" ")
    name, _, document = text.rpartition(" in ")
    if not has("entities where name", text):
        if rest and has("entities where type", first):
            return _meant(database, rest, first)
        if name and has("documents where name", document):
            sql = "select places.entity from places join documents on documents.id = document where documents.name = ?"
            here = {row[0] for row in database.execute(sql, (document,))}
            inner = find(database, name, kind)
            return [entity for entity in inner.entities if entity in here], inner.is_guess
    matches = find(database, text, kind)
    return list(matches.entities), matches.is_guess


def _guess(text: str) -> str:
    return f"Nothing is called {text!r}; this is the nearest."


def _unknown(database: Connection, text: str, kind: str) -> QueryError:
    condition, values = ("where type = ?", (kind,)) if kind else ("", ())
    names = database.execute(f"select distinct name from entities {condition} limit {NEAR}", values)  # noqa: S608
    near = did_you_mean(text, (name for (name,) in names if 2 * len(name) > len(text)))
    fix = f"{near} To see what there is, type: deia graph entities".lstrip()
    return QueryError(f"the graph has no {kind.lower() or 'entity'} {text[:200]!r}", fix=fix)


def _known_type(graph: Graph, kind: str) -> str:
    kind = _storable(kind.strip().upper())
    if kind and not graph.database.execute("select 1 from entities where type = ? limit 1", (kind,)).fetchone():
        known = ", ".join(traversal.stats(graph).entity_types)
        raise QueryError(f"the graph has no entity of type {kind[:100]!r}", fix=f"Types are: {known or 'none yet'}.")
    return kind


def _storable(text: str) -> str:
    """Return a text without lone surrogates, which a terminal or a program may send and SQLite refuses."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _check_choice(what: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise QueryError(f"{what} {value[:100]!r} is unknown", fix=f"Known are: {', '.join(known)}.")


def _within(number: int, most: int, what: str) -> int:
    if not 1 <= number <= most:
        raise QueryError(f"{what} {number} is out of range", fix=f"Give a number between 1 and {most}.")
    return number


# --- from ids to records ---


def nodes(graph: Graph, idents: Iterable[int]) -> dict[int, Node]:
    """Return entities by id, in this order."""
    run = graph.database.execute
    rows = run(NODES, (json_numbers(idents),)).fetchall()
    places = json.loads(f"[{','.join(row[5] for row in rows)}]")  # parsed one by one, they would take half of the time
    many = [row[0] for row, listed in zip(rows, places, strict=True) if len(listed) == MOST_PLACES]
    documents = dict(run(DOCUMENTS, (json_numbers(many),)).fetchall()) if many else {}
    defaults = {kind: graph.schema.fields_of(kind, {}) for kind in {row[2] for row in rows}}
    return {
        ident: Node(
            name, kind, description or "", tuple(map(Place._make, listed)), documents.get(ident, len(listed)),
            defaults[kind] if fields == NO_FIELDS else defaults[kind] | merged(fields),
        )
        for (ident, name, kind, description, fields, _), listed in zip(rows, places, strict=True)
    }  # fmt: skip


def relations_of(graph: Graph, edges: Sequence[Edge], known: Mapping[int, Node]) -> tuple[Relation, ...]:
    """Return relations with their evidence and their ends, of which `known` has those that were read already."""
    unknown = {entity: None for edge in edges for entity in edge[:2] if entity not in known}
    ends = {**known, **nodes(graph, unknown)}
    rows = graph.database.execute(EVIDENCE, (json_numbers(edge.ref for edge in edges),))
    defaults = {kind: graph.schema.fields_of_relation(kind, {}) for kind in {edge.type for edge in edges}}
    shown = {
        ref: (Evidence(name, line, about or ""), json.loads(fields) if fields else {})
        for ref, name, line, about, fields in rows
    }
    nothing: tuple[Evidence, dict[str, Json]] = (Evidence(""), {})
    return tuple(
        Relation(ends[source], kind, ends[target], CERTAINTIES[certainty], evidence, defaults[kind] | fields)
        for source, target, kind, certainty, ref in edges
        for evidence, fields in (shown.get(ref, nothing),)
    )


def _types(database: Connection, idents: Iterable[int]) -> dict[str, int]:
    sql = """select entities.type, count(*) from json_each(?) ids join entities on entities.id = ids.value
        group by 1 order by 2 desc, 1"""
    return dict(database.execute(sql, (json_numbers(idents),)).fetchall())
