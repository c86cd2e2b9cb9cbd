"""Questions to the graph are answered with evidence, and never silently about the wrong one of several things."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia import fast_json
from deia.errors import QueryError
from deia.graph.facts import BY_NAME, Entity, Facts, Reference
from deia.graph.graph_questions import dependents, entities, path, relations, stats, trace
from deia.graph.graph_store import Graph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from deia.graph.graph_answers import GraphAnswer

SERVICES = Facts(
    entities=tuple(
        Entity(name, "SERVICE", line, line, f"what {name} is for", shared=True)
        for line, name in enumerate(("ServiceA", "Kafka", "ServiceB"), 1)
    ),
    references=(
        Reference("PRODUCES", "Kafka", 11, "ServiceA", "SERVICE", description="ServiceA writes orders to Kafka."),
        Reference("CONSUMES", "Kafka", 12, "ServiceB", "SERVICE", BY_NAME),
    ),
)
ONE = Facts(module="one", entities=(Entity("main", "FUNCTION", 3, 5), Entity("Kafka", "CLASS", 9, 9)))
OTHER = Facts(module="other", entities=(Entity("main", "FUNCTION", 7, 8),), references=(Reference("CALLS", "one", 8),))


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    with Graph(str(tmp_path)) as opened:
        with opened.transaction():
            for name, facts in {"flow.md": SERVICES, "one.py": ONE, "other.py": OTHER}.items():
                opened.put(name, name, facts)
        yield opened


def test_a_path_is_drawn_as_data_flows_with_the_lines_that_show_it(graph: Graph) -> None:
    answer = path(graph, "ServiceA", "ServiceB")
    first, *because = answer.text.splitlines()
    assert first == "ServiceA --[PRODUCES]--> Kafka --[CONSUMES]--> ServiceB"
    assert because == [
        "  ServiceA --[PRODUCES]--> Kafka (flow.md:11 ServiceA writes orders to Kafka.)",
        "  ServiceB <--[CONSUMES]-- Kafka (flow.md:12, by name)",
    ]
    assert "--[CALLS]-->" in path(graph, "other", "one").text
    assert "<--[CALLS]--" in path(graph, "one", "other").text


def test_where_there_is_no_path_that_is_told(graph: Graph) -> None:
    assert path(graph, "ServiceA", "other").text == "No path between 'ServiceA' and 'other' has 5 steps or fewer."


def test_a_trace_is_told_as_chains_in_the_direction_of_the_flow(graph: Graph) -> None:
    assert trace(graph, "ServiceA").text.startswith("ServiceA → Kafka → ServiceB\nbecause\n")
    assert trace(graph, "ServiceB", direction="upstream").text.startswith("ServiceA → Kafka → ServiceB\n")
    assert trace(graph, "ServiceB").text == "Nothing is known downstream of ServiceB."


def test_a_name_of_several_things_is_not_decided_and_each_can_be_typed(graph: Graph) -> None:
    answer = relations(graph, "main")
    assert answer.entity is None
    assert [choice.typed for choice in answer.choices] == ["FUNCTION main in one.py", "FUNCTION main in other.py"]
    assert "may mean 2 things" in answer.text
    for choice in answer.choices:
        shown = relations(graph, choice.typed).entity
        assert shown == choice
    chosen = [choice.typed for choice in trace(graph, "Kafka").choices]
    assert chosen == ["SERVICE Kafka in flow.md", "CLASS Kafka in one.py"]
    assert trace(graph, "SERVICE Kafka").entity == trace(graph, "kafka", kind="service").entity
    assert path(graph, "ServiceA", "Kafka").choices


def test_a_guess_says_so(graph: Graph) -> None:
    answer = relations(graph, "ServiceAA")
    assert answer.note or answer.choices
    assert "Nothing is called 'ServiceAA'" in answer.text


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda graph: relations(graph, "xylophone"), "type: deia graph entities"),
        (lambda graph: relations(graph, "main", direction="up"), "Known are: in, out, both"),
        (lambda graph: trace(graph, "main", direction="up"), "Known are: upstream, downstream"),
        (lambda graph: entities(graph, kind="QUEUE"), "Types are: "),
        (lambda graph: path(graph, "main", "one", max_depth=0), "between 1 and 20"),
        (lambda graph: entities(graph, limit=0), "between 1 and 1000"),
    ],
)
def test_what_cannot_be_answered_says_what_to_type(graph: Graph, ask: object, told: str) -> None:
    assert callable(ask)
    with pytest.raises(QueryError, match=told):
        ask(graph)


def test_entities_are_listed_by_type_or_by_name_with_their_places(graph: Graph) -> None:
    answer = entities(graph, kind="service", limit=2)
    assert (answer.total, answer.is_cut) == (3, True)
    assert answer.text.splitlines()[0] == "SERVICE Kafka (flow.md:2): what Kafka is for"
    assert [node.type for node in entities(graph, query="kafka").entities] == ["SERVICE", "CLASS"]
    assert entities(graph).total == 9


def test_what_breaks_is_counted_by_type_and_by_relation(graph: Graph) -> None:
    told = dependents(graph, "one").text
    assert told.startswith("1 thing may break if one changes (MODULE 1), 1 directly; by relation: CALLS 1\n")


def test_what_consumes_a_thing_may_break_too(graph: Graph) -> None:
    assert dependents(graph, "SERVICE Kafka").by_relation == {"CONSUMES": 1}


def test_the_numbers_are_told_in_one_line_and_then_by_type(graph: Graph) -> None:
    told = stats(graph, chunks=320, vectors=320).text
    assert told.startswith("Documents: 3, Chunks: 320, Entities: 9, Relations: 3, Vectors: 320\n")


def test_an_answer_is_json_too(graph: Graph) -> None:
    fields = fast_json.loads(fast_json.dumps(path(graph, "ServiceA", "ServiceB").to_dict()))
    assert fields["relations"][0]["evidence"] == {
        "document": "flow.md", "line": 11, "description": "ServiceA writes orders to Kafka.",
    }  # fmt: skip
    assert [node["name"] for node in fields["entities"]] == ["ServiceA", "Kafka", "ServiceB"]


def test_a_name_cannot_break_a_line_or_control_a_terminal(graph: Graph) -> None:
    with graph.transaction():
        graph.put("evil.md", "1", Facts(entities=(Entity("a\n\x1b[31mb", "SERVICE", 1, 1, "c\nd", shared=True),)))
    told = entities(graph, kind="SERVICE").text
    assert len(told.splitlines()) == 4
    assert "\x1b" not in told


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(max_size=40) | st.sampled_from(["\udcff", "SERVICE " * 2_000, "main in ", " in one.py", "SERVICE", "."]),
    st.sampled_from(["", "service", "\ud800"]),
)
def test_whatever_is_typed_is_answered_or_refused_in_words(graph: Graph, text: str, kind: str) -> None:
    asked: tuple[Callable[[], GraphAnswer], ...] = (
        lambda: entities(graph, query=text, kind=kind), lambda: relations(graph, text, kind=kind),
        lambda: trace(graph, text, kind=kind), lambda: path(graph, text, "Kafka"), lambda: dependents(graph, text),
    )  # fmt: skip
    for ask in asked:
        try:
            answer = ask()
        except QueryError:
            continue
        assert answer.text
        fast_json.dumps(answer.to_dict())
