from __future__ import annotations

from pathlib import Path

import pytest

from deia.graph.facts_of import facts_of
from deia.graph.graph_store import Graph


@pytest.mark.parametrize(
    ("name", "type", "language", "text", "wanted"),
    [
        ("a:x.js", "code", "javascript", "import './y'", ("IMPORTS", "a:y")),
        ("a:x.sql", "code", "sql", "select 1 from t", ("READS", "t")),
        ("a:x.yaml", "yaml", "", "services:\n  a: {image: b}", ("USES", "b")),
        ("a:package.json", "json", "", '{"dependencies": {"b": "1"}}', ("DEPENDS_ON", "b")),
        ("a:requirements.txt", "text", "", "b==1", ("DEPENDS_ON", "b")),
        ("a:d/x.md", "markdown", "", "See [y](../y.md#z) and [w](https://w.example).", ("LINKS_TO", "a:y.md#z")),
        ("a:x.txt", "text", "", "ServiceA uses ServiceB.", ("USES", "ServiceB")),
    ],
)
def test_each_type_of_document_has_its_extractor(
    name: str, type: str, language: str, text: str, wanted: tuple[str, str]  # noqa: A002 - as readings have it
) -> None:  # fmt: skip
    found = facts_of(name, type, language, text).references
    assert [(each.type, each.target) for each in found] == [wanted]


def test_anchors_and_links_of_a_page_count_and_an_image_says_nothing() -> None:
    facts = facts_of("a:x.html", "html", "", "", [("json.dumps", 3)], [("y.html", 4)])
    assert [each.name for each in facts.entities] == ["json.dumps"]
    assert [each.target for each in facts.references] == ["a:y.html"]
    assert not any(facts_of("a:x.png", "image", "", "")[1:])


def test_what_prose_speaks_of_is_the_service_of_that_name_whichever_comes_first(tmp_path: Path) -> None:
    texts = {
        "a.md": ("markdown", "web uses Kafka. OrderService uses Web."),
        "b.yaml": ("yaml", "services:\n  web: {image: b}"),
    }
    for number, order in enumerate((list(texts), list(reversed(texts)))):
        with Graph(str(tmp_path / str(number))) as graph:
            for name in order:
                with graph.transaction():
                    graph.put(name, "", facts_of(name, texts[name][0], "", texts[name][1]))
            found = graph.database.execute("select type from entities where folded = 'web'").fetchall()
            assert found == [("SERVICE",)]
