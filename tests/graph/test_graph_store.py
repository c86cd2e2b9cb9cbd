from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from deia.graph.facts import DOCUMENT, Alias, Entity, Facts, Reference
from deia.graph.graph_changes import MANY, Changes
from deia.graph.graph_store import DATABASE, FEW, Graph, GraphError

SHOP = Facts(
    module="shop",
    entities=(Entity("shop.Cart", "CLASS", 3, 9), Entity("shop.Cart.add", "METHOD", 5, 6)),
    references=(Reference("IMPORTS", "stock", 1), Reference("CALLS", "stock.take", 6, source="shop.Cart.add")),
)
STOCK = Facts(module="stock", entities=(Entity("stock.take", "FUNCTION", 1, 2),))
PACKAGE = Facts(module="stock", aliases=(Alias("stock.take", "stock.shelf.take"),))
SHELF = Facts(module="stock.shelf", entities=(Entity("stock.shelf.take", "FUNCTION", 4, 5),))
COMPOSE = Facts(
    entities=(Entity("web", "SERVICE", 2, 5, shared=True), Entity("db", "SERVICE", 6, 8, shared=True)),
    references=(Reference("DEPENDS_ON", "db", 4, source="web", target_type="SERVICE"),),
)


def relations(graph: Graph) -> set[tuple[str, str, str]]:
    sql = (
        "select a.name, relations.type, b.name from relations"
        " join entities a on a.id = source join entities b on b.id = target"
    )
    return set(graph.database.execute(sql))


def put(graph: Graph, **documents: Facts | None) -> None:
    with graph.transaction():
        for name, facts in documents.items():
            if facts is None:
                graph.remove(name)
            else:
                graph.put(name, repr(hash(facts.module)), facts)


def test_a_reference_leads_to_what_another_document_defines_whichever_comes_first(tmp_path: Path) -> None:
    wanted = {("shop", "IMPORTS", "stock"), ("shop.Cart.add", "CALLS", "stock.take")}
    for number, order in enumerate(itertools.permutations({"shop.py": SHOP, "stock.py": STOCK}.items())):
        with Graph(str(tmp_path / str(number))) as graph:
            for name, facts in order:
                put(graph, **{name: facts})
            assert wanted <= relations(graph)


def test_what_is_gone_is_led_to_no_more_and_what_comes_back_is(tmp_path: Path) -> None:
    with Graph(str(tmp_path)) as graph:
        put(graph, a=SHOP, b=STOCK)
        put(graph, b=None)
        assert not any("stock.take" in relation for relation in relations(graph))
        put(graph, c=STOCK)
        assert ("shop.Cart.add", "CALLS", "stock.take") in relations(graph)


def test_a_name_that_stands_for_another_leads_there_also_when_it_comes_later(tmp_path: Path) -> None:
    with Graph(str(tmp_path)) as graph:
        put(graph, a=SHOP)
        put(graph, b=SHELF)
        put(graph, c=PACKAGE)
        assert ("shop.Cart.add", "CALLS", "stock.shelf.take") in relations(graph)


def test_a_shared_thing_is_one_in_all_documents_and_goes_with_the_last(tmp_path: Path) -> None:
    other = COMPOSE._replace(entities=(Entity("DB", "SERVICE", 1, 1, shared=True),), references=())
    with Graph(str(tmp_path)) as graph:
        put(graph, a=COMPOSE, b=other)
        services = "select count(*) from entities where type = 'SERVICE'"
        assert graph.database.execute(services).fetchone() == (2,)
        put(graph, a=None)
        assert graph.database.execute(services).fetchone() == (1,)
        put(graph, b=None)
        assert graph.database.execute(services).fetchone() == (0,)


def test_an_unchanged_entity_keeps_its_id_when_its_document_changes(tmp_path: Path) -> None:
    with Graph(str(tmp_path)) as graph:
        put(graph, a=SHOP, b=STOCK)
        take = graph.database.execute("select id from entities where name = 'stock.take'").fetchone()
        put(graph, b=STOCK._replace(entities=(*STOCK.entities, Entity("stock.put", "FUNCTION", 8, 9))))
        assert graph.database.execute("select id from entities where name = 'stock.take'").fetchone() == take
        assert ("shop.Cart.add", "CALLS", "stock.take") in relations(graph)


