from __future__ import annotations

import ast
import keyword
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.graph.facts import Alias, Entity, Facts, Reference
from deia.graph.python_facts import python_facts
from deia.graph.python_modules import absolute
from deia.graph.python_uses import MOST_GUESSES

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
        ("class C: pass\ndef f(x=C): x.g()", "m.C.g"),
        ("class C: pass\ndef f(*, x=C): x()", "m.C"),
        ("import a\ndef f(x=a.b, y=1): x()", "a.b"),
        ("class C: pass\ndef f(x: C):\n if x: pass", "m.C().__bool__"),
        ("class C: pass\ndef f(x: C):\n while not x: pass", "m.C().__bool__"),
        ("class C: pass\ndef f(x: C): return 1 if x else 2", "m.C().__bool__"),
        ("class C: pass\ndef f(x: C, y: C): return x and y", "m.C().__bool__"),
        ("class C: pass\ndef f(x: C): return -x", "m.C().__neg__"),
        ("import a\ndef f(): return a.b['c']", "a.b.__getitem__"),
        ("def f(x): return x.p\nclass C:\n @property\n def p(self): pass", ".p"),
        ("from a import A\nclass C(A):\n def f(self): A.f(self)", "a.A.__class__.f"),
        ("class C:\n def f(self): getattr(self, 'g')()", "m.C.g"),
        ("class C:\n def f(self, x): getattr(self, 'do_' + x)()\n def do_go(self): pass", "m.C.do_go"),
        ("class C:\n def f(self, x): n = f'do_{x}'; g = getattr(self, n); g()\n def do_go(self): pass", "m.C.do_go"),
        ("class C:\n def f(self, x): getattr(self, '%s_it' % x)()\n def do_it(self): pass", "m.C.do_it"),
        ("class C:\n def do_go(self): pass\ndef f(x, y): getattr(x, 'do_' + y)()", ".do_go"),
        ("def g(x): pass\ndef f(x): return sorted(x, key=g)", "m.g"),
        ("def g(x): pass\ndef f(x): return list(map(g, x))", "m.g"),
        ("def g(x): pass\ndef f(x, y): return x.sub(g, y)", "m.g"),
        ("def g(): pass\nT = {1: g}\ndef f(x): T[x]()", "m.T[]"),
        ("def g(): pass\nT = {1: g}\ndef f(x): T.get(x)()", "m.T.get()"),
        ("def f(x):\n for y in T: y.g()\nT = []", "m.T[].g"),
        ("class C:\n def f(self): self.x.append(C()); return [y.g() for y in self.x]", "m.C.x[].g"),
        ("class C:\n def f(self):\n  for _, y in sorted(self.x.items()): y.g()", "m.C.x[].g"),
        ("class C(list):\n def f(self): self[0].g()", "m.C[].g"),
        ("class K: pass\nx = K()\nz = [x for x in T]\nx.s()\nT = []", "m.x.s"),
        ("class K: pass\nT = []\ndef f():\n x = K(); z = [x for x in T]; x.s()", "m.K().s"),
        ("class K: pass\ndef f(g):\n x = K()\n z = [x.s() for x in g()]\n return x.t()", "m.K().t"),
        ("class K: pass\ndef f(x):\n z = [y for y in x if (k := K())]; k.s()", "m.K().s"),
        ("class C: pass\nclass K: pass\ndef f():\n x = K(); g = lambda x=C: x.h(); x.s()", "m.K().s"),
        ("class C: pass\nclass K: pass\ndef f():\n x = K(); g = lambda x=C: x.h(); x.s()", "m.C.h"),
        ("class K: pass\nT = []\nT = K()\nT.save()", "m.T.save"),
        ("class K: pass\nclass C:\n x = {}\n def f(self): self.x = K(); self.x.save()", "m.C.x.save"),
        ("def g(x): pass\ndef f(x): x.sort(key=g)", "m.g"),
        ("class C:\n def f(self, x):\n  def helper(x): pass\n  class D:\n   def g(self): helper(self)", "m.C.f.helper"),
        ("def helper(x): pass\nclass C:\n def f(self): helper(self)", "m.helper"),
        ("class R: pass\nr = R()\nclass C:\n def f(self): r.reg(self)", "m.r.reg"),
        ("class R: pass\nclass C:\n def f(self): R.reg(self)", "m.R.__class__.reg"),
    ],
)
def test_a_call_is_followed_as_far_as_the_document_tells(text: str, target: str) -> None:
    assert target in targets(text)


