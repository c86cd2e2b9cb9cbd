from __future__ import annotations

import ast
import keyword

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.graph.facts import Alias, Entity, Facts, Reference
from deia.graph.python_facts import absolute, python_facts

CART = '''"""What is bought."""
import os.path as p
from .stock import take as fetch


class Base: ...
class Meta: ...
class Cart(Base, metaclass=Meta):
    """Things to buy.

    More.
    """

    @property
    def total(self):
        return len(self.things)

    @classmethod
    def empty(cls): return cls()

    def add(self, thing: "Thing"):
        def inner(): fetch(thing)
        self.check(key=fetch)
        thing.weigh()
        p.join("a", str(self.total))
        unknown().serve().rest
        other.serve()


class Thing: ...
'''


@pytest.fixture(scope="module")
def cart() -> Facts:
    return python_facts("src/shop/cart.py", CART, "shop.cart")


def calls(facts: Facts, kind: str = "CALLS") -> set[tuple[str, str, int]]:
    return {(each.source, each.target, each.line) for each in facts.references if each.type == kind}


def targets(text: str) -> set[str]:
    return {target for _, target, _ in calls(python_facts("m.py", text, "m"))}


def test_definitions_have_qualified_names_lines_and_the_first_line_of_their_docstring(cart: Facts) -> None:
    assert cart.module == "shop.cart"
    assert cart.entities[2:6] == (
        Entity("shop.cart.Cart", "CLASS", 8, 27, "Things to buy."),
        Entity("shop.cart.Cart.total", "METHOD", 14, 16),
        Entity("shop.cart.Cart.empty", "METHOD", 18, 19),
        Entity("shop.cart.Cart.add", "METHOD", 21, 27),
    )
    assert Entity("shop.cart.Cart.add.inner", "FUNCTION", 22, 22) in cart.entities


def test_imports_are_those_of_the_text_with_relative_ones_made_absolute(cart: Facts) -> None:
    assert calls(cart, "IMPORTS") == {("", "os.path", 2), ("", "shop.stock", 3), ("", "shop.stock:take", 3)}
    assert {Alias("shop.cart.fetch", "shop.stock.take"), Alias("shop.cart.p", "os.path")} <= {*cart.aliases}


def test_bases_calls_and_values_are_references_from_the_innermost_function(cart: Facts) -> None:
    add = "shop.cart.Cart.add"
    assert calls(cart, "INHERITS") == {("shop.cart.Cart", "shop.cart.Base", 8)}
    assert calls(cart) >= {
        (f"{add}.inner", "shop.stock.take", 22),
        (add, "shop.cart.Cart.check", 23),
        (add, "shop.cart.Thing().weigh", 24),
        (add, "os.path.join", 25),
        (add, "shop.cart.Cart.total", 25),
        (add, ".serve", 26),
        ("shop.cart.Cart.empty", "shop.cart.Cart", 19),
    }
    assert (add, "shop.stock.take", 23) in calls(cart, "REFERENCES")


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("import a.b\na.b.c()", "a.b.c"),
        ("import a.b as x\nx.c()", "a.b.c"),
        ("from a import *\nc()", "m.c"),
        ("class C:\n def f(self): super().f()", "m.C.super().f"),
        ("class C:\n def f(self): self.x = C(); self.x.g()", "m.C.x.g"),
        ("class C:\n def f(self): type(self).g()", "m.C.g"),
        ("class C:\n def f(self): self.__class__()", "m.C"),
        ("class C: pass\ndef f():\n x = C()\n x.g()", "m.C().g"),
        ("class C: pass\ndef f(x: C): x.g()", "m.C().g"),
        ("class C: pass\ndef f(x: 'C | None' = None): x.g()", "m.C().g"),
        ("class C: pass\ndef f():\n with C() as x: x.g()", "m.C().__exit__"),
        ("class C: pass\ndef f(x):\n if isinstance(x, C): x.g()", "m.C().g"),
        ("class C: pass\ndef f(x):\n x = x or C()\n x.g()", "m.C().g"),
        ("class C: pass\ntry: pass\nexcept C as x: x.g()", "m.C().g"),
        ("def f():\n def g(): pass\n return g()", "m.f.g"),
        ("def f():\n from a import g\n g()", "a.g"),
        ("class C: pass\ndef f():\n x = C()\n return x + 1", "m.C().__add__"),
        ("class C: pass\ndef f(x: C):\n for y in x: pass", "m.C().__iter__"),
        ("class C: pass\ndef f(x: C): return len(x)", "m.C().__len__"),
        ("class C: pass\ndef f(x: C): return 1 in x", "m.C().__contains__"),
        ("class C: pass\ndef f(x: C): x[1] = 2", "m.C().__setitem__"),
        ("class C:\n def g(cls): x = object.__new__(C); x.h()", "m.C.h"),
        ("async def f(): (await f()).g()", "m.f().g"),
    ],
)
def test_a_call_is_followed_as_far_as_the_document_tells(text: str, target: str) -> None:
    assert target in targets(text)


@pytest.mark.parametrize(
    "text", ["len(x)", "'a'.join(x)", "x = []\nx.sort()", "def f(x): x.append(1)", "def f(g): g()", "x[0]()"]
)
def test_calls_of_built_in_things_and_of_what_is_unknown_are_left_out(text: str) -> None:
    assert targets(text) <= {"m.f"}


def test_what_calling_a_function_gives_is_kept_as_another_name_of_it() -> None:
    text = "class C: pass\ndef f(): return C()\ndef g() -> C: ...\nclass D:\n def s(self): return self\nx = C()\n"
    aliases = set(python_facts("m.py", text, "m").aliases)
    assert aliases == {
        Alias("m.f()", "m.C()"),
        Alias("m.g()", "m.C()"),
        Alias("m.D.s()", "m.D()"),
        Alias("m.x", "m.C()"),
    }


@pytest.mark.parametrize(
    ("package", "level", "name", "wanted"),
    [
        ("a.b", 0, "c", "c"),
        ("a.b", 1, "c", "a.b.c"),
        ("a.b", 2, "c", "a.c"),
        ("a.b", 1, "", "a.b"),
        ("a.b", 3, "c", ""),
    ],
)
def test_a_relative_import_counts_from_its_package(package: str, level: int, name: str, wanted: str) -> None:
    assert absolute(package, level, name) == wanted


@pytest.mark.parametrize(
    "text",
    ["def f(:", "\0", "(" * 5_000, "x = " + "-" * 100_000 + "1", "x" + ".a" * 50_000 + "()", "a" + "()" * 3_000,
     "x = " + " + ".join(["f()"] * 20_000), "def f(x: " + " | ".join(["A"] * 5_000) + "): pass", "\udc80",
     "if a: pass\n" + "elif b: f()\n" * 2_000],
)  # fmt: skip
def test_text_that_is_no_python_or_is_deep_gives_what_facts_there_are_and_no_error(text: str) -> None:
    assert isinstance(python_facts("m.py", text, "m"), Facts)


WORDS = st.sampled_from([*keyword.kwlist, *"abc().,:=[]{}'\n@*", "\n ", " ", "self", "super", "type", "1", "->"])


@pytest.mark.slow
@given(st.lists(WORDS, max_size=40).map(" ".join) | st.text(max_size=80))
@settings(max_examples=300, deadline=None)
def test_whatever_is_written_is_read_and_its_imports_are_those_that_ast_gives(text: str) -> None:
    facts = python_facts("m.py", text, "m")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        assert facts == Facts()
        return
    plain = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert plain <= {each.target for each in facts.references if each.type == "IMPORTS"}
    assert all(isinstance(each, Reference) for each in facts.references)
