from __future__ import annotations

from pathlib import Path

import pytest

from deia.graph.facts import Page
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
    found = facts_of(Page(name=name, type=type, language=language, text=text)).references
    assert [(each.type, each.target) for each in found] == [wanted]


def test_anchors_and_links_of_a_page_count_and_an_image_says_nothing() -> None:
    page = Page(name="a:x.html", type="html", text="", anchors=[("json.dumps", 3)], links=[("y.html", 4)])
    facts = facts_of(page)
    assert [each.name for each in facts.entities] == ["a:x.html#json.dumps"]
    assert [each.target for each in facts.references] == ["a:y.html"]
    assert not any(facts_of(Page(name="a:x.png", type="image", text=""))[1:])


def test_the_address_of_a_heading_is_another_name_of_its_section() -> None:
    facts = facts_of(Page(name="a:x.md", type="markdown", text="# Pumps\n\n## Two parts\n"))
    assert [each.name for each in facts.entities] == ["a:x.md.Pumps", "a:x.md.Two parts"]
    assert {(each.name, each.target) for each in facts.aliases} >= {
        ("a:x.md#pumps", "a:x.md.Pumps"),
        ("a:x.md#two-parts", "a:x.md.Two parts"),
    }


def test_what_prose_speaks_of_is_the_service_of_that_name_whichever_comes_first(tmp_path: Path) -> None:
    texts = {
        "a.md": Page(name="a.md", type="markdown", text="web uses Kafka. OrderService uses Web."),
        "b.yaml": Page(name="b.yaml", type="yaml", text="services:\n  web: {image: b}"),
    }
    for number, order in enumerate((list(texts), list(reversed(texts)))):
        with Graph(str(tmp_path / str(number))) as graph:
            for name in order:
                with graph.transaction():
                    graph.put(name, "", facts_of(texts[name]))
            found = graph.database.execute("select type from entities where folded = 'web'").fetchall()
            assert found == [("SERVICE",)]
