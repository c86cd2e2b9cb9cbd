from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from deia.graph.data_facts import data_facts
from deia.graph.facts import Facts
from deia.graph.marked_data import Map, read_marked

COMPOSE = """\
x-common: &common
  restart: always
services:
  web:
    <<: *common
    image: reg.example:5000/web:1.2
    depends_on: [db]
    environment:
      CACHE: redis://cache:6379
  db:
    image: postgres
    volumes: ["data:/var/lib"]
  cache:
    image: redis
volumes:
  data:
"""
KUBERNETES = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - envFrom: [{configMapRef: {name: settings}}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}}
---
kind: Ingress
apiVersion: networking.k8s.io/v1
metadata: {name: front}
spec: {defaultBackend: {service: {name: web}}}
"""
API = """{
  "openapi": "3.0.0",
  "paths": {"/pets": {"get": {"operationId": "pets", "x": {"$ref": "#/components/schemas/Pet"}}}},
  "components": {"schemas": {
    "Pet": {"properties": {"id": {"$ref": "common.json#/definitions/Id"}}}
  }}
}"""
WORKFLOW = """\
on: push
jobs:
  test:
    runs-on: linux
    steps:
    - uses: actions/checkout@v4
  ship:
    needs: test
"""


def told(facts: Facts) -> set[tuple[str, str, str, int]]:
    return {(each.source, each.type, each.target, each.line) for each in facts.references}


def test_services_of_a_compose_file_depend_on_and_use_what_it_says() -> None:
    facts = data_facts("a:compose.yaml", COMPOSE)
    assert {each[:4] for each in facts.entities if each.shared} == {
        ("web", "SERVICE", 4, 9), ("db", "SERVICE", 10, 12), ("cache", "SERVICE", 13, 14),
    }  # fmt: skip
    assert told(facts) == {
        ("web", "USES", "reg.example:5000/web", 6),
        ("web", "DEPENDS_ON", "db", 7),
        ("web", "USES", "cache", 9),
        ("db", "USES", "postgres", 11),
        ("db", "USES", "a:compose.yaml.volumes.data", 12),
        ("cache", "USES", "redis", 14),
    }


def test_resources_of_kubernetes_select_route_to_and_use_others() -> None:
    assert told(data_facts("a:k.yaml", KUBERNETES)) >= {
        ("deployment/web", "USES", "configmap/settings", 9),
        ("web", "SELECTS", "deployment/web", 14),
        ("ingress/front", "ROUTES_TO", "web", 19),
    }


def test_operations_and_schemas_of_an_api_refer_to_schemas_also_of_other_files() -> None:
    facts = data_facts("a:v1/api.json", API)
    assert {each[:3] for each in facts.entities} == {
        ("GET /pets", "ENDPOINT", 3), ("a:v1/api.json.schemas.Pet", "SCHEMA", 5),
    }  # fmt: skip
    assert told(facts) == {
        ("GET /pets", "REFERENCES", "a:v1/api.json.schemas.Pet", 3),
        ("a:v1/api.json.schemas.Pet", "REFERENCES", "a:v1/common.json.definitions.Id", 5),
    }


def test_jobs_of_a_workflow_depend_on_jobs_and_use_actions() -> None:
    assert told(data_facts("ci.yml", WORKFLOW)) == {
        ("ci.yml.jobs.test", "USES", "actions/checkout", 6),
        ("ci.yml.jobs.ship", "DEPENDS_ON", "ci.yml.jobs.test", 8),
    }


def test_aliases_that_multiply_cost_no_more_than_they_are_long() -> None:
    rows = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    rows += [
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    rows += ["apiVersion: v1", "kind: Deployment", "metadata: {name: bomb}", "spec: *i", "loop: &l [*l]"]
    began = time.process_time()
    assert data_facts("a", "\n".join(rows)).entities
    assert time.process_time() - began < 1


def test_what_stands_before_an_error_counts_and_json_is_read_where_yaml_is_not_like_it() -> None:
    assert read_marked("a: 1\n---\n{b: [")[0] == {"a": "1"}
    (data,) = read_marked('{"a": "\\ud83d\\ude00", "b": [null, true]}')
    assert isinstance(data, Map)
    assert data["b"] == ["", "True"]
    assert read_marked("[" * 100_000) == read_marked("{a: " * 100_000) == []


@given(
    st.text()
    | st.lists(st.sampled_from([*"[]{}&*:,-!|>?% \n", "a", "<<", "services:", "image: x", "\n  "])).map("".join)
)
def test_no_text_is_too_broken(text: str) -> None:
    assert isinstance(data_facts("a", text), Facts)
    assert isinstance(data_facts("a", f"services:\n  a: {{image: x}}\n{text}"), Facts)
