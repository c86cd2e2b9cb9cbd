"""The graph through MCP: the same answers as on the command line, as text and in the shape that the tools declare."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from deia.compile.graph_update import open_graph
from deia.errors import QueryError
from deia.graph.facts import Entity, Facts, Reference
from deia.serve.server.desk import Desk
from deia.serve.server.resources import read_resource
from deia.serve.server.tool_schemas import offered
from tests.serve.server.conftest import ask_tool

if TYPE_CHECKING:
    from tests.serve.server.conftest import Place

FLOW = Facts(
    entities=tuple(Entity(name, "SERVICE", 1, 1, shared=True) for name in ("ServiceA", "Kafka", "ServiceB")),
    references=(
        Reference("PRODUCES", "Kafka", 3, "ServiceA", "SERVICE"),
        Reference("CONSUMES", "Kafka", 4, "ServiceB", "SERVICE"),
    ),
)
QUESTIONS: dict[str, dict[str, Any]] = {
    "entities": {"type": "SERVICE", "limit": 2}, "relations": {"entity": "kafka", "direction": "in"},
    "trace": {"entity": "ServiceA", "maxDepth": 2}, "path": {"from": "ServiceA", "to": "ServiceB", "maxDepth": 3},
    "stats": {}, "export": {"format": "graphml", "type": "SERVICE"},
}  # fmt: skip


@pytest.fixture(autouse=True)
def _flow(desk: Desk) -> None:
    """Put a flow of messages between services into the graph."""
    with open_graph(desk.root, os.environ) as graph, graph.transaction():
        graph.put("flow.md", "1", FLOW)


def test_every_question_is_answered_as_declared(desk: Desk) -> None:
    replies = {name: ask_tool(desk, name, arguments) for name, arguments in QUESTIONS.items()}
    assert replies["path"].text.startswith("ServiceA --[PRODUCES]--> Kafka --[CONSUMES]--> ServiceB\n")
    assert replies["trace"].text.startswith("ServiceA → Kafka → ServiceB\n")
    assert replies["stats"].text.startswith("Documents: 6, Chunks: 3, Entities: 18, Relations: 13, Vectors: ")
    assert (replies["entities"].fields["total"], replies["export"].fields["complete"]) == (3, True)
    assert "<graphml" in replies["export"].text


def test_the_questions_only_read(desk: Desk) -> None:
    assert {tool.name for tool in offered(read_only=True)} >= set(QUESTIONS)


def test_a_name_that_nothing_has_is_an_error_that_says_what_to_do(desk: Desk) -> None:
    with pytest.raises(QueryError, match="the graph has no entity 'xylophone'"):
        ask_tool(desk, "trace", {"entity": "xylophone"})


def test_the_schema_has_the_types_of_the_graph(desk: Desk) -> None:
    schema = json.loads(read_resource(desk, "deia://schema").text)
    assert {"SERVICE", "PROTOCOL", "DOCUMENT"} <= {*schema["entityTypes"]}, "those that are named, and those found"
    assert {"CONSUMES", "OWNS", "TAGGED"} <= {*schema["relationTypes"]}
    assert schema["documentFields"] == schema["entityFields"] == schema["relationFields"] == {}


def test_who_is_given_a_part_of_the_commons_gets_a_graph_of_that_part(desk: Desk, place: Place) -> None:
    part = Desk(str(place.root), collections=["hosting"])
    assert "site-rename" in ask_tool(part, "entities", {"query": "bok/hosting/site-rename.md"}).text
    for name, arguments in (("trace", {"entity": "Kafka"}), ("relations", {"entity": "queue-purge"})):
        with pytest.raises(QueryError, match="the graph has no entity"):
            ask_tool(part, name, arguments)
    told = "".join(ask_tool(part, name, {}).text for name in ("entities", "stats", "export"))
    assert "queue" in ask_tool(desk, "export", {}).text
    assert "queue" not in told
    assert "TEAM" in json.loads(read_resource(part, "deia://schema").text)["entityTypes"]
