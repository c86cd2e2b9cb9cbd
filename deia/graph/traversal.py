"""Ways through the graph: what is around an entity, upstream and downstream of it, between two, and what rests on one.

Everything is bounded: of an entity that everything touches, some relations of each type are followed, and the answer
says so in `is_cut`. Which way something flows is decided by the type of a relation: whoever CONSUMES stands downstream
of what it consumes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from deia.graph.graph_store import Graph

SIDES = ("source", "target")
IN, OUT, BOTH = DIRECTIONS = ("in", "out", "both")
UPSTREAM, DOWNSTREAM = FLOWS = ("upstream", "downstream")
# Relations by which the source rests on the target: a change of the target reaches the source.
DEPENDING = frozenset(
    ("CALLS", "DEPENDS_ON", "EXTENDS", "IMPLEMENTS", "IMPORTS", "INHERITS", "REFERENCES", "REQUIRES", "USES")
)
TAKING = frozenset(("CONSUMES", "LISTENS_TO", "READS", "READS_FROM", "RECEIVES", "SUBSCRIBES_TO"))
AGAINST = DEPENDING | TAKING  # what flows goes from the target to the source; along any other type, as it is written
STILL = frozenset(("CONTAINS", "DEFINES", "LINKS_TO", "MENTIONS"))  # nothing flows
# Conditions of types: of all, and of those that lead on from a source and from a target as things flow.
ANY = "1"
ONWARD, BACK = (
    f"type {which} {tuple(sorted(kinds))}" for which, kinds in (("not in", STILL | AGAINST), ("in", AGAINST))
)
FOLLOWED = 32  # relations of an entity in each direction; of one that has more, so many of each type
MOST_EXPANDED = 5_000  # entities whose relations are read for one answer
MOST_REACHED = 60
MOST_DEPENDENTS = 10_000
AT_ONCE = 16  # entities that are followed between two looks at whether enough was reached
COUNTED = 1_000  # relations of an entity that are counted at most, to tell how rare it is
MAX_DEPTH = 5
MOST_HUBS = 1_000  # whose relations are kept once they were read
COLUMNS = "json_group_array(json_array(source, target, type, certainty, ref))"
# For each entity and side: whether it is a hub, and the relations whose types are wanted.
ADJACENT = f"""select value,
    (select json_array(count(*) > {FOLLOWED}, {COLUMNS} filter (where {{}}))
    from (select * from relations where source = value limit {FOLLOWED + 1})),
    (select json_array(count(*) > {FOLLOWED}, {COLUMNS} filter (where {{}}))
    from (select * from relations where target = value limit {FOLLOWED + 1})) from json_each(?)"""  # noqa: S608
# The types of the relations of a hub, one after another by the index; counting through all of them would be slow.
TYPES = """with recursive types (type) as (select min(type) from relations where {side} = :id union all
    select (select min(type) from relations where {side} = :id and relations.type > types.type) from types
    where types.type is not null) select type from types where type is not null and {wanted}"""
# To count the rows of each type takes half as long as to group all rows.
BY_TYPE = """with recursive types (type) as (select min(type) from {table} union all
    select (select min(type) from {table} where {table}.type > types.type) from types where types.type is not null)
    select type, (select count(*) from {table} where {table}.type = types.type) from types where type is not null
    order by 2 desc, 1"""
OF_TYPE = "select source, target, type, certainty, ref from relations where {side} = ? and type = ? limit ?"
OF_TYPES = f"""select (select {COLUMNS} from (select * from relations where {{side}} = ? and type = kinds.value
    limit {FOLLOWED + 1})) from json_each(?) kinds"""  # noqa: S608
DEGREES = f"""select value,
    (select count(*) from (select 1 from relations where source = value limit {COUNTED})) +
    (select count(*) from (select 1 from relations where target = value limit {COUNTED})) from json_each(?)"""  # noqa: S608
RESTING = """select source, target, relations.type, certainty, ref from json_each(?) of join relations
    on target = of.value and relations.type in (select value from json_each(?)) limit ?"""


_Row = list[Any]  # a relation before it is an `Edge`: most are never shown


class Edge(NamedTuple):
    """A relation between two entities, by their ids; `certainty` is an index, the surest first."""

    source: int
    target: int
    type: str
    certainty: int
    ref: int

    def other(self, entity: int) -> int:
        """Return the end that is not this entity."""
        return self.target if entity == self.source else self.source


class Around(NamedTuple):
    """Relations of some entities, and whether there are more."""

    edges: list[Edge]
    is_cut: bool


class Reached(NamedTuple):
    """The entities that were reached, by distance, each with the relation that led there."""

    layers: list[dict[int, Edge]]
    is_cut: bool


class Way(NamedTuple):
    """A shortest path: entities, and the relation between each and the next; no entities if there is none."""

    entities: list[int]
    edges: list[Edge]
    is_cut: bool


class Counts(NamedTuple):
    """How much there is in a graph."""

    documents: int
    entities: int
    relations: int
    entity_types: Mapping[str, int]
    relation_types: Mapping[str, int]


def adjacent(graph: Graph, entities: Iterable[int]) -> list[Edge]:
    """Return the relations of entities in both directions; one between two of them comes twice."""
    return [Edge._make(row) for row in _adjacent(graph, entities)[0]]


def _adjacent(graph: Graph, entities: Iterable[int], wanted: tuple[str, str] = (ANY, ANY)) -> tuple[list[_Row], bool]:
    """Return the rows of relations of entities, and whether there are more.

    `wanted` has conditions on the type: of relations whose source is an entity, and of those whose target is one.
    """
    by_entity = graph.database.execute(ADJACENT.format(*wanted), (json_numbers(entities),)).fetchall()
    # To read each list by itself would take twice as long.
    lists: list[tuple[bool, list[_Row]]] = json.loads(f"[{','.join(text for row in by_entity for text in row[1:])}]")
    for number in [number for number, (is_hub, _) in enumerate(lists) if is_hub]:
        rows, is_cut = _of_hub(graph, SIDES[number % 2], by_entity[number // 2][0], wanted[number % 2])
        lists[number] = is_cut, rows
    return [row for _, rows in lists for row in rows], any(is_cut for is_cut, _ in lists)


def _of_hub(graph: Graph, side: str, entity: int, wanted: str) -> tuple[list[_Row], bool]:
    """Return some relations of each type, so that the many of one type do not hide the few of another."""
    hubs, run = _kept(graph).hubs, graph.database.execute
    if (side, entity, wanted) not in hubs:
        types = [kind for (kind,) in run(TYPES.format(side=side, wanted=wanted), {"id": entity})]
        listed = run(OF_TYPES.format(side=side), (entity, json.dumps(types)))
        rows: list[list[_Row]] = [json.loads(text) for (text,) in listed]
        if len(hubs) >= MOST_HUBS:
            hubs.clear()
        several = [row for of_type in rows for row in of_type[:FOLLOWED]]
        hubs[side, entity, wanted] = several, any(len(of_type) > FOLLOWED for of_type in rows)
    return hubs[side, entity, wanted]


def neighbours(graph: Graph, entity: int, *, direction: str = BOTH, limit: int = FOLLOWED) -> Around:
    """Return the relations of an entity, the surest first; a limit is shared fairly by the types of relations."""
    groups: list[list[Edge]] = []
    for side in [side for side, way in zip(SIDES, (OUT, IN), strict=True) if direction in (way, BOTH)]:
        for (kind,) in graph.database.execute(TYPES.format(side=side, wanted=ANY), {"id": entity}).fetchall():
            rows = graph.database.execute(OF_TYPE.format(side=side), (entity, kind, limit + 1))
            groups.append([Edge(*row) for row in rows])
    every = sum(map(len, groups))
    share = max(1, limit // max(1, len(groups)))
    while sum(min(len(group), share) for group in groups) < min(every, limit):
        share += 1
    edges = [edge for group in groups for edge in group[:share]][:limit]
    return Around(sorted(dict.fromkeys(edges), key=by_certainty), every > limit)


def trace(
    graph: Graph, starts: Sequence[int], *, direction: str, depth: int = MAX_DEPTH, most: int = MOST_REACHED
) -> Reached:
    """Return what is downstream (or upstream) of entities: what takes from them, rests on them or is made by them."""
    wanted = (ONWARD, BACK) if direction == DOWNSTREAM else (BACK, ONWARD)
    return _reach(starts, lambda front: _adjacent(graph, front, wanted), depth, most)


def dependents(graph: Graph, starts: Sequence[int], *, depth: int = MAX_DEPTH, most: int = MOST_DEPENDENTS) -> Reached:
    """Return what may break if entities or what they contain change: the sources of relations that lead there."""
    types = json.dumps(sorted(AGAINST))

    def follow(front: Iterable[int]) -> tuple[list[_Row], bool]:
        rows = graph.database.execute(RESTING, (json_numbers(front), types, most * 2)).fetchall()
        return rows, len(rows) == most * 2

    return _reach([*starts, *members(graph, starts)], follow, depth, most)


def _reach(
    starts: Sequence[int], follow: Callable[[Iterable[int]], tuple[list[_Row], bool]], depth: int, most: int
) -> Reached:
    """Return what is reached step by step; `follow` returns the relations that lead on from the last step."""
    known, layers, is_cut = set(starts), list[dict[int, Edge]](), False
    front: Collection[int] = known.copy()
    while front and len(layers) < depth:
        layer: dict[int, _Row] = {}
        room, ahead = most - len(known) + len(starts), list(front)
        for at in range(0, len(ahead), AT_ONCE):
            edges, was_cut = follow(ahead[at : at + AT_ONCE])
            is_cut = is_cut or was_cut
            onward = [edge for edge in edges if edge[0] not in known or edge[1] not in known]
            for edge in sorted(onward, key=by_certainty):
                layer.setdefault(edge[edge[0] in known], edge)
            if len(layer) > room:
                layer, is_cut = dict(list(layer.items())[:room]), True
                break
        known |= layer.keys()
        front = layer.keys()
        layers += [{entity: Edge._make(row) for entity, row in layer.items()}] if layer else []
    return Reached(layers, is_cut)


def members(graph: Graph, entities: Iterable[int]) -> list[int]:
    """Return what belongs to entities: all that a document defines, and what is named after a class in it."""
    run = graph.database.execute
    ids: list[int] = []
    for entity in entities:
        sql = "select document, one.name, documents.entity from entities one join documents on documents.id = document"
        for document, name, whole in run(f"{sql} where one.id = ?", (entity,)).fetchall():
            rows = run("select id, name from entities where document = ? limit ?", (document, MOST_DEPENDENTS))
            ids += [ident for ident, own in rows if ident != entity and (whole == entity or own.startswith(f"{name}."))]
    return ids


def shortest_path(graph: Graph, start: int, end: int, *, max_depth: int = MAX_DEPTH) -> Way:
    """Return a shortest path, whichever way its relations point.

    Among equally short ones, it is the one through the rarest entities: two things that everything touches say little
    about each other.
    """
    if start == end:
        return Way([start], [], is_cut=False)
    steps: tuple[_Steps, _Steps] = ({start: []}, {end: []})
    layers: tuple[list[Collection[int]], ...] = ([{start}], [{end}])
    is_cut, expanded = False, 0
    for _ in range(max_depth):
        side = min((0, 1), key=lambda number: len(layers[number][-1]))
        front = layers[side][-1]
        expanded += len(front)
        if not front or expanded > MOST_EXPANDED:
            return Way([], [], is_cut or expanded > MOST_EXPANDED)
        edges, was_cut = _adjacent(graph, front)
        is_cut = is_cut or was_cut
        layers[side].append(_advance(steps[side], front, edges))
        for layer in layers[1 - side]:  # the last one, unless hubs were cut
            if met := [entity for entity in layers[side][-1] if entity in layer]:
                return _rarest(graph, steps, met, is_cut=is_cut)
    return Way([], [], is_cut)


_Steps = dict[int, list[_Row]]  # each entity with the relations by which it was first reached


def _advance(steps: _Steps, front: Collection[int], edges: Iterable[_Row]) -> Collection[int]:
    """Add what the relations lead to, and return it."""
    new: _Steps = {}
    for edge in edges:
        source, target = edge[0], edge[1]
        if source in front and target not in steps:
            new.setdefault(target, []).append(edge)
        if target in front and source not in steps:
            new.setdefault(source, []).append(edge)
    steps.update(new)
    return new.keys()


def _rarest(graph: Graph, steps: tuple[_Steps, _Steps], met: Sequence[int], *, is_cut: bool) -> Way:
    costs = _costs(graph, steps, met)
    middle = min(met, key=lambda entity: (costs[0][entity] + costs[1][entity], entity))
    before, after = (_walk_back(steps[side], costs[side], middle) for side in (0, 1))
    edges = [Edge._make(row) for row in (*reversed(before), *after)]
    entities = [next(iter(steps[0]))]
    for edge in edges:
        entities.append(edge.other(entities[-1]))
    return Way(entities, edges, is_cut)


def _walk_back(steps: _Steps, costs: Mapping[int, float], entity: int) -> list[_Row]:
    edges = []
    while steps[entity]:
        here = entity
        edge = min(steps[here], key=lambda edge: (costs[_other(edge, here)] + edge[3], edge))
        edges.append(edge)
        entity = _other(edge, here)
    return edges


def _other(row: _Row, entity: int) -> int:
    """Return the end of a relation that is not this entity."""
    other: int = row[1] if entity == row[0] else row[0]
    return other


def _costs(graph: Graph, steps: tuple[_Steps, _Steps], met: Sequence[int]) -> tuple[dict[int, float], dict[int, float]]:
    """Return for each side what the cheapest way costs to the entities that lead to where the sides met."""
    ways = [_leading(side, met) for side in steps]
    weights = _weights(graph, {*ways[0], *ways[1]})
    costs: tuple[dict[int, float], dict[int, float]] = ({}, {})
    for side, way, cost in zip(steps, ways, costs, strict=True):
        for entity in reversed(way):  # from the start on
            before = [cost[_other(edge, entity)] + edge[3] for edge in side[entity]]
            cost[entity] = min(before) + weights[entity] if before else 0.0
    return costs


def _weights(graph: Graph, entities: set[int]) -> dict[int, float]:
    """Return how common entities are; this is kept for hubs, which take long to count."""
    kept = _kept(graph).weights
    weights = {entity: kept[entity] for entity in entities if entity in kept}
    for entity, degree in graph.database.execute(DEGREES, (json_numbers(entities - weights.keys()),)):
        weights[entity] = math.log2(1 + degree)
        if degree > FOLLOWED and len(kept) < MOST_HUBS:
            kept[entity] = weights[entity]
    return weights


def _leading(steps: _Steps, met: Iterable[int]) -> list[int]:
    """Return the entities on all shortest ways from where the sides met back to a start, the farthest first."""
    way, front = dict[int, None](), dict.fromkeys(met)
    while front:
        way |= front
        front = dict.fromkeys(_other(edge, entity) for entity in front for edge in steps[entity])
    return list(way)


class _Kept:
    """What was read from a graph, valid until the graph changes."""

    def __init__(self, version: tuple[int, int]) -> None:
        self.version = version
        self.counts: Counts | None = None
        self.hubs: dict[tuple[str, int, str], tuple[list[_Row], bool]] = {}
        self.weights: dict[int, float] = {}


_all_kept: WeakKeyDictionary[Graph, _Kept] = WeakKeyDictionary()


def _kept(graph: Graph) -> _Kept:
    version = (graph.database.execute("pragma data_version").fetchone()[0], graph.database.total_changes)
    if graph.database.in_transaction:  # which may be rolled back
        return _Kept(version)
    kept = _all_kept.get(graph)
    if kept is None or kept.version != version:
        kept = _all_kept[graph] = _Kept(version)
    return kept


def stats(graph: Graph) -> Counts:
    """Return how much there is; it is counted again only after a change."""
    kept = _kept(graph)
    if kept.counts is None:
        entities, relations = (
            dict(graph.database.execute(BY_TYPE.format(table=table)).fetchall()) for table in ("entities", "relations")
        )
        documents: int = graph.database.execute("select count(*) from documents").fetchone()[0]
        kept.counts = Counts(documents, sum(entities.values()), sum(relations.values()), entities, relations)
    return kept.counts


def json_numbers(values: Iterable[int]) -> str:
    """Return numbers as SQLite's `json_each` reads them."""
    return f"[{','.join(map(str, values))}]"


by_certainty = itemgetter(3, 2, 0, 1)  # what edges are sorted by: the surest first