@pytest.mark.parametrize(
    "text", ["len(x)", "'a'.join(x)", "x = []\nx.sort()", "def f(x): x.append(1)", "def f(g): g()", "x[0]()"]
)
def test_calls_of_built_in_things_and_of_what_is_unknown_are_left_out(text: str) -> None:
    assert targets(text) <= {"m.f"}


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("class K: pass\ndef f(g):\n x = K()\n return [x.s() for x in g()]", "m.K().s"),
        (
            "class C:\n def do_go(self): pass\n def f(self, x): n = f'do_{x}'; m = n.upper(); getattr(self, m)()",
            "m.C.do_go",
        ),
        ("class Cart: pass\ndef f(g): return Box(key=Cart)\nclass Box: pass", "m.Cart"),
    ],
)
def test_a_name_inside_is_none_outside_and_what_is_only_given_is_not_called(text: str, target: str) -> None:
    assert target not in targets(text)


def test_a_method_whose_name_is_made_for_something_unknown_costs_no_facts_of_its_document() -> None:
    facts = python_facts(
        "m.py", "class C:\n def f(self, x, y): getattr(x, 'do_' + y)(self)\n def do_go(self): pass", "m"
    )
    assert ("m.C.f", ".do_go", 2) in calls(facts)


def test_a_value_that_has_many_names_is_looked_at_once() -> None:
    names = " = ".join(f"a{at}" for at in range(500))
    text = f"def g(): pass\n{names} = [{'g, ' * 20_000}]\n{names} = ({'g, ' * 20_000})\n"
    begun = time.process_time()
    assert len(python_facts("m.py", text, "m").aliases) == 500
    assert time.process_time() - begun < 5


def test_names_deep_inside_lambdas_are_looked_up_in_few_of_them() -> None:
    text = f"x = {'lambda x: ' * 900}({'f() or ' * 50_000} 1)"
    begun = time.process_time()
    assert python_facts("m.py", text, "m") != Facts()
    assert time.process_time() - begun < 3


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
    ("text", "inside"),
    [
        ("T = [C(), (1, C())]", "m.C()"),
        ("T = {1: C()}", "m.C()"),
        ("T = [C() for x in y]", "m.C()"),
        ("T = dict(a=C())", "m.C()"),
        ("S = [C()]\nT = list(S)", "m.S[]"),
        ("T = []\ndef f(): T.append(C())", "m.C()"),
        ("T = {}\ndef f(x): T[x] = C()", "m.C()"),
        ("T = {}\ndef f(x): T.setdefault(x, C())", "m.C()"),
        ("T = {}\ndef f(x): T[x][1].append(C())", "m.C()"),
        ("T: list[C] = [C()]", "m.C()"),
        ("T: dict = {1: C()}", "m.C()"),
        ("T = []\nT += [C()]", "m.C()"),
        ("T = []\ndef f(): T.extend([C()])", "m.C()"),
        ("T = {}\ndef f(): T.update({1: C()})", "m.C()"),
    ],
)
def test_what_is_put_into_a_container_is_kept_as_what_is_in_it(text: str, inside: str) -> None:
    aliases = python_facts("m.py", f"class C: pass\n{text}\n", "m").aliases
    assert {each.target for each in aliases if each.name == "m.T[]"} == {inside}


def test_nothing_is_said_of_containers_of_other_modules() -> None:
    facts = python_facts("m.py", "import a\nclass C: pass\na.T.append(C())\na.T[1] = C()\nx = []\nx.sort()\n", "m")
    assert facts.aliases == ()
    assert calls(facts) == {("", "m.C", 3), ("", "m.C", 4), ("", "a.T.append", 3), ("", "a.T.__setitem__", 4)}


@pytest.mark.parametrize("name", ["x", "'__' + x + '__'", "'%s'", "'a b' + x", "x.y", "-x", "'do_' * x", "''"])
def test_a_name_that_could_be_any_is_none(name: str) -> None:
    text = f"class C:\n def do_go(self): pass\n def __a__(self): pass\n def f(self, x): getattr(self, {name})()\n"
    assert targets(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "class C:\n" + "".join(f" def do_{at}(self): getattr(self, 'do_' + x)()\n" for at in range(300)),
        "class C:\n" + "".join(f" def do_{at}(self): getattr(self, 'do_{at}' + x)()\n" for at in range(3_000)),
        "T = {}\n" + "def f(x): T[x]()\n" * 3_000,
    ],
)
def test_what_may_lead_to_many_things_is_kept_up_to_a_number(text: str) -> None:
    assert len(python_facts("m.py", text, "m").references) <= MOST_GUESSES


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
     "if a: pass\n" + "elif b: f()\n" * 2_000, "x = " + " + ".join(["'a'"] * 900), "x" + "[0]" * 3_000,
     "x = " + "[" * 90 + "f()" + "]" * 90, "x = " + "[" * 90 + "y" + " for y in z]" * 90,
     "x = " + "lambda: " * 900 + "f()",
     "def f(x): getattr(x, " + "'a' + " * 900 + "x)()"],
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
