from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.graph.facts import Alias, Entity, Facts
from deia.graph.graph_store import Graph
from deia.graph.names import find, spelling

CODE = Facts(
    module="json.decoder",
    entities=(
        Entity("json.decoder.JSONDecoder", "CLASS"),
        Entity("json.decoder.JSONDecoder.raw_decode", "METHOD"),
        Entity("json.decoder.decoder", "FUNCTION"),
        Entity("json.decoder.config_manager", "FUNCTION"),
    ),
)
PACKAGE = Facts(module="json", aliases=(Alias("json.Dec", "json.decoder.JSONDecoder"),))
COMPOSE = Facts(
    entities=(
        Entity("kafka", "SERVICE", shared=True),
        Entity("Billing Service", "SERVICE", shared=True),
        Entity("decoder", "SERVICE", shared=True),
    )
)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with Graph(str(tmp_path_factory.mktemp("graph"))) as graph:
        with graph.transaction():
            for name, facts in {"a.py": CODE, "b.py": PACKAGE, "compose.yaml": COMPOSE}.items():
                graph.put(name, "1", facts)
        yield graph


def names(graph: Graph, text: str, kind: str = "") -> list[str]:
    found = find(graph.database, text, kind)
    by_id = "select name from entities where id = ?"
    return [name for one in found.entities for (name,) in graph.database.execute(by_id, (one,))]


@pytest.mark.parametrize(
    ("typed", "name", "how"),
    [
        ("json.decoder.JSONDecoder", "json.decoder.JSONDecoder", "exact"),
        ("JSONDecoder", "json.decoder.JSONDecoder", "exact"),
        ("jsondecoder", "json.decoder.JSONDecoder", "spelling"),
        ("JSON decoders", "json.decoder.JSONDecoder", "spelling"),
        ("rawDecode", "json.decoder.JSONDecoder.raw_decode", "spelling"),
        ("JSONDecoder::raw-decode", "json.decoder.JSONDecoder.raw_decode", "spelling"),
        ("KAFKA", "kafka", "spelling"),
        ("billing-services", "Billing Service", "spelling"),
        ("json.Dec", "json.decoder.JSONDecoder", "alias"),
        ("jd", "json.decoder.JSONDecoder", "abbreviation"),
        ("cnfgmngr", "json.decoder.config_manager", "abbreviation"),
        ("kafak", "kafka", "similar"),
        ("JSONDecodr", "json.decoder.JSONDecoder", "similar"),
    ],
)
def test_a_name_typed_otherwise_leads_to_its_entity_and_guesses_say_so(
    graph: Graph, typed: str, name: str, how: str
) -> None:
    found = find(graph.database, typed)
    assert (names(graph, typed), found.how) == ([name], how)
    assert found.is_guess == (how in ("abbreviation", "similar"))


def test_several_of_a_name_are_all_named_and_a_type_chooses(graph: Graph) -> None:
    assert names(graph, "Decoder") == ["decoder", "json.decoder", "json.decoder.decoder"]
    assert names(graph, "Decoder", "service") == ["decoder"]


@pytest.mark.parametrize("typed", ["", "   ", "zzzzqqq", "%", "'; drop table entities; --", "\0", "x" * 10_000])
def test_what_names_nothing_finds_nothing(graph: Graph, typed: str) -> None:
    assert names(graph, typed) == []


@given(st.text(max_size=60))
def test_no_text_raises_and_a_spelling_of_a_spelling_is_the_same(text: str) -> None:
    assert spelling(spelling(text)) == spelling(spelling(spelling(text)))


@given(text=st.text(max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_typed_is_answered(graph: Graph, text: str) -> None:
    known = set(graph.database.execute("select id from entities"))
    assert {(one,) for one in find(graph.database, text).entities} <= known
