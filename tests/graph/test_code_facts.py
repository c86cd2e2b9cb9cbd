from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.graph.code_facts import code_facts
from deia.graph.facts import Alias, Facts, Reference, joined
from deia.graph.graph_store import Graph
from deia.graph.package_facts import package_facts

LANGUAGES = "javascript typescript tsx java go rust c cpp csharp ruby php kotlin scala objc".split()
IMPORTED = (
    "select documents.name, entities.type, entities.name from relations join refs on refs.id = ref"
    " join documents on documents.id = refs.document join entities on entities.id = relations.target"
    " where relations.type = 'IMPORTS'"
)


def imports(document: str, text: str, language: str) -> set[tuple[str, str]]:
    """Give the targets of a file's imports, each with the package that is meant otherwise."""
    found = code_facts(document, text, language).references
    return {(each.target, each.otherwise or each.target_type) for each in found if each.type == "IMPORTS"}


def test_definitions_have_the_name_of_their_module_before_their_own_and_their_lines() -> None:
    text = "export class Cart extends Base {\n  add() {\n    return 1;\n  }\n}\nfunction total() {\n}\n"
    facts = code_facts("shop:web/cart.ts", text, "typescript")
    assert facts.module == "shop:web/cart"
    assert [each[:4] for each in facts.entities] == [
        ("shop:web/cart.Cart", "CLASS", 1, 5),
        ("shop:web/cart.Cart.add", "METHOD", 2, 4),
        ("shop:web/cart.total", "FUNCTION", 6, 7),
    ]
    assert facts.references == (Reference("INHERITS", "Base", 1, "shop:web/cart.Cart", certainty="by name"),)
    assert Alias("shop:web/cart.ts", "shop:web/cart") in facts.aliases


def test_imports_of_scripts_are_paths_without_endings_or_packages() -> None:
    text = 'import a from "./x.js";\nexport * from "..";\nconst b = require("@s/p/q");\n// import "./no"'
    wanted = {("shop:web/x", ""), ("shop:.", ""), ("@s/p", "PACKAGE")}
    assert imports("shop:web/y.js", text, "javascript") == wanted


def test_imports_of_java_are_classes_or_else_their_package() -> None:
    text = "package a.b;\nimport c.d.E;\nimport static c.d.F.max;\nimport java.util.*;\nclass G {\n}\n"
    assert imports("shop:G.java", text, "java") == {("c.d.E", "c.d"), ("c.d.F", "c.d"), ("java.util", "PACKAGE")}
    names = {each.name for each in code_facts("shop:G.java", text, "java").entities}
    assert names == {"a.b.G", "a.b"}


@pytest.mark.parametrize(
    ("use", "wanted"),
    [
        ("use crate::a::b;", "shop:src/crate.a.b"),
        ("use crate::a::{self, C};", "shop:src/crate.a shop:src/crate.a.C"),
        ("use super::x::Kind::Small;", "shop:src/crate.x.Kind"),
        ("mod inner;", "shop:src/crate.m.inner"),
        ("mod t {\n  use super::*;\n}", "shop:src/crate.m"),
        ("use serde::Ser;", "crate/serde.Ser"),
    ],
)
def test_uses_of_rust_are_paths_in_a_crate(use: str, wanted: str) -> None:
    assert {target for target, _ in imports("shop:src/m.rs", use, "rust")} == set(wanted.split())


FILES = {
    "made:go.mod": ("", "module example.org/made\n"),
    "made:main.go": ("go", 'package main\nimport (\n\t"example.org/made/stock"\n\t"github.com/y/stock"\n)\n'),
    "made:stock/item.go": ("go", "package stock\n"),
    "made:src/a.c": ("c", '#include "b.h"\n#include <lib/c.h>\n#include <stdio.h>\n'),
    "made:src/b.h": ("c", ""),
    "made:include/lib/c.h": ("c", ""),
    "made:app/Cargo.toml": ("", '[package]\nname = "the-app"\n'),
    "made:app/src/lib.rs": ("rust", "pub fn run() {\n}\n"),
    "made:tool/src/main.rs": ("rust", "use the_app::run;\nuse the_app::made_by_a_macro;\n"),
}
LED_TO = {
    ("made:main.go", "PACKAGE", "made:stock"),
    ("made:main.go", "PACKAGE", "github.com/y/stock"),
    ("made:src/a.c", "MODULE", "made:src/b.h"),
    ("made:src/a.c", "MODULE", "made:include/lib/c.h"),
    ("made:src/a.c", "PACKAGE", "stdio.h"),
    ("made:tool/src/main.rs", "FUNCTION", "made:app/src/crate.run"),
    ("made:tool/src/main.rs", "MODULE", "made:app/src/crate"),
}


def facts(name: str) -> Facts:
    language, text = FILES[name]
    return joined(code_facts(name, text, language), package_facts(name, text))


def test_imports_lead_to_what_is_there_in_whatever_order_it_comes_and_else_to_packages(tmp_path: Path) -> None:
    orders = [list(FILES), list(reversed(FILES)), *itertools.islice(itertools.permutations(FILES), 500, 5000, 900)]
    for number, order in enumerate(orders):
        with Graph(str(tmp_path / str(number))) as graph:
            for name in order:
                with graph.transaction():
                    graph.put(name, "", facts(name))
            assert set(graph.database.execute(IMPORTED)) == LED_TO
            with graph.transaction():
                graph.remove("made:go.mod")
                graph.remove("made:src/b.h")
            rows = set(graph.database.execute(IMPORTED))
            assert ("made:main.go", "PACKAGE", "example.org/made/stock") in rows
            assert not any(name == "made:src/b.h" for _, _, name in rows)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.text(), st.sampled_from(LANGUAGES))
def test_no_text_is_too_broken(text: str, language: str) -> None:
    assert isinstance(code_facts("a:b.x", text, language), Facts)
    assert code_facts("a", "import x", "no-such-language") == Facts()
