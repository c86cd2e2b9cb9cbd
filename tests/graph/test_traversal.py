"""Ways through the graph: the shortest there are, never a circle, bounded at hubs."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.graph.facts import MENTIONED, Entity, Facts, Reference
from deia.graph.graph_store import Graph
from deia.graph.traversal import (
    AGAINST,
    DOWNSTREAM,
    FOLLOWED,
    STILL,
    UPSTREAM,
    dependents,
    neighbours,
    shortest_path,
    stats,
    trace,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

TYPES = ("CALLS", "CONSUMES", "FEEDS", "MENTIONS", "PRODUCES")


class Said(NamedTuple):
    """A relation between services."""

    source: str
    type: str
    target: str
    certainty: str = "resolved"


class Made(NamedTuple):
    """A graph and the ids of its services."""

    graph: Graph
    ids: dict[str, int]

    def names(self, idents: Iterable[int]) -> list[str]:
        by_id = {ident: name for name, ident in self.ids.items()}
        return [by_id[ident] for ident in idents]


def said(text: str) -> list[Said]:
    """Return the relations of lines such as `A USES B`."""
    return [Said(*line.split()) for line in text.split(",")]


@contextmanager
def made(relations: Iterable[Said]) -> Iterator[Made]:
    listed = list(relations)
    names = dict.fromkeys(name for one in listed for name in (one.source, one.target))
    facts = Facts(
        entities=tuple(Entity(name, "SERVICE", 1, 1, shared=True) for name in names),
        references=tuple(
            Reference(one.type, one.target, number, one.source, "SERVICE", one.certainty)
            for number, one in enumerate(listed, 1)
        ),
    )
    with tempfile.TemporaryDirectory() as folder, Graph(folder) as graph:
        with graph.transaction():
            graph.put("services.md", "1", facts)
        ids = dict(graph.database.execute("select name, id from entities where type = 'SERVICE'"))
        yield Made(graph, ids)


FLOW = "A PRODUCES Kafka,Analytics CONSUMES Kafka,Dashboard USES Analytics,Docs MENTIONS Kafka"


def test_downstream_is_where_data_goes_whichever_way_the_relations_are_written() -> None:
    with made(said(FLOW)) as it:
        down = trace(it.graph, [it.ids["A"]], direction=DOWNSTREAM)
        assert [it.names(layer) for layer in down.layers] == [["Kafka"], ["Analytics"], ["Dashboard"]]
        up = trace(it.graph, [it.ids["Dashboard"]], direction=UPSTREAM)
        assert [it.names(layer) for layer in up.layers] == [["Analytics"], ["Kafka"], ["A"]]
        assert not up.is_cut


def test_a_custom_type_flows_as_it_is_written() -> None:
    with made(said("A FEEDS B")) as it:
        assert trace(it.graph, [it.ids["A"]], direction=DOWNSTREAM).layers
        assert not trace(it.graph, [it.ids["B"]], direction=DOWNSTREAM).layers


def test_a_path_goes_against_relations_too_and_says_which_way_they_point() -> None:
    with made(said(FLOW)) as it:
        way = shortest_path(it.graph, it.ids["A"], it.ids["Dashboard"])
        assert it.names(way.entities) == ["A", "Kafka", "Analytics", "Dashboard"]
        assert [edge.source == one for edge, one in zip(way.edges, way.entities, strict=False)] == [True, False, False]
        assert shortest_path(it.graph, it.ids["A"], it.ids["Dashboard"], max_depth=2).entities == []
        assert shortest_path(it.graph, it.ids["A"], it.ids["A"]).entities == [it.ids["A"]]


def test_of_paths_that_are_equally_short_the_one_through_rare_things_is_taken() -> None:
    crowd = [Said(f"other{number}", "USES", "logging") for number in range(9)]
    with made([*said("A USES logging,B USES logging,A USES ledger,B USES ledger"), *crowd]) as it:
        assert it.names(shortest_path(it.graph, it.ids["A"], it.ids["B"]).entities) == ["A", "ledger", "B"]


def test_of_relations_that_are_equally_short_the_surest_is_taken() -> None:
    with made([Said("A", "CALLS", "B", MENTIONED), Said("A", "USES", "B")]) as it:
        assert shortest_path(it.graph, it.ids["A"], it.ids["B"]).edges[0].type == "USES"


def test_a_hub_is_followed_in_part_and_that_is_told() -> None:
    crowd = [Said(f"s{number:03}", "CALLS", "hub") for number in range(3 * FOLLOWED)]
    with made([*crowd, Said("maker", "PRODUCES", "hub")]) as it:
        down = trace(it.graph, [it.ids["hub"]], direction=DOWNSTREAM)
        assert (down.is_cut, sum(map(len, down.layers))) == (True, FOLLOWED)
        up = trace(it.graph, [it.ids["hub"]], direction=UPSTREAM)
        assert [it.names(layer) for layer in up.layers] == [["maker"]], "the one maker is not lost among the callers"
        assert not up.is_cut
        way = shortest_path(it.graph, it.ids["s000"], it.ids["s095"])
        assert it.names(way.entities) == ["s000", "hub", "s095"]
        around = neighbours(it.graph, it.ids["hub"], limit=10)
        assert (len(around.edges), around.is_cut) == (10, True)
        assert "PRODUCES" in {edge.type for edge in around.edges}
        assert len(dependents(it.graph, [it.ids["hub"]]).layers[0]) == 3 * FOLLOWED


def test_what_is_kept_of_a_hub_is_read_again_after_a_change() -> None:
    crowd = [Said(f"s{number:03}", "CALLS", "hub") for number in range(FOLLOWED + 5)]
    more = Facts(references=(Reference("DEPENDS_ON", "hub", 1, "", "SERVICE"),))
    with made([*crowd, Said("s000", "USES", "rare"), Said("s001", "USES", "rare")]) as it:
        assert it.names(shortest_path(it.graph, it.ids["s000"], it.ids["s001"]).entities)[1] == "rare"
        before = trace(it.graph, [it.ids["hub"]], direction=DOWNSTREAM)
        assert trace(it.graph, [it.ids["hub"]], direction=DOWNSTREAM) == before
        with it.graph.transaction():
            it.graph.put("more.md", "1", more)
        after = trace(it.graph, [it.ids["hub"]], direction=DOWNSTREAM)
        assert {edge.type for edge in after.layers[0].values()} == {"CALLS", "DEPENDS_ON"}
        with it.graph.transaction():
            it.graph.remove("more.md")
        assert trace(it.graph, [it.ids["hub"]], direction=DOWNSTREAM) == before


def test_what_breaks_if_a_class_changes_includes_what_calls_its_methods(tmp_path: Path) -> None:
    shop = Facts(module="shop", entities=(Entity("shop.Cart", "CLASS", 1, 9), Entity("shop.Cart.add", "METHOD", 2, 3)))
    till = Facts(
        module="till", entities=(Entity("till.pay", "FUNCTION", 1, 3),),
        references=(Reference("CALLS", "shop.Cart.add", 2, "till.pay"),),
    )  # fmt: skip
    web = Facts(module="web", references=(Reference("IMPORTS", "till", 1), Reference("CALLS", "till.pay", 2)))
    with Graph(str(tmp_path)) as graph:
        with graph.transaction():
            for name, facts in {"shop.py": shop, "till.py": till, "web.py": web}.items():
                graph.put(name, name, facts)
        ids = dict(graph.database.execute("select name, id from entities"))
        for start in ("shop", "shop.Cart", "shop.Cart.add"):
            layers = dependents(graph, [ids[start]]).layers
            assert [sorted(layer) for layer in layers] == [[ids["till.pay"]], [ids["web"]]]
        assert dependents(graph, [ids["web"]]).layers == []


def test_numbers_are_those_of_the_graph_after_a_change_too(tmp_path: Path) -> None:
    with made(said(FLOW)) as it:
        before = stats(it.graph)
        assert (before.documents, before.entities, before.relations) == (1, 6, 4)
        assert before.relation_types == {"CONSUMES": 1, "MENTIONS": 1, "PRODUCES": 1, "USES": 1}
        with it.graph.transaction():
            it.graph.put("more.md", "1", Facts())
        assert stats(it.graph).documents == 2
        with Graph(it.graph.folder) as other, other.transaction():
            other.remove("more.md")
        assert stats(it.graph).documents == 1


NAMES = st.sampled_from("abcdefghij")
RELATIONS = st.lists(st.builds(Said, NAMES, st.sampled_from(TYPES), NAMES), min_size=1, max_size=25)


def steps(edges: Iterable[tuple[str, str]], start: str) -> dict[str, int]:
    """Return how many steps everything that can be reached is away."""
    listed, distance, front = list(edges), {start: 0}, {start}
    while front:
        front = {target for source, target in listed if source in front} - distance.keys()
        distance |= dict.fromkeys(front, max(distance.values()) + 1)
    return distance


@settings(max_examples=60, deadline=None)
@given(RELATIONS, st.data())
def test_paths_are_as_short_as_a_plain_search_finds_and_never_go_in_circles(
    relations: list[Said], data: st.DataObject
) -> None:
    with made(relations) as it:
        start, end = (data.draw(st.sampled_from(sorted(it.ids))) for _ in range(2))
        both = [pair for one in relations for pair in ((one.source, one.target), (one.target, one.source))]
        distance = steps(both, start).get(end, 99)
        way = shortest_path(it.graph, it.ids[start], it.ids[end])
        assert len(way.edges) == (distance if distance <= 5 else 0)
        assert (it.names(way.entities)[-1:] == [end]) == (distance <= 5)
        assert len(set(way.entities)) == len(way.entities)
        for edge, one, other in zip(way.edges, way.entities, way.entities[1:], strict=False):
            assert {edge.source, edge.target} == {one, other}


@pytest.mark.parametrize("direction", [UPSTREAM, DOWNSTREAM])
@settings(max_examples=40, deadline=None)
@given(relations=RELATIONS, data=st.data())
def test_traces_reach_what_a_plain_search_reaches_in_as_many_steps(
    direction: str, relations: list[Said], data: st.DataObject
) -> None:
    with made(relations) as it:
        start = data.draw(st.sampled_from(sorted(it.ids)))
        flows = [one[::2] if one.type not in AGAINST else one[2::-2] for one in relations if one.type not in STILL]
        wanted = steps([(a, b) if direction == DOWNSTREAM else (b, a) for a, b in flows], start)
        reached = trace(it.graph, [it.ids[start]], direction=direction)
        layers = [set(it.names(layer)) for layer in reached.layers]
        assert layers == [
            found for depth in range(1, 6) if (found := {name for name, at in wanted.items() if at == depth})
        ]
