"""The print of a call: the same call has the same print however a host writes it, and another call has another."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.records import Turn
from deia.watch.turn.call_print import call_print

VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=9), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


def bash(command: Any, **more: Any) -> str:
    return call_print(Turn(role="tool_call", text="", tool="Bash", tool_input={"command": command, **more}))


def tool(**fields: Any) -> str:
    return call_print(Turn(role="tool_call", text="", tool="mcp__db__run", tool_input=fields))


def test_only_a_call_has_a_print() -> None:
    assert call_print(Turn(role="user", text="rm -rf build")) == ""


def test_white_space_and_what_a_model_writes_anew_do_not_count() -> None:
    again = bash(" rm  -rf\tbuild\n", description="Remove the old build", timeout=5000, run_in_background=False)
    assert again == bash("rm -rf build", description="Clean up")
    assert tool(sql="DROP TABLE a", on={"x": 1, "y": [2]}) == tool(on={"y": [2], "x": 1}, sql="DROP TABLE a", timeout=9)


@pytest.mark.parametrize(
    "other",
    ["rm -rf /srv/data", "cd /srv && rm -rf build", "rm -rf\nbuild", "sudo rm -rf build", "rm -rf build; rm -rf src"],
)
def test_another_command_is_another_call(other: str) -> None:
    assert bash(other) != bash("rm -rf build")


def test_another_folder_is_another_call() -> None:
    assert bash("rm -rf build", workdir="/a") != bash("rm -rf build", workdir="/b")


def test_of_a_tool_that_runs_no_shell_every_field_counts() -> None:
    assert tool(command="create", path="/a") != tool(command="create", path="/b")
    assert tool(script="drop", database="test") != tool(script="drop", database="prod")


@pytest.mark.slow
@given(st.dictionaries(st.text(), VALUES, max_size=4))
def test_the_order_of_fields_never_counts(fields: dict[str, Any]) -> None:
    assert tool(fields=fields) == tool(fields=dict(reversed(fields.items())))


def test_a_folder_nested_too_deep_is_no_folder() -> None:
    nested: Any = []
    for _ in range(5000):
        nested = [nested]
    assert bash("rm -rf build", cwd=nested) == bash("rm -rf build")
