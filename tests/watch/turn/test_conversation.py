"""Conversations become turns: known shapes are parsed, unknown ones become text, and nothing raises."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deia.records import ROLES, Turn
from deia.watch.turn.conversation import Judged, turns_of

CALL = {"command": "ls"}


def short(turns: list[Turn]) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in turns]


@pytest.mark.parametrize(
    ("said", "turn"),
    [
        ("hello", ("user", "hello")),
        ("User: hello", ("user", "hello")),
        ("user:hello", ("user", "hello")),
        ("Human: hello", ("user", "hello")),
        ("Assistant: hello: you", ("assistant", "hello: you")),
        ("AI: hello", ("assistant", "hello")),
        ("Tool result: 3", ("tool_result", "3")),
        ("System: be kind", ("system", "be kind")),
        ("Note: hello", ("user", "Note: hello")),
        ("https://a/b", ("user", "https://a/b")),
        (": hello", ("user", ": hello")),
        ("", ("user", "")),
    ],
)
def test_a_text_may_begin_with_who_speaks(said: str, turn: tuple[str, str]) -> None:
    assert short(turns_of([said])) == [turn]
    assert short(turns_of(said)) == [turn]


@pytest.mark.parametrize(
    ("message", "turns"),
    [
        ({"role": "user", "text": "a"}, [("user", "a")]),
        ({"role": "user", "content": "a"}, [("user", "a")]),
        ({"role": "developer", "content": "a"}, [("system", "a")]),
        ({"role": "assistant", "content": None}, []),
        (
            {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            [("assistant", "a\nb")],
        ),
        (
            {"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "image_url", "url": "x"}]},
            [("user", "a")],
        ),
        ({"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}, "a"]}, [("assistant", "a")]),
        ({"role": "tool", "content": "3", "tool_call_id": "x"}, [("tool_result", "3")]),
        ({"role": "function", "name": "f", "content": "3"}, [("tool_result", "3")]),
        (
            {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "3"}]}]},
            [("tool_result", "3")],
        ),
        ({"role": "tool_call", "tool": "Bash", "tool_input": CALL}, [("tool_call", "ls")]),
        ({"role": "tool_call", "text": "ls"}, [("tool_call", "ls")]),
        ({"content": "no role"}, [("user", "no role")]),
        ({}, []),
        (None, []),
        (7, [("user", "7")]),
    ],
)
def test_the_shapes_of_messages(message: Any, turns: list[tuple[str, str]]) -> None:
    assert short(turns_of([message])) == turns


def test_an_openai_call_is_a_turn_with_its_arguments() -> None:
    function = {"name": "Bash", "arguments": '{"command": "ls"}'}
    message = {
        "role": "assistant",
        "content": "I look",
        "tool_calls": [{"id": "1", "type": "function", "function": function}],
    }
    said, call = turns_of([message])
    assert (said.role, said.text, said.index) == ("assistant", "I look", 1)
    assert (call.role, call.tool, call.tool_input, call.text, call.index) == ("tool_call", "Bash", CALL, "ls", 2)


def test_arguments_that_are_no_json_are_text() -> None:
    message = {"role": "assistant", "tool_calls": [{"function": {"name": "Bash", "arguments": "rm -rf {"}}]}
    (call,) = turns_of([message])
    assert (call.text, call.tool_input) == ("rm -rf {", {})


def test_an_anthropic_message_gives_its_words_first_and_then_its_calls() -> None:
    blocks = [{"type": "tool_use", "id": "1", "name": "Bash", "input": CALL}, {"type": "text", "text": "I look"}]
    assert short(turns_of([{"role": "assistant", "content": blocks}])) == [("assistant", "I look"), ("tool_call", "ls")]


def test_an_error_is_marked_as_one() -> None:
    block = {"type": "tool_result", "is_error": True, "content": "no"}
    (one,) = turns_of([{"role": "user", "content": [block]}])
    (other,) = turns_of([{"role": "tool_result", "text": "no", "failed": True, "tool": "Bash"}])
    assert one.failed
    assert other.failed
    assert other.tool == "Bash"


# --- which turns are new ---


def new(judged: Judged, *said: str) -> list[tuple[str, int]]:
    return [(turn.text, turn.index) for turn in judged.take_new(turns_of(list(said)))]


def test_a_growing_list_gives_its_tail() -> None:
    judged = Judged()
    assert new(judged, "a") == [("a", 1)]
    assert new(judged, "a", "b", "c") == [("b", 2), ("c", 3)]
    assert new(judged, "a", "b", "c") == []


def test_a_sliding_window_gives_what_slid_in() -> None:
    judged = Judged()
    new(judged, "a", "b", "c")
    assert new(judged, "b", "c", "d") == [("d", 4)]
    assert new(judged, "d", "e", "f") == [("e", 5), ("f", 6)]


def test_single_turns_are_new_also_when_something_is_said_again() -> None:
    judged = Judged()
    assert [new(judged, text) for text in "aba"] == [[("a", 1)], [("b", 2)], [("a", 3)]]
    assert new(judged, "a") == []


def test_an_older_window_is_known() -> None:
    judged = Judged()
    new(judged, "a", "b", "c", "d")
    assert new(judged, "b", "c") == []
    assert new(judged, "b", "x") == [("b", 5), ("x", 6)]
    assert new(judged) == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from("ab"), max_size=12), st.integers(1, 5))
def test_a_growing_list_is_judged_once_whatever_is_repeated_in_it(said: list[str], step: int) -> None:
    judged, seen = Judged(), []
    for upto in (*range(1, len(said), step), len(said)):
        seen += new(judged, *said[:upto])
    assert seen == [(text, number) for number, text in enumerate(said, start=1)]


def test_ten_thousand_single_turns_take_no_time() -> None:
    judged = Judged()
    for number in range(10_000):
        assert len(new(judged, f"turn {number}")) == 1


FIELDS = (
    "role content text tool tool_input tool_calls name type input function arguments is_error output command".split()
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
    | st.sampled_from(["user", "assistant", "tool_call", "tool_use", "tool_result", "text", '{"command": []}', "["]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=10,
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.one_of(JSON, st.lists(JSON, max_size=3)))
def test_nothing_raises(conversation: Any) -> None:
    turns = turns_of(conversation)
    assert [turn.index for turn in turns] == list(range(1, len(turns) + 1))
    assert all(turn.role in ROLES and isinstance(turn.text, str) and isinstance(turn.tool, str) for turn in turns)
    assert len(Judged().take_new(turns)) == len(turns)


def test_no_depth_raises() -> None:
    deep: Any = "bottom"
    for _ in range(100_000):
        deep = [deep]
    for message in (
        deep,
        {"role": deep},
        {"content": deep},
        {"tool_input": {"a": deep}},
        {"role": "tool", "content": deep, "name": deep},
    ):
        Judged().take_new(turns_of([message]))
    while isinstance(deep, list):  # taken apart from the top: the interpreter's own clean-up would go too deep
        deep = deep.pop()
