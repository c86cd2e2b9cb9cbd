from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.errors import HostError
from deia.serve.json_edit import find, insert, line_of, parse, remove

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)
INDENTS = st.sampled_from([None, 2, 4, "\t"])


@given(OBJECTS, INDENTS, VALUES)
@settings(max_examples=100)
def test_what_is_added_can_be_read_and_taken_out_again(before: dict[str, Any], indent: Any, value: Any) -> None:
    before.pop("new", None)
    text = json.dumps(before, indent=indent)
    added = insert(text, [], value, key="new")
    assert json.loads(added) == {**before, "new": value}
    assert remove(added, ["new"]) == text


@given(OBJECTS.filter(bool), INDENTS)
@settings(max_examples=100)
def test_taking_out_any_member_leaves_the_others(before: dict[str, Any], indent: Any) -> None:
    for key in before:
        text = remove(json.dumps(before, indent=indent), [key])
        assert json.loads(text) == {name: value for name, value in before.items() if name != key}


@given(st.lists(VALUES, min_size=1, max_size=4), INDENTS)
@settings(max_examples=60)
def test_taking_out_any_item_leaves_the_others(before: list[Any], indent: Any) -> None:
    for number in range(len(before)):
        text = remove(json.dumps({"list": before}, indent=indent), ["list", number])
        assert json.loads(text) == {"list": before[:number] + before[number + 1 :]}


def test_indentation_and_line_ends_of_the_file_are_kept() -> None:
    text = '{\r\n\t"a": 1\r\n}\r\n'
    assert insert(text, [], {"x": []}, key="b") == '{\r\n\t"a": 1,\r\n\t"b": {\r\n\t\t"x": []\r\n\t}\r\n}\r\n'


def test_of_members_with_one_name_the_last_counts() -> None:
    assert parse('{"a": 1, "a": [2]}', where="f") == {"a": [2]}
    assert find('{"a": 1, "a": [2]}', ["a", 0]) == 15


@pytest.mark.parametrize("text", ["{", '{"a": 1,}', "{}\n{}", "// words\n{}", "nul", '{"a" 1}'])
def test_what_is_not_json_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(HostError, match="not JSON") as caught:
        parse(text, where="settings.json")
    assert caught.value.where.startswith("settings.json:")


def test_the_line_of_a_broken_place_is_told() -> None:
    with pytest.raises(HostError) as caught:
        parse('{\n "a": 1\n "b": 2\n}', where="s")
    assert caught.value.where == "s:3"
    assert line_of("a\nb\nc", 4) == 3


def test_nesting_without_end_is_refused() -> None:
    with pytest.raises(HostError, match="deep"):
        parse("[" * 100_000, where="s")
