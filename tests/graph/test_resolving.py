from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.graph.graph_store import Graph
from deia.graph.python_facts import python_facts
from deia.graph.python_modules import module_names
from deia.graph.resolving import Names

SHOP = {
    "shop/__init__.py": "from .cart import Cart as Basket\nfrom .stock import *\n",
    "shop/base.py": "class Base:\n    def save(self): pass\n    def __enter__(self): return self\n",
    "shop/stock.py": "class Shelf:\n    def take(self): pass\ndef shelf(): return Shelf()\n",
    "shop/cart.py": (
        "from .base import Base\nfrom . import stock\n"
        "class Cart(Base):\n"
        "    def __init__(self): self.shelf = stock.Shelf()\n"
        "    def add(self):\n        self.shelf.take()\n        self.save()\n"
        "class Small(Cart):\n    def save(self): super().save()\n"
    ),
}


def relations(graph: Graph) -> set[tuple[str, str, str, int]]:
    sql = (
        "select a.name, relations.type, b.name, relations.certainty from relations"
        " join entities a on a.id = source join entities b on b.id = target"
    )
    return set(graph.database.execute(sql))


def built(folder: Path, files: dict[str, str]) -> set[tuple[str, str, str, int]]:
    modules = module_names(files)
    with Graph(str(folder)) as graph:
        with graph.transaction():
            for path, text in files.items():
                graph.put(path, "1", python_facts(path, text, modules[path]))
        return relations(graph)


def calls(folder: Path, user: str) -> set[tuple[str, int]]:
    """What a file beside the shop calls."""
    found = built(folder, {**SHOP, "user.py": user})
    return {(target, how) for source, kind, target, how in found if kind == "CALLS" and source.startswith("user")}


def test_a_member_is_looked_up_in_the_class_then_in_its_bases_and_behind_it_by_super(tmp_path: Path) -> None:
    found = built(tmp_path, SHOP)
    assert ("shop.cart.Cart.add", "CALLS", "shop.base.Base.save", 0) in found
    assert ("shop.cart.Small.save", "CALLS", "shop.base.Base.save", 0) in found
    assert ("shop.cart.Cart.add", "CALLS", "shop.stock.Shelf.take", 0) in found


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("import shop\nshop.Basket().save()\n", "shop.base.Base.save"),
        ("from shop import shelf\nshelf().take()\n", "shop.stock.Shelf.take"),
        ("import shop.cart as c\nx = c.Small()\nx.add()\n", "shop.cart.Cart.add"),
        ("from shop import Basket\nwith Basket() as b:\n    b.add()\n", "shop.base.Base.__enter__"),
        ("from shop import Basket\ndef f(b: 'Basket | None'): b.shelf.take()\n", "shop.stock.Shelf.take"),
        ("from shop import *\nshelf()\n", "shop.stock.shelf"),
        ("from shop import Basket\nBasket()\n", "shop.cart.Cart.__init__"),
    ],
)
def test_a_name_is_followed_through_packages_stars_returns_attributes_and_annotations(
    tmp_path: Path, text: str, target: str
) -> None:
    assert (target, 0) in calls(tmp_path, text)


def test_a_method_of_something_unknown_is_found_by_name_if_few_are_called_that(tmp_path: Path) -> None:
    assert calls(tmp_path, "import shop\ndef f(x): x.take()\n") == {("shop.stock.Shelf.take", 1)}
    many = "".join(f"class C{number}:\n    def take(self): pass\n" for number in range(3))
    assert calls(tmp_path / "many", f"def f(x): x.take()\n{many}") == {
        (f"user.C{number}.take", 1) for number in (0, 1, 2)
    }
    files = {**SHOP, "many.py": many, "user.py": "import shop, many\ndef f(x): x.take()\n"}
    assert not any(source == "user.f" for source, *_ in built(tmp_path / "more", files))


def test_what_lies_outside_the_library_is_a_package_or_a_module_and_its_calls_lead_nowhere(tmp_path: Path) -> None:
    found = built(tmp_path, {"user.py": "import numpy, os.path\nfrom yaml import load\nnumpy.take()\nload().take()\n"})
    assert {(kind, target) for _, kind, target, _ in found} == {
        ("IMPORTS", "numpy"), ("IMPORTS", "os.path"), ("IMPORTS", "yaml"),
    }  # fmt: skip


def test_names_that_stand_for_each_other_lead_nowhere_and_classes_that_inherit_in_a_circle_end(tmp_path: Path) -> None:
    files = {
        "a.py": "from b import x\nx.y()\nclass C(C, b.D): pass\nC().m()\n",
        "b.py": "from a import x, C\nx()\nclass D(C): pass\nD().m()\n",
    }
    assert not any(kind == "CALLS" and target.endswith(("x", "m")) for _, kind, target, _ in built(tmp_path, files))


