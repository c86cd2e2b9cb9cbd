"""`deia graph` as people type it: every question, both forms, and what is said where there is no single answer."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
import jsonschema
import pytest

from deia.compile.graph_update import open_graph
from deia.graph.facts import Entity, Facts, Reference
from deia.librarian import Librarian
from deia.serve.cli.shell_completion import complete_entities
from tests.paths import ROOT
from tests.scripted_model import Scripted, said

if TYPE_CHECKING:
    from tests.serve.conftest import Deia

SCHEMA = json.loads((ROOT / "docs/schema/graph.schema.json").read_text(encoding="utf-8"))
FLOW = Facts(
    entities=tuple(Entity(name, "SERVICE", 1, 1, shared=True) for name in ("ServiceA", "Kafka", "ServiceB")),
    references=(
        Reference("PRODUCES", "Kafka", 3, "ServiceA", "SERVICE", description="ServiceA writes orders to Kafka."),
        Reference("CONSUMES", "Kafka", 4, "ServiceB", "SERVICE"),
        Reference("MENTIONS", "Kafka", 5, target_type="SERVICE"),
    ),
)
CODE = Facts(
    module="shop", entities=(Entity("main", "FUNCTION", 2, 3), Entity("Kafka", "CLASS", 5, 9)),
    references=(Reference("CALLS", "main", 11),),
)  # fmt: skip


@pytest.fixture
def asked(deia: Deia) -> Deia:
    """Return deia in a commons that has a graph."""
    with open_graph(Librarian().root, os.environ) as graph, graph.transaction():
        graph.put("flow.md", "1", FLOW)
        graph.put("shop.py", "1", CODE)
        graph.put("till.py", "1", Facts(module="till", entities=(Entity("main", "FUNCTION", 1, 2),)))
    return deia


def test_every_question_has_an_answer_for_people_and_one_for_programs(asked: Deia) -> None:
    told = asked("graph", "path", "ServiceA", "ServiceB")
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith(
        "ServiceA --[PRODUCES]--> Kafka --[CONSUMES]--> ServiceB\n  ServiceA --[PRODUCES]--> Kafka"
    )
    for question, key in {
        ("entities", "--type", "service"): "entities", ("relations", "ServiceA"): "relations",
        ("trace", "ServiceA"): "chains", ("path", "ServiceA", "ServiceB"): "relations", ("stats",): "entity_types",
        ("dependents", "main in shop.py"): "relations",
    }.items():  # fmt: skip
        assert asked("graph", *question).code == 0
        answer = json.loads(asked("graph", *question, "--json").out)
        assert answer[key]
        jsonschema.validate(answer, {**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{question[0]}"}]})


def test_a_trace_follows_the_flow(asked: Deia) -> None:
    assert asked("graph", "trace", "ServiceA").out.splitlines()[0] == "ServiceA → Kafka → ServiceB"
    up = asked("graph", "trace", "ServiceB", "--direction", "upstream", "--max-depth", "1")
    assert up.out.splitlines()[0] == "Kafka → ServiceB"
    assert asked("graph", "trace", "ServiceB").code == 1


def test_a_name_of_several_things_is_asked_back(asked: Deia) -> None:
    told = asked("graph", "relations", "main")
    assert (told.code, told.out.splitlines()[0]) == (1, "'main' may mean 2 things. Ask again with one of these:")
    for line in told.out.splitlines()[1:]:
        assert asked("graph", "draw", line.strip().partition(" (")[0]).code == 0
    drawn = asked("graph", "draw", "main")
    assert (drawn.code, drawn.out) == (1, "")
    assert "FUNCTION main in till.py" in drawn.err


def test_a_name_that_nothing_has_is_told_with_what_to_type(asked: Deia) -> None:
    told = asked("graph", "trace", "xylophone")
    assert told.code == 2
    assert "type: deia graph entities" in told.err


def test_an_export_can_be_printed_or_written_once(asked: Deia, tmp_path: Path) -> None:
    assert len(json.loads(asked("graph", "export").out)["relations"]) == 12
    to = str(tmp_path / "new" / "graph.csv")
    assert asked("graph", "export", "--format", "csv", "--to", to).code == 0
    with open(to, encoding="utf-8") as file:
        assert file.readline().startswith("source,source_name")
    again = asked("graph", "export", "--format", "csv", "--to", to)
    assert (again.code, "Choose another --to" in again.err) == (2, True)
    assert "left out" in asked("graph", "export", "--limit", "1").err


def test_a_neighbourhood_is_drawn_as_text_or_as_a_picture(asked: Deia, tmp_path: Path) -> None:
    told = asked("graph", "draw", "SERVICE Kafka", "--depth", "2")
    assert "├── --[CONSUMES]--> SERVICE ServiceB (flow.md:1)" in told.out
    to = tmp_path / "kafka.svg"
    assert asked("graph", "draw", "Kafka", "--type", "SERVICE", "--format", "svg", "--to", str(to)).code == 0
    assert to.read_text(encoding="utf-8").startswith("<svg ")


def test_names_are_completed_and_where_there_is_no_graph_nothing_is(
    asked: Deia, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def completed(typed: str) -> list[str]:
        context, parameter = click.Context(click.Command("trace")), click.Argument(["entity"])
        return [item.value for item in complete_entities(context, parameter, typed)]

    assert completed("servi") == ["ServiceA", "ServiceB"]
    monkeypatch.setenv("DEIA_CACHE", str(tmp_path / "elsewhere"))
    assert completed("servi") == []


def test_a_program_asks_the_same(asked: Deia) -> None:
    librarian = Librarian(ledger=False)
    assert librarian.path("ServiceA", "ServiceB").text == asked("graph", "path", "ServiceA", "ServiceB").out.rstrip()
    assert [node.name for node in librarian.entities(type="SERVICE", limit=1).entities] == ["Kafka"]
    counts = librarian.graph_stats()
    assert (counts.documents, counts.relations, counts.chunks == counts.vectors) == (6, 12, True)
    assert counts.text.startswith(f"Documents: 6, Chunks: {counts.chunks}, Entities: 20, Relations: 12, Vectors: ")


def test_entities_that_may_be_one_are_merged_by_a_persons_yes(deia: Deia) -> None:
    with open_graph(Librarian().root, os.environ) as graph, graph.transaction():
        for name in ("OrderService", "order-services"):
            graph.put(f"{name}.md", "1", Facts(entities=(Entity(name, "SERVICE", 1, 1, shared=True),)))
    told = deia("graph", "merge")
    assert "the same but for case" in told.out
    ident = told.out.split()[0]
    assert json.loads(deia("graph", "merge", "--json").out)[0]["id"] == ident
    assert "nothing is proposed as" in deia("graph", "merge", "merge-000000").err
    assert "--undo" in deia("graph", "merge", ident).out
    assert f"merged: {ident}" in deia("graph", "merge").out
    assert deia("graph", "merge", "--undo", ident).out == f"{ident} is taken back\n"
    assert "no merge" in deia("graph", "merge", "--undo").err


def test_a_model_proposes_and_what_a_document_does_not_say_is_dropped(
    deia: Deia, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no language model is set" in deia("graph", "propose").err
    lesson = Path(Librarian().root, "bok/flow.md")
    lesson.write_text("# Flow\n\nOrders go to the Depot.\n", encoding="utf-8")
    quote = "Orders go to the Depot."
    entities = [{"name": name, "type": "SERVICE", "quote": quote} for name in ("Orders", "Depot", "Redis")]
    relation = {"from": "Orders", "type": "PRODUCES", "to": "Depot", "quote": quote}
    script = Scripted()
    script.steps = [said(json.dumps({"entities": entities, "relations": [relation]}))]
    monkeypatch.setenv("DEIA_LLM_URL", script.url)
    told = deia("graph", "propose", "bok/flow.md")
    assert (told.code, told.out) == (0, "Proposed for 1 document: 2 entities and 1 relation; 1 dropped\n")
    assert "Orders go to the Depot." in script.requests[0][2]["messages"][1]["content"]
    shown = deia("graph", "relations", "Depot").out
    assert "Orders --[PRODUCES]--> Depot (bok/flow.md:3 proposed by a language model" in shown
    assert "mentioned" in shown
    assert "there is no document" in deia("graph", "propose", "bok/none.md").err
    script.steps = [(500, b"", {})]
    monkeypatch.setattr("deia.language_model.WAIT", 0.01)
    failed = deia("graph", "propose")
    assert failed.code != 0
    assert "the language model does not answer" in failed.err
