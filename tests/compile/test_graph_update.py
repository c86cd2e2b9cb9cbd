"""The graph of a commons and its library follows what changes, comes and goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deia.compile.graph_update import counts_of, graph_folder, open_graph
from deia.compile.take_in import forget, take_in, update
from deia.graph.graph_questions import entities
from deia.graph.graph_store import DATABASE
from deia.ingest.source import FolderSource, described
from deia.problems import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

INDEX = """version: "1.0"
clusters:
  shop:
    documents:
      - id: freezing
        path: bok/freezing.md
        title: Freezing
        platform: [kafka]
        tags: [queues]
        owner: platform-team
        status: gone
        related_docs: [thawing]
      - id: thawing
        path: bok/thawing.md
        title: Thawing
"""
TRIGGERS = """- id: freeze
  title: Freezing
  urgency: high
  action: note
  message: Look first.
  documents: [freezing]
  when:
    any:
      - command: freeze --all
"""
COMPOSE = """services:
  web:
    image: nginx
    depends_on: [db]
  db:
    image: postgres
"""


@pytest.fixture
def root(tmp_path: Path) -> str:
    folder = tmp_path / "commons"
    for name, text in {
        "commons_index.yaml": INDEX,
        "bok/freezing.md": "# Freezing\n\nThe freezer uses Kafka. See [thawing](thawing.md).\n",
        "bok/thawing.md": "# Thawing\n",
        "triggers/shop.yaml": TRIGGERS,
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return str(folder)


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "stock.py").write_text("def take():\n    pass\n", encoding="utf-8")
    (folder / "shop.py").write_text("import stock\n\ndef sell():\n    stock.take()\n", encoding="utf-8")
    (folder / "compose.yaml").write_text(COMPOSE, encoding="utf-8")
    return folder


def relations(root: str, environ: Mapping[str, str]) -> set[tuple[str, str, str, str, int]]:
    """Return every relation, with the document and the line that show it."""
    sql = (
        "select a.name, relations.type, b.name, documents.name, refs.line from relations"
        " join entities a on a.id = relations.source join entities b on b.id = relations.target"
        " join refs on refs.id = ref join documents on documents.id = refs.document"
    )
    with open_graph(root, environ) as graph:
        return set(graph.database.execute(sql))


def test_the_index_and_the_triggers_are_in_the_graph_with_their_lines(root: str, environ: Mapping[str, str]) -> None:
    index, lesson = "commons_index.yaml", "bok/freezing.md"
    assert {
        (lesson, "ON_PLATFORM", "kafka", index, 5),
        (lesson, "IN_CLUSTER", "shop", index, 5),
        (lesson, "TAGGED", "queues", index, 5),
        (lesson, "RELATED_TO", "bok/thawing.md", index, 5),
        ("platform-team", "OWNS", lesson, index, 5),
        ("freeze", "SHOWS", lesson, "triggers/shop.yaml", 1),
        (lesson, "LINKS_TO", "bok/thawing.md", lesson, 3),
    } <= relations(root, environ)


def test_code_and_data_of_the_library_are_in_the_graph(root: str, environ: Mapping[str, str], code: Path) -> None:
    taken = take_in(root, [described(FolderSource(path=str(code)))], environ)
    found = {(source, kind, target) for source, kind, target, _, _ in relations(root, environ)}
    assert {("shop", "IMPORTS", "stock"), ("shop.sell", "CALLS", "stock.take"), ("web", "DEPENDS_ON", "db")} <= found
    assert taken.summary.startswith("Indexed 3 documents, 4 chunks, ")
    assert taken.entities > 5
    assert taken.relations >= 5


def test_what_changes_and_goes_is_followed(root: str, environ: Mapping[str, str], code: Path) -> None:
    take_in(root, [described(FolderSource(path=str(code))).but(name="code")], environ)
    (code / "stock.py").write_text("def give():\n    pass\n", encoding="utf-8")
    update(root, [], environ)
    assert not any(target == "stock.take" for _, _, target, _, _ in relations(root, environ))
    Path(root, "bok/thawing.md").unlink()
    Path(root, "commons_index.yaml").write_text(INDEX.partition("        related_docs")[0], encoding="utf-8")
    found = relations(root, environ)
    assert not any("thawing" in target for _, _, target, _, _ in found)
    assert any(target == "stock" for _, _, target, _, _ in found), "the library did not change"
    forget(root, ["code"], environ)
    assert not any("stock" in target for _, _, target, _, _ in relations(root, environ))


def test_what_changed_is_taken_in_as_if_the_graph_were_made_anew(
    root: str, environ: Mapping[str, str], code: Path
) -> None:
    (code / "src").mkdir()
    (code / "src/tools.py").write_text("import stock\n", encoding="utf-8")
    (code / "asks.py").write_text("from src.tools import use\n\ndef asks():\n    use()\n", encoding="utf-8")
    take_in(root, [described(FolderSource(path=str(code))).but(name="code")], environ)
    before = relations(root, environ)
    for path, text in {
        "shop.py": "import stock\n\ndef sell():\n    stock.take()\n\ndef ask():\n    sell()\n",
        "compose.yaml": COMPOSE.replace("db", "store"),
        "src/tools.py": "from stock import take\n\ndef use():\n    take()\n",
        "src/__init__.py": "",  # gives the other file in its folder another name
        "stock.py": "def take():\n    give()\n\ndef give():\n    pass\n",
    }.items():
        (code / path).write_text(text, encoding="utf-8")
        update(root, [], environ)
        changed = relations(root, environ)
        Path(graph_folder(root, environ), DATABASE).unlink()
        assert changed == relations(root, environ)
        assert changed != before
        before = changed
    (code / "src/__init__.py").unlink()  # gives it its old name back
    update(root, [], environ)
    changed = relations(root, environ)
    assert changed != before, "a module of that name is gone"
    Path(graph_folder(root, environ), DATABASE).unlink()
    assert changed == relations(root, environ)


def test_entities_are_counted_in_as_many_sources_as_there_are(
    root: str, environ: Mapping[str, str], code: Path
) -> None:
    take_in(root, [described(FolderSource(path=str(code))).but(name="code")], environ)
    with open_graph(root, environ) as graph:
        entities, relations = counts_of(graph, ["library:code/"])
        assert entities
        assert relations
        assert counts_of(graph, ["library:code/", *(f"library:{number}/" for number in range(3_000))]) == (
            entities, relations,
        )  # fmt: skip
        assert counts_of(graph, ["library:other/"]) == (0, 0)


def test_a_damaged_graph_is_made_anew(root: str, environ: Mapping[str, str]) -> None:
    before = relations(root, environ)
    Path(graph_folder(root, environ), DATABASE).write_bytes(b"no database" * 1000)
    assert relations(root, environ) == before


def test_nothing_is_read_again_if_nothing_changed(root: str, environ: Mapping[str, str]) -> None:
    relations(root, environ)
    before = Path(graph_folder(root, environ), DATABASE).stat().st_mtime_ns
    relations(root, environ)
    assert Path(graph_folder(root, environ), DATABASE).stat().st_mtime_ns == before


def test_fields_of_the_schema_are_checked_and_have_defaults(root: str, environ: Mapping[str, str]) -> None:
    settings = Path(root, "deia.toml")
    settings.write_text(
        '[schema.documentFields]\nstatus = {type = "enum", values = ["active", "old"], default = "active"}\n',
        encoding="utf-8",
    )
    with open_graph(root, environ) as graph:
        shown = entities(graph, kind="DOCUMENT", fields={"status": "active"}).entities
    assert "bok/freezing.md" in {node.name for node in shown}, "`gone` is no value, so the default counts"
    settings.write_text('[schema]\nentityTypes = ["lower"]\n', encoding="utf-8")
    with pytest.raises(SettingsError, match=r"deia\.toml: schema: .*no name in capitals"):
        open_graph(root, environ)


@pytest.mark.slow
def test_a_commons_that_is_not_trusted_has_a_graph_of_its_own_lessons_alone(
    root: str, environ: Mapping[str, str], code: Path
) -> None:
    take_in(root, [described(FolderSource(path=str(code)))], environ)
    doubted = {**environ, "DEIA_TRUST": ""}
    with open_graph(root, doubted) as graph:
        names = [name for (name,) in graph.database.execute("select name from documents")]
    assert names
    assert not any(name.startswith("library:") for name in names)