NAMES = st.sampled_from("abc")
METHODS = st.sampled_from("mno")
LINES = st.one_of(
    st.builds("from {} import {} as {}\n".format, NAMES, NAMES, NAMES),
    st.builds("from {} import *\n".format, NAMES),
    st.builds("import {}\n".format, NAMES),
    st.builds("class {}({}):\n    def {}(self): return self.{}()\n".format, NAMES, NAMES, METHODS, METHODS),
    st.builds("import {0}\nclass {1}({0}.{2}):\n    def {3}(self): self.{4} = {0}()\n".format,
              NAMES, NAMES, NAMES, METHODS, METHODS),
    st.builds("def {}(x): return {}()\n".format, NAMES, NAMES),
    st.builds("{} = {}.{}()\n".format, NAMES, NAMES, NAMES),
    st.builds("def {}(x):\n    x.{}()\n    {}().{}.{}()\n".format, NAMES, METHODS, NAMES, METHODS, METHODS),
    st.builds("{} = [{}(), {}.{}()]\n".format, NAMES, NAMES, NAMES, NAMES),
    st.builds("import {0}\ndef {1}(x):\n    for y in {0}.{2}: y.{3}()\n    {0}.{2}[0].{4}(); {0}.{2}.get(x)()\n".format,
              NAMES, NAMES, NAMES, METHODS, METHODS),
    st.builds("import {0}\nclass {1}({0}.{2}):\n    def {3}(self): self.append({0}.{1}()); self[0].{4}()\n".format,
              NAMES, NAMES, NAMES, METHODS, METHODS),
    st.builds("import {0}\nclass {1}({0}.{1}):\n    @property\n    def {2}(self): return {0}.{3}()\n"
              "    def {4}(self): {0}.{1}.{4}(self); self.{2}.{4}(); self.{2} or {0}.{3}[1]\n".format,
              NAMES, NAMES, METHODS, NAMES, METHODS),
    st.builds("def {}(x={}): x.{}(); getattr(x, 'm' + x)()\n".format, NAMES, NAMES, METHODS),
)  # fmt: skip
TEXTS = st.lists(LINES, max_size=5).map("".join)
STEPS = st.lists(st.tuples(NAMES, st.none() | TEXTS), min_size=1, max_size=8)


@pytest.mark.slow
@given(steps=STEPS)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_comes_and_goes_the_graph_is_as_if_made_anew(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str | None]]
) -> None:
    files: dict[str, str] = {}
    with Graph(str(tmp_path_factory.mktemp("steps"))) as graph:
        for name, text in steps:
            path = f"{name}.py"
            with graph.transaction():
                if text is None:
                    graph.remove(path)
                    files.pop(path, None)
                else:
                    graph.put(path, "1", python_facts(path, text, name))
                    files[path] = text
        found = relations(graph)
    assert found == built(tmp_path_factory.mktemp("anew"), files)
    assert found == built(tmp_path_factory.mktemp("back"), dict(reversed(files.items())))


def test_a_call_of_a_method_leads_to_those_of_the_classes_below_too_if_they_are_few(tmp_path: Path) -> None:
    found = built(
        tmp_path, {**SHOP, "shop/big.py": "from .cart import Cart\nclass Big(Cart):\n    def save(self): ...\n"}
    )
    add = ("shop.cart.Cart.add", "CALLS")
    assert {(target, how) for source, kind, target, how in found if (source, kind) == add} == {
        ("shop.stock.Shelf.take", 0), ("shop.base.Base.save", 0), ("shop.cart.Small.save", 1), ("shop.big.Big.save", 1),
    }  # fmt: skip


