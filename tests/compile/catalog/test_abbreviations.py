"""Abbreviations come from the definitions in a text, and from nowhere else."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.commons.index.index_records import Concept
from deia.compile.catalog.abbreviations import common_abbreviations, concepts_source, counted, defined


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Horizontal Pod Autoscaler (HPA) adds pods.", [("hpa", "horizontal pod autoscaler")]),
        ("Use point in time recovery (PITR).", [("pitr", "point in time recovery")]),
        ("role-based access control (RBAC)", [("rbac", "role based access control")]),
        ("a JWT (JSON Web Token) is signed", [("jwt", "json web token")]),
        ("Persistent Volume Claims (PVCs) fill up", [("pvc", "persistent volume claims")]),
        ("see the appendix (SEE)", []),
        ("Timed Interactive Media Elements (TIME) take time", []),
        ("words (AND) others, (X), (), ((HPA))", []),
        ("nothing pod here (HPA)", []),
        ("", []),
    ],
)
def test_a_definition_is_found_with_what_it_stands_for(text: str, expected: list[tuple[str, str]]) -> None:
    assert defined(text) == expected


def test_every_text_counts_a_definition_once() -> None:
    once = "Horizontal Pod Autoscaler (HPA)"
    assert counted([f"{once} and {once}", once]) == {"hpa|horizontal pod autoscaler": 2}


def test_words_for_one_thing_find_each_other_by_their_stems() -> None:
    source = concepts_source([Concept(words=("outage", "site down"))], {"pvc|persistent volume claims": 3})
    assert source["groups"][0] == [["outage", "outag"], ["site down", "site down"]]
    assert [word for word, _ in source["groups"][source["by"]["persist volum claim"][0]]] == [
        "pvc", "persistent volume claims",
    ]  # fmt: skip
    assert source["defined"] == {"pvc|persistent volume claims": 3}


def test_the_list_of_the_field_has_a_short_name_and_other_words_each() -> None:
    assert all(len(group) > 1 and all(group) for group in common_abbreviations())


@given(
    st.text(st.characters(), max_size=300)
    | st.lists(st.sampled_from(["(AB)", "AB (", ")", "Ab", " ", "\n"])).map("".join)
)
@settings(max_examples=100, deadline=None)
def test_any_text_may_be_read(text: str) -> None:
    defined(text)


@pytest.mark.parametrize("unit", ["(AB)", "AB (A", "A ", "(", "Ab cd (AC) "])
def test_long_texts_are_read_in_time(unit: str) -> None:
    began = time.process_time()
    defined(unit * (300_000 // len(unit)))
    assert time.process_time() - began < 3
