from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.graph.prose_relations import relations_in


def told(text: str, *custom: str) -> list[str]:
    return [f"{each.source[0]} {each.type} {each.target[0]}" for each in relations_in(text, custom)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("OrderService uses Kafka.", "OrderService USES Kafka"),
        ("The `billing-api` depends on PostgreSQL and the ledger database.",
         "billing-api DEPENDS_ON PostgreSQL, billing-api DEPENDS_ON ledger"),
        ("Kafka is also used by Analytics.", "Analytics USES Kafka"),
        ("Checkout is owned by team Payments.", "Payments OWNS Checkout"),
        ("The Search Gateway is maintained by the Platform team.", "Platform OWNS Search Gateway"),
        ("OrderService uses Redis and publishes to Kafka.", "OrderService USES Redis, OrderService PRODUCES Kafka"),
        ("Order Service and Cart\nService call payment-gateway.",
         "Order Service CALLS payment-gateway, Cart Service CALLS payment-gateway"),
        ("- **Dashboard** reads from Sales\n- Dashboard uses Grafana", "Dashboard READS Sales, Dashboard USES Grafana"),
        ("In production, Api runs on Kubernetes.", "Api RUNS_ON Kubernetes"),
        ("ServiceA calls ServiceB, but ServiceC never calls ServiceD.", "ServiceA CALLS ServiceB"),
        ("Postgres 15 replaces MySQL 5.7.", "Postgres 15 REPLACES MySQL 5.7"),
    ],
)  # fmt: skip
def test_sentences_say_what_does_what_to_what(text: str, wanted: str) -> None:
    assert told(text) == wanted.split(", ")


@pytest.mark.parametrize(
    "text",
    [
        "ServiceA does not use ServiceB.", "ServiceA doesn\u2019t use ServiceB.", "ServiceA could use ServiceB.",
        "If ServiceA uses ServiceB, wait.", "Does ServiceA use ServiceB?", "ServiceA no longer uses ServiceB.",
        "It uses Kafka.", "Users of Kafka use Python.", "Applications use Kafka.", "Python uses indentation.",
        "Neither ServiceA nor ServiceB uses Kafka.", "ServiceA will use ServiceB.", "ServiceA uses a built-in list.",
        "For example, ServiceA uses ServiceB.", "This requires Python.",
    ],
)  # fmt: skip
def test_what_is_denied_supposed_or_asked_or_has_no_name_says_nothing(text: str) -> None:
    assert told(text) == []


@pytest.mark.slow
def test_types_that_a_commons_adds_have_verbs_of_their_own() -> None:
    assert told("KeyVault encrypts UserData. UserData is encrypted by KeyVault.", "ENCRYPTS") == [
        "KeyVault ENCRYPTS UserData",
        "KeyVault ENCRYPTS UserData",
    ]
    assert told("Edge routes to Shop.", "ROUTES_TO") == ["Edge ROUTES_TO Shop"]


PIECES = ["A", "A ", "A, ", "a-", "Foo uses ", "`", "A uses B and ", "\n", ". ", "the ", "a.b", "A " * 290 + "uses\n\n"]


@pytest.mark.slow
@pytest.mark.parametrize("piece", PIECES)
def test_no_text_takes_long(piece: str) -> None:
    began = time.process_time()
    list(relations_in(piece * (200_000 // len(piece))))
    assert time.process_time() - began < 2


@given(
    st.text()
    | st.lists(
        st.sampled_from(["A", " uses ", "is used by", "`", ",", " and ", ".", "\n", "the ", "- ", "(", "team "])
    ).map("".join)
)
def test_no_text_is_too_broken(text: str) -> None:
    assert all(each.source != each.target for each in relations_in(text))