def test_what_breaks_off_in_a_transaction_changes_nothing(tmp_path: Path) -> None:
    with Graph(str(tmp_path)) as graph:
        put(graph, a=SHOP, b=STOCK)
        before = relations(graph)

        def broken() -> None:
            with graph.transaction():
                graph.remove("b")
                raise KeyError

        with pytest.raises(KeyError):
            broken()
        assert relations(graph) == before
        assert graph.hashes().keys() == {"a", "b"}


def test_hashes_of_some_documents_are_those_that_all_have(tmp_path: Path) -> None:
    with Graph(str(tmp_path)) as graph:
        put(graph, a=SHOP, b=STOCK)
        assert graph.hashes(["b", "gone"]) == {"b": graph.hashes()["b"]}
        many = [f"{number}" for number in range(FEW)]
        assert graph.hashes(["a", *many]).items() >= {"a": graph.hashes()["a"]}.items()
        assert graph.hashes([]) == {}


def test_many_documents_at_once_give_the_graph_that_they_give_one_by_one(tmp_path: Path) -> None:
    names = [f"shop{number}" for number in range(MANY + 2)]
    modules = {
        name: Facts(
            module=name,
            entities=(Entity(f"{name}.Cart{name}", "CLASS", 1, 9), Entity(f"{name}.Cart{name}.add", "METHOD", 2, 3)),
            references=(
                Reference("INHERITS", f"{other}.Cart{other}", 1, source=f"{name}.Cart{name}"),
                *(Reference("CALLS", f"{other}.Cart{other}.add", line, f"{name}.Cart{name}.add") for line in (2, 3)),
            ),
        )
        for name, other in zip(names, [*names[1:], "none"], strict=True)
    }
    with Graph(str(tmp_path / "at once")) as at_once, Graph(str(tmp_path / "one by one")) as one_by_one:
        put(at_once, **modules)
        for name, facts in modules.items():
            put(one_by_one, **{name: facts})
        assert relations(at_once) == relations(one_by_one)
        assert ("shop0.Cartshop0.add", "CALLS", "shop1.Cartshop1.add") in relations(at_once)
        indexes = "select name from sqlite_master where type = 'index'"
        made = [{name for (name,) in graph.database.execute(indexes)} for graph in (at_once, one_by_one)]
        assert made[0] == made[1] >= {"entities_folded", "relations_in", "refs_last"}


def test_what_finds_relations_fast_is_made_only_once_there_are_documents(tmp_path: Path) -> None:
    indexes = "select count(*) from sqlite_master where type = 'index' and name = 'relations_out'"
    with Graph(str(tmp_path)) as graph:
        with graph.transaction():
            graph.merge({})
        assert graph.database.execute(indexes).fetchone() == (0,)
        put(graph, a=SHOP)
        assert graph.database.execute(indexes).fetchone() == (1,)


def test_once_changes_are_many_every_reference_is_resolved_again(tmp_path: Path) -> None:
    with Graph(str(tmp_path)) as graph:
        put(graph, a=SHOP, b=STOCK)
        changes = Changes(graph.database)
        changes.add({(f"a/{number}", what) for number in range(MANY + 1) for what in (DOCUMENT, "CLASS")})
        assert changes.are_many
        assert len(changes.references()) == len(SHOP.references)


def test_a_database_of_another_format_is_made_anew(tmp_path: Path) -> None:
    with Graph(str(tmp_path)) as graph:
        put(graph, a=SHOP)
        graph.database.execute("update about set value = '0' where name = 'format'")
    with Graph(str(tmp_path)) as graph:
        assert graph.hashes() == {}


def test_a_damaged_database_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_bytes(b"no database" * 1000)
    with pytest.raises(GraphError, match="cannot be read"):
        Graph(str(tmp_path))