CONTAINERS = {
    "shop/tables.py": (
        "from .stock import Shelf\nfrom .cart import Cart\n"
        "def look(): pass\ndef find(): pass\n"
        "TABLE = {'look': look, 'find': find}\n"
        "class Store:\n"
        "    def __init__(self): self.shelves, self.same = [Shelf()], TABLE\n"
        "    def put(self): self.shelves.append(Cart())\n"
        "class Wide(Store): pass\n"
        "class Carts(list):\n"
        "    def put(self): self.append(Cart())\n"
    )
}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("from shop.tables import TABLE\ndef f(x): TABLE[x]()\n", {"shop.tables.look", "shop.tables.find"}),
        ("from shop.tables import TABLE\ndef f(x): g = TABLE.get(x); g()\n", {"shop.tables.look", "shop.tables.find"}),
        ("from shop.tables import Store\ndef f(x: Store): x.same[1]()\n", {"shop.tables.look", "shop.tables.find"}),
        ("from shop.tables import Wide\ndef f(x: Wide):\n    for y in x.shelves: y.add()\n", {"shop.cart.Cart.add"}),
        ("from shop.tables import Wide\ndef f(x: Wide): x.shelves.pop().take()\n", {"shop.stock.Shelf.take"}),
        ("from shop.tables import Carts\ndef f(x: Carts): return [y.add() for y in x]\n", {"shop.cart.Cart.add"}),
        ("from shop.tables import Carts\ndef f(x: Carts): return x[0][1]\n", set()),
    ],
)
def test_what_comes_out_of_a_container_may_be_all_that_is_put_into_it(
    tmp_path: Path, text: str, wanted: set[str]
) -> None:
    found = built(tmp_path, {**SHOP, **CONTAINERS, "user.py": text})
    called = {(target, how) for source, kind, target, how in found if (source, kind) == ("user.f", "CALLS")}
    assert called == {(target, 1) for target in wanted}


def test_a_call_of_a_class_by_its_name_on_self_leads_to_none_of_the_classes_below(tmp_path: Path) -> None:
    text = "from shop.base import Base\nclass Mine(Base):\n    def save(self): Base.save(self)\n"
    assert calls(tmp_path, text) == {("shop.base.Base.save", 0)}


def test_what_is_given_self_leads_to_the_classes_below_unless_it_is_a_class(tmp_path: Path) -> None:
    text = (
        "class R:\n    def reg(self, x): pass\nclass S(R):\n    def reg(self, x): pass\nr = R()\n"
        "def helper(x): pass\nclass C:\n    def f(self): r.reg(self); helper(self)\n"
    )
    assert calls(tmp_path, text) >= {("user.R.reg", 0), ("user.S.reg", 1), ("user.helper", 0)}


def test_a_script_whose_name_is_no_module_calls_its_own_functions_with_self(tmp_path: Path) -> None:
    facts = python_facts("x-y.py", "def helper(x): pass\nclass C:\n    def f(self): helper(self)\n", "")
    with Graph(str(tmp_path)) as graph:
        with graph.transaction():
            graph.put("x-y.py", "1", facts)
        assert ("x-y.C.f", "CALLS", "x-y.helper", 0) in relations(graph)


@pytest.mark.parametrize("table", ["T", "S"])
def test_a_small_file_that_goes_through_a_long_list_does_not_become_ever_so_many_relations(
    tmp_path: Path, table: str
) -> None:
    functions = "".join(f"def g{number}(): pass\n" for number in range(80))
    listed = ", ".join(f"g{number}" for number in range(80))
    text = f"{functions}T = [{listed}]\nS = T\n" + "".join(f"def f{at}(x): {table}[x]()\n" for at in range(2_000))
    with Graph(str(tmp_path)) as graph:
        with graph.transaction():
            graph.put("a.py", "1", python_facts("a.py", text, "a"))
        (count,) = graph.database.execute("select count(*) from relations").fetchone()
    assert 80 <= count < 20_000


def test_what_could_not_be_followed_to_its_end_is_not_remembered_of_the_classes_below(tmp_path: Path) -> None:
    text = "class A:\n    def m(self): pass\nclass B(A):\n    def m(self): pass\n"
    with Graph(str(tmp_path)) as graph:
        with graph.transaction():
            graph.put("a.py", "1", python_facts("a.py", text, "a"))
        names = Names(graph.database)
        names._fuel, names._is_cut = 0, True  # as another name leaves them
        assert [place.name for place in names.overriding("a.A", "m")] == ["a.B.m"]
        names._fuel, names._is_cut = 0, True
        (owner,) = names.exactly("a.B")
        assert [place.name for place in names.members(owner, "m")] == ["a.B.m"]


def test_a_property_leads_to_what_it_returns(tmp_path: Path) -> None:
    text = (
        "from shop import Basket\nclass Mine:\n    @property\n    def cart(self): return Basket()\n"
        "    def f(self): self.cart.add()\n"
    )
    assert ("shop.cart.Cart.add", 0) in calls(tmp_path, text)


def test_methods_that_return_methods_lead_nowhere(tmp_path: Path) -> None:
    text = "class A:\n    def b(self): return self.b\n    def c(self): return self.b.c\ndef f(a: A): a.b.c.d()\n"
    assert not any(source == "a.f" for source, _, _, _ in built(tmp_path, {"a.py": text}))
