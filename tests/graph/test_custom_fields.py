"""Fields that a schema names have the values that documents give them, wherever in whatever order they do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.errors import QueryError
from deia.graph.custom_fields import head_facts
from deia.graph.exports import export
from deia.graph.facts import Page
from deia.graph.facts_of import facts_of
from deia.graph.graph_questions import entities, relations
from deia.graph.graph_store import SCHEMA, Graph
from deia.graph.schema import fields_of, read_schema

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

STATUS = {"type": "enum", "values": ["active", "deprecated"], "default": "active"}
WRITTEN: dict[str, Any] = {
    "documentFields": {"status": STATUS},
    "entityFields": {"status": STATUS, "tier": {"type": "number"}},
    "relationFields": {"condition": {"type": "string"}, "protocol": {"type": "string", "default": "tcp"}},
}
NOTE = """---
type: service
name: Ledger
status: deprecated
tier: 2
uses:
  - Kafka
  - {name: Redis, protocol: resp, condition: 7}
---
# The ledger
"""
COMPOSE = """services:
  web:
    image: nginx
    labels: [tier=1, status=gone]
    depends_on:
      db: {condition: service_healthy}
  db:
    image: postgres
    x-status: deprecated
"""
MANIFEST = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations: {tier: "3"}
"""


def made(folder: Path, *pages: tuple[str, str, str]) -> Graph:
    graph = Graph(str(folder))
    shown = read_schema(WRITTEN).shown()
    with graph.transaction({SCHEMA: json.dumps(shown)}):
        for name, kind, text in pages:
            graph.put(name, "1", facts_of(Page(name=name, type=kind, text=text, title=name, schema=shown)))
    return graph


PAGES = (("a.md", "markdown", NOTE), ("compose.yaml", "yaml", COMPOSE), ("web.yaml", "yaml", MANIFEST))


def test_front_matter_describes_an_entity_with_its_fields_and_relations(tmp_path: Path) -> None:
    with made(tmp_path, *PAGES) as graph:
        (node,) = entities(graph, query="Ledger", kind="SERVICE").entities
        assert (node.fields, node.places[0].first) == ({"status": "deprecated", "tier": 2}, 2)
        (document,) = entities(graph, query="a.md", kind="DOCUMENT").entities
        assert document.fields == {"status": "deprecated"}
        found = {one.target.name: one for one in relations(graph, "SERVICE Ledger").relations}
        assert found["Kafka"].fields == {"protocol": "tcp"}
        assert found["Redis"].fields == {"protocol": "resp", "condition": "7"}
        assert str(found["Redis"]).endswith("(a.md:6) [protocol=resp, condition=7]")


@pytest.mark.parametrize("prose", ["Ledger uses Kafka.", "The Ledger service reads from Kafka.", "**Ledger**: a book."])
def test_what_front_matter_declares_counts_although_prose_names_it_too(tmp_path: Path, prose: str) -> None:
    with made(tmp_path, ("b.md", "markdown", prose), ("c.md", "markdown", f"{NOTE}\n{prose}\n")) as graph:
        (node,) = entities(graph, query="Ledger").entities
        assert (node.type, node.fields) == ("SERVICE", {"status": "deprecated", "tier": 2})
        assert node.description == ("a book." if "book" in prose else "")


def test_structured_data_fills_fields_in_its_maps_labels_and_annotations(tmp_path: Path) -> None:
    with made(tmp_path, *PAGES) as graph:
        shown = {node.name: node for kind in ("SERVICE", "DEPLOYMENT") for node in entities(graph, kind=kind).entities}
        assert shown["web"].fields == {"status": "active", "image": "nginx", "tier": 1}, (
            "`gone` is not among the values"
        )
        assert shown["db"].fields == {"status": "deprecated", "image": "postgres"}
        assert shown["deployment/web"].fields == {"tier": 3}, "only types that the schema names have defaults"
        (relation,) = (one for one in relations(graph, "web", kind="SERVICE").relations if one.type == "DEPENDS_ON")
        assert relation.fields == {"protocol": "tcp", "condition": "service_healthy"}


def test_entities_are_chosen_by_their_fields(tmp_path: Path) -> None:
    with made(tmp_path, *PAGES) as graph:

        def names(*typed: str, kind: str = "") -> list[str]:
            return [node.name for node in entities(graph, kind=kind, fields=fields_of(typed)).entities]

        assert names("status=deprecated") == ["a.md", "db", "Ledger"]
        assert names("status=Active", kind="SERVICE") == ["web"]
        assert names("tier=2", "status=deprecated") == ["Ledger"]
        assert entities(graph, query="Ledger", fields={"tier": "9"}).entities == ()
        with pytest.raises(QueryError, match="no entity has a field 'colour'"):
            names("colour=red")
        with pytest.raises(QueryError, match="Write it as status=active"):
            names("status")


def test_the_first_document_by_name_counts_in_whatever_order_they_come_and_go(tmp_path: Path) -> None:
    pages = [(f"{name}.md", "markdown", NOTE.replace("tier: 2", f"tier: {at}")) for at, name in enumerate("cab")]
    for number, order in enumerate((pages, pages[::-1])):
        with made(tmp_path / str(number), *order) as graph:
            assert entities(graph, query="Ledger", kind="SERVICE").entities[0].fields["tier"] == 1
            with graph.transaction():
                graph.remove("a.md")
            assert entities(graph, query="Ledger", kind="SERVICE").entities[0].fields["tier"] == 2


def test_exports_have_the_fields(tmp_path: Path) -> None:
    with made(tmp_path, *PAGES) as graph:
        for form in ("json", "csv", "csv-entities", "graphml"):
            text = "\n".join(export(graph, form).lines)
            assert "service_healthy" in text or form == "csv-entities"
            assert "deprecated" in text or form == "csv"


@given(st.text(alphabet="---\n:{}[], abtype&*<>\ud800", max_size=80))
def test_no_head_breaks_it(text: str) -> None:
    for whole in (text, f"---\n{text}\n---\n"):
        head_facts(whole, "title", read_schema(WRITTEN))
