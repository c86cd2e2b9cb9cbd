from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.errors import HostError
from deia.serve.setup.host_settings.json_text import (
    COMMAS,
    COMMENTS,
    find,
    insert,
    line_of,
    parse,
    remove,
    without_extras,
)

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


COMMENTED = """\
{
  // why it is so
  "a": "// no comment", /* nor, "this": 1 */
  "list": [
    1, // one
    2, // two
  ], // the last
}
"""


def test_what_is_added_to_a_commented_file_leaves_the_comments_and_can_be_taken_out_again() -> None:
    added = insert(insert(COMMENTED, [], {}, key="new"), ["list"], 3)
    assert parse(added, where="", extras=COMMAS) == {"a": "// no comment", "list": [1, 2, 3], "new": {}}
    assert all(told in added for told in ("// why it is so", "/* nor, ", "// one", "// two", "// the last"))
    rest = remove(remove(added, ["new"]), ["list", 0])
    assert parse(rest, where="", extras=COMMAS) == {"a": "// no comment", "list": [2, 3]}
    assert all(told in rest for told in ("// why it is so", "/* nor, ", "// one", "// two", "// the last"))
    assert parse(insert("{ // nothing\n}", [], 1, key="b"), where="", extras=COMMENTS) == {"b": 1}
    assert parse(remove('{"b": 1, // why\n "a": 2}', ["a"]), where="", extras=COMMENTS) == {"b": 1}


def test_comments_and_last_commas_are_refused_where_the_reader_takes_none() -> None:
    for text, taken in (('{"a": 1 // b\n}', COMMENTS), ('{"a": 1,}', COMMAS), ('{"a": 1, /* b */ }', COMMAS)):
        assert parse(text, where="", extras=taken) == {"a": 1}
        with pytest.raises(HostError, match="not JSON"):
            parse(text, where="s.json")
    with pytest.raises(HostError, match="not JSON"):
        parse('{"a": 1, /* never closed', where="", extras=COMMAS)


@given(OBJECTS, INDENTS, st.sampled_from(["// x, }\n", "/* { */", "/**/", '// "\n']))
@settings(max_examples=60)
def test_a_comment_before_any_member_changes_nothing(before: dict[str, Any], indent: Any, comment: str) -> None:
    text = json.dumps(before, indent=indent)
    at = 1
    commented = text[:at] + comment + text[at:]
    assert parse(commented, where="", extras=COMMENTS) == before
    before.pop("new", None)
    text = json.dumps(before, indent=indent)
    added = insert(text[:at] + comment + text[at:], [], [1], key="new")
    assert parse(added, where="", extras=COMMENTS) == {**before, "new": [1]}
    rest = remove(added, ["new"])
    assert comment.strip() in rest
    assert parse(rest, where="", extras=COMMENTS) == before


@given(st.text(alphabet='"\\/*{}[],: \n1a', max_size=60))
@settings(max_examples=100)
def test_blanking_keeps_the_length_and_whatever_is_json_already(text: str) -> None:
    bare = without_extras(text)
    assert len(bare) == len(text)
    assert bare.count("\n") == text.count("\n")
    try:
        meant = json.loads(text)
    except ValueError:
        return
    assert json.loads(bare) == meant
