"""Entities that may be one are proposed with what speaks for it, merged by a person's yes, and parted again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deia.compile.graph_merges import NAME, applied_merges, apply_merges, undo_merge
from deia.compile.graph_update import open_graph
from deia.errors import QueryError
from deia.folders import library_folder
from deia.graph.graph_questions import entities, relations
from deia.graph.merging import Merge, proposed_merges

if TYPE_CHECKING:
    from collections.abc import Mapping

INDEX = """version: "1.0"
clusters:
  shop:
    documents:
      - {id: one, path: bok/one.md, title: One}
      - {id: two, path: bok/two.md, title: Two}
      - {id: three, path: bok/three.md, title: Three}
"""
TEXTS = {
    "one": "# One\n\nThe OrderService uses Kafka. Kafka is also called the EventBus.\n",
    "two": "# Two\n\nThe order-service uses Redis. Dashboard uses Kafka.\n",
    "three": "# Three\n\nThe EventBus uses ZooKeeper.\n",
}


@pytest.fixture
def root(tmp_path: Path) -> str:
    folder = tmp_path / "commons"
    (folder / "bok").mkdir(parents=True)
    (folder / "commons_index.yaml").write_text(INDEX, encoding="utf-8")
    (folder / "deia.toml").write_text("starter = false\n", encoding="utf-8")
    for name, text in TEXTS.items():
        (folder / f"bok/{name}.md").write_text(text, encoding="utf-8")
    return str(folder)


def proposals(root: str, environ: Mapping[str, str]) -> dict[str, Merge]:
    with open_graph(root, environ) as graph:
        return {merge.into: merge for merge in proposed_merges(graph)}


def targets(root: str, environ: Mapping[str, str], name: str) -> set[str]:
    with open_graph(root, environ) as graph:
        return {one.target.name for one in relations(graph, name, direction="out").relations}


def shown(root: str, environ: Mapping[str, str]) -> list[tuple[str, ...]]:
    with open_graph(root, environ) as graph:
        run = graph.database.execute
        return [
            *run("select name, type from entities order by 1, 2"),
            *run("select a.name, r.type, b.name from relations r join entities a on a.id = source"
                 " join entities b on b.id = target order by 1, 2, 3"),
        ]  # fmt: skip


def test_a_merge_is_proposed_applied_and_taken_back(root: str, environ: Mapping[str, str]) -> None:
    before = shown(root, environ)
    found = proposals(root, environ)
    assert "the same but for case" in next(m for m in found.values() if "order" in m.into.casefold()).because
    bus = found["Kafka"]
    assert "bok/one.md:3" in bus.because
    apply_merges(root, environ, list(found.values()), now=1.0)
    assert targets(root, environ, "Kafka") == targets(root, environ, "EventBus") == {"ZooKeeper"}
    assert targets(root, environ, "order-service") == {"Kafka", "Redis"}
    assert proposals(root, environ) == {}
    with open_graph(root, environ) as graph:
        (node,) = entities(graph, query="EventBus").entities
        assert (node.name, node.documents) == ("Kafka", 3)
    assert undo_merge(root, environ, bus.id, now=2.0).id == bus.id
    assert targets(root, environ, "EventBus") == {"ZooKeeper"}
    assert targets(root, environ, "Kafka") == {"EventBus"}
    undo_merge(root, environ, "", now=3.0)
    assert shown(root, environ) == before
    with pytest.raises(QueryError, match="no merge stands"):
        undo_merge(root, environ, "", now=4.0)


def test_merges_lead_in_no_circle_and_a_broken_file_breaks_nothing(root: str, environ: Mapping[str, str]) -> None:
    one = Merge(name="A", type="SERVICE", into="B", into_type="SERVICE", because="")
    two = Merge(name="B", type="SERVICE", into="A", into_type="SERVICE", because="")
    apply_merges(root, environ, [one], now=1.0)
    with pytest.raises(QueryError, match="merged into"):
        apply_merges(root, environ, [two], now=2.0)
    file = Path(library_folder(root, environ), NAME)
    file.write_bytes(file.read_bytes() + b'\n{"undo": 3}\n[]\n\xff{"name"\n{"name": 3}')
    assert applied_merges(root, environ) == [one]


def test_what_a_merge_leads_to_may_be_gone(root: str, environ: Mapping[str, str]) -> None:
    apply_merges(root, environ, [proposals(root, environ)["Kafka"]], now=1.0)
    for name in ("one", "two"):
        Path(root, f"bok/{name}.md").write_text("# Nothing\n", encoding="utf-8")
    assert targets(root, environ, "EventBus") == {"ZooKeeper"}
