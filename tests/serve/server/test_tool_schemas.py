"""What an agent is offered is small, and its arguments are read strictly, whatever they are."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.errors import QueryError
from deia.serve.server.dispatch import COMPAT as TRANSLATED
from deia.serve.server.dispatch import TOOLS as DISPATCHED
from deia.serve.server.tool_arguments import checked
from deia.serve.server.tool_schemas import COMPAT, COMPAT_TOOLS, INSTRUCTIONS, TOOLS, offered

BY_NAME = {tool.name: tool for tool in (*TOOLS, *COMPAT_TOOLS)}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def test_the_list_of_tools_is_under_twelve_kilobytes() -> None:
    assert (
        len(
            json.dumps(
                {"tools": [tool.as_json() for tool in TOOLS]}, ensure_ascii=False, separators=(",", ":")
            ).encode()
        )
        < 12_288
    )


def test_the_instructions_have_less_than_a_hundred_words() -> None:
    assert 40 < len(INSTRUCTIONS.split()) < 100


def test_every_tool_does_something_and_its_schemas_are_sound() -> None:
    for name, tool in BY_NAME.items():
        assert name in DISPATCHED or name in TRANSLATED
        jsonschema.Draft202012Validator.check_schema(tool.inputs.schema())
        jsonschema.Draft202012Validator.check_schema(tool.output or {})
        assert isinstance(tool.hints["readOnlyHint"], bool)
        assert tool.description


def test_the_other_family_has_all_nine_names() -> None:
    assert [tool.name.removeprefix("Librarian_") for tool in COMPAT_TOOLS] == [
        "SearchLibrary", "ReadFromLibrary", "AddToLibrary", "UpdateLibraryDoc", "RemoveFromLibrary",
        "ListLibraryContents", "IndexDirectoryToLibrary", "GetLibraryOverview", "SuggestLibraryLocation",
    ]  # fmt: skip


def test_read_only_leaves_out_what_writes() -> None:
    names = {tool.name for tool in offered(read_only=True, compat=COMPAT)}
    assert {"query_global_commons", "Librarian_ReadFromLibrary"} <= names
    assert not names & {"save_lesson", "remove_document", "feedback", "Librarian_AddToLibrary"}
    assert "Librarian_IndexDirectoryToLibrary" not in names


def test_tools_can_be_chosen_and_a_wrong_name_is_told() -> None:
    assert [tool.name for tool in offered(chosen=["read_document"])] == ["read_document"]
    with pytest.raises(QueryError, match="Did you mean read_document"):
        offered(chosen=["read_documents"])
    with pytest.raises(QueryError, match="no tool is left"):
        offered(chosen=["save_lesson"], read_only=True)
    with pytest.raises(QueryError, match="agent-library"):
        offered(compat="other")


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("query_global_commons", {}, "query is missing"),
        ("query_global_commons", {"query": "x", "platfrom": "y"}, "did you mean platform"),
        ("query_global_commons", {"query": "x", "urgency": "urgent"}, "one of critical, high"),
        ("query_global_commons", {"query": "x", "limit": 0}, "between 1 and 50"),
        ("query_global_commons", {"query": "x", "limit": True}, "type integer"),
        ("query_global_commons", {"query": "x" * 200_001}, "at most 200000"),
        ("check_triggers", {"conversation": [1]}, "string or object"),
        ("check_triggers", {"conversation": "text"}, "type array"),
        ("check_triggers", {"conversation": ["x" * 600_000, {"content": "y" * 600_000}]}, "pass only the last turns"),
        ("save_lesson", {"title": "x", "text": "y", "tags": "z"}, "type array"),
    ],
)
def test_a_wrong_argument_is_told_with_what_is_wanted(tool: str, arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(QueryError, match=told) as caught:
        checked(BY_NAME[tool], arguments)
    assert "Required:" in caught.value.fix


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(QueryError) as caught:
        checked(BY_NAME["save_lesson"], {"tags": 1, "colour": "red"})
    assert all(word in str(caught.value) for word in ("title is missing", "text is missing", "colour", "tags"))


def test_null_is_as_good_as_nothing() -> None:
    assert checked(BY_NAME["query_global_commons"], {"query": "x", "platform": None}) == {"query": "x"}


def test_a_conversation_that_nests_too_deep_is_refused() -> None:
    deep: Any = {"role": "user"}
    for _ in range(60):
        deep = {"content": [deep]}
    with pytest.raises(QueryError, match="nested"):
        checked(BY_NAME["check_triggers"], {"conversation": [deep]})


@pytest.mark.slow
@settings(max_examples=100)
@given(st.sampled_from(sorted(BY_NAME)), st.dictionaries(st.text(max_size=12), ANYTHING, max_size=4), st.data())
def test_whatever_is_taken_fits_the_schema(name: str, arguments: dict[str, Any], data: st.DataObject) -> None:
    tool = BY_NAME[name]
    for key in tool.inputs.properties:
        if data.draw(st.booleans()):
            arguments[key] = data.draw(ANYTHING)
    try:
        taken = checked(tool, arguments)
    except QueryError:
        return
    jsonschema.validate(taken, tool.inputs.schema())
