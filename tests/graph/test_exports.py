"""Exports can be read by other programs, whatever the names are."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.errors import QueryError
from deia.graph.exports import FORMATS, export
from deia.graph.facts import Entity, Facts, Reference
from deia.graph.graph_store import Graph

if TYPE_CHECKING:
    from pathlib import Path

SPACE = "{http://graphml.graphdrawing.org/xmlns}"
HOSTILE = '=HYPERLINK("http://x")</data><script>"\\\x00\x1b\n&'


def exported(folder: Path, form: str, names: tuple[str, ...] = ("a", "b"), **options: int | str) -> str:
    facts = Facts(
        entities=tuple(Entity(name, "SERVICE", 1, 1, fields={"status": name}, shared=True) for name in names),
        references=tuple(Reference("USES", name, 2, names[0], "SERVICE", description=name) for name in names[1:]),
    )
    with Graph(str(folder)) as graph:
        with graph.transaction():
            graph.put("d", "1", facts)
        return "\n".join(export(graph, form, **options).lines)  # type: ignore[arg-type]


def test_json_has_everything(tmp_path: Path) -> None:
    read = json.loads(exported(tmp_path, "json", ("a", HOSTILE)))
    assert [entity["name"] for entity in read["entities"]] == ["d", "a", HOSTILE]
    assert read["entities"][1]["fields"] == {"status": "a"}
    assert [(one["source_name"], one["type"], one["target_name"], one["line"]) for one in read["relations"]] == [
        ("a", "USES", HOSTILE, 2)
    ]


def test_csv_has_no_formulas(tmp_path: Path) -> None:
    for form, column in (("csv", "target_name"), ("csv-entities", "name")):
        rows = list(csv.DictReader(io.StringIO(exported(tmp_path, form, ("a", "=1+1", "@x", "-1", "+1")))))
        assert {row[column] for row in rows} - {"a", "d"} == {"'=1+1", "'@x", "'-1", "'+1"}


def test_graphml_is_read_with_all_nodes_and_edges(tmp_path: Path) -> None:
    root = ET.fromstring(exported(tmp_path, "graphml", ("a", HOSTILE)))  # noqa: S314 - our own
    nodes, edges = root.findall(f".//{SPACE}node"), root.findall(f".//{SPACE}edge")
    ids = {node.get("id") for node in nodes}
    assert len(ids) == 3
    assert all({edge.get("source"), edge.get("target")} <= ids for edge in edges)
    assert root.find(f".//{SPACE}script") is None
    keys = {key.get("id") for key in root.findall(f"{SPACE}key")}
    assert {data.get("key") for data in root.iter(f"{SPACE}data")} <= keys


@pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is not installed")
def test_dot_is_drawn_by_graphviz(tmp_path: Path) -> None:
    text = exported(tmp_path, "dot", ("a", HOSTILE))
    assert subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True, check=True).stdout


def test_no_edge_leads_to_an_entity_that_was_left_out(tmp_path: Path) -> None:
    read = json.loads(exported(tmp_path, "json", ("a", "b", "c"), most=2))
    assert [entity["name"] for entity in read["entities"]] == ["d", "a"]
    assert read["relations"] == []
    of_type = json.loads(exported(tmp_path, "json", kind="service"))
    assert (len(of_type["entities"]), len(of_type["relations"])) == (2, 1)
    with Graph(str(tmp_path)) as graph:
        assert export(graph, "json", most=2).is_cut
        assert not export(graph, "json").is_cut
        with pytest.raises(QueryError, match="json, csv, csv-entities, dot, graphml"):
            export(graph, "xls")


QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"')


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=20), min_size=2, max_size=4))
def test_any_name_can_be_exported(tmp_path: Path, names: list[str]) -> None:
    texts = {form: exported(tmp_path, form, tuple(names)) for form in FORMATS}
    json.loads(texts["json"])
    ET.fromstring(texts["graphml"])  # noqa: S314 - our own
    assert len({len(row) for row in csv.reader(io.StringIO(texts["csv"], newline=""))}) == 1
    assert '"' not in QUOTED.sub("", texts["dot"])
