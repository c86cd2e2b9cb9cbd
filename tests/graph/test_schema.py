from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.graph.schema import RELATION_TYPES, field_values, read_schema
from deia.problems import SettingsError

STATUS = {"type": "enum", "values": ["active", "deprecated"], "default": "active"}
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)


def test_a_schema_is_shown_under_the_names_by_which_it_is_written() -> None:
    written = {"entityTypes": ["QUEUE"], "documentFields": {"status": STATUS, "level": {"type": "number"}}}
    shown = read_schema(written).shown()
    assert shown == {
        "entityTypes": ["QUEUE"],
        "relationTypes": list(RELATION_TYPES),
        "documentFields": {"status": STATUS, "level": {"type": "number"}},
        "entityFields": {},
        "relationFields": {},
    }


LEVELS = {"status": STATUS, "level": {"type": "number"}, "open": {"type": "boolean"}, "note": {"type": "string"}}


def test_fields_have_what_was_written_if_it_fits() -> None:
    fields = read_schema({"entityFields": LEVELS}).entity_fields
    assert field_values(fields, {"status": "deprecated", "level": 3, "other": 1}) == {
        "status": "deprecated",
        "level": 3,
    }
    assert field_values(fields, {"status": "gone", "level": True, "open": 1, "note": 2}) == {}


def test_what_yaml_gives_as_text_is_read_as_its_field_says() -> None:
    fields = read_schema({"entityFields": LEVELS}).entity_fields
    assert field_values(fields, {"level": "-2.5", "open": "True", "note": "3"}) == {
        "level": -2.5, "open": True, "note": "3",
    }  # fmt: skip
    assert field_values(fields, {"level": "9" * 400, "open": "perhaps"}) == {}


def test_documents_and_named_types_have_defaults() -> None:
    schema = read_schema({"entityTypes": ["QUEUE"], "entityFields": LEVELS, "documentFields": LEVELS})
    assert schema.fields_of("QUEUE", {}) == schema.fields_of("DOCUMENT", {}) == {"status": "active"}
    assert schema.fields_of("QUEUE", {"status": "deprecated"}) == {"status": "deprecated"}
    assert schema.fields_of("CLASS", {}) == schema.fields_of_relation("USES", {}) == {}


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(sorted(LEVELS)), PLAIN))
def test_every_value_of_a_field_fits_it(written: dict[str, Any]) -> None:
    fields = read_schema({"entityFields": LEVELS}).entity_fields
    assert all(fields[name].holds(value) for name, value in field_values(fields, written).items())


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ({"entityType": ["A"]}, "'entityType' is unknown"),
        ({"entityTypes": "A"}, "entityTypes is 'A'"),
        ({"entityTypes": ["lower case"]}, "'lower case' is no name in capitals"),
        ({"documentFields": {"status": {"type": "enum"}}}, "documentFields.status: `values` is for an enum"),
        ({"documentFields": {"status": {"type": "date"}}}, "type = string | number | boolean | enum"),
        ({"entityFields": {"x": {**STATUS, "default": "gone"}}}, "the default 'gone' is not a value"),
        ({"relationFields": {"x": {"type": "string", "when": 1}}}, "when is unknown"),
        ({"relationFields": []}, "relationFields is no table"),
    ],
)
def test_what_is_wrong_in_a_schema_is_said(written: dict[str, Any], found: str) -> None:
    with pytest.raises(SettingsError) as error:
        read_schema(written, "deia.toml")
    assert found in str(error.value)
    assert "deia.toml" in str(error.value)


def test_all_problems_of_a_schema_are_said_at_once() -> None:
    with pytest.raises(SettingsError) as error:
        read_schema({"entityTypes": ["a"], "relationTypes": [3], "fields": {}})
    assert all(part in str(error.value) for part in ("'a'", "3", "'fields'"))


@given(
    st.dictionaries(
        st.sampled_from(["entityTypes", "relationTypes", "documentFields", "entityFields", "x"]), PLAIN, max_size=4
    )
)
def test_no_schema_raises_anything_else(written: dict[str, Any]) -> None:
    try:
        read_schema(written)
    except SettingsError:
        return
