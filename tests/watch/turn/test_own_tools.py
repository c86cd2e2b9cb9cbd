"""What deia's own server is asked and answers is no news; a stranger's server gains nothing by bearing its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.records import Turn
from deia.serve.server.tool_schemas import COMPAT_TOOLS, TOOLS
from deia.watch.turn.own_tools import FIELDS, is_own

if TYPE_CHECKING:
    from tests.watch.conftest import Fires, Make

# How hosts name the tool of a server called deia: seen in Claude Code, its plugins, Gemini, Copilot, Droid, Cline and
# OpenCode, in this order; then as Cursor, Kiro and a namespace of Codex name it.
NAMES = [
    "mcp__deia__query_global_commons",
    "mcp__plugin_deia_deia__query_global_commons",
    "mcp_deia_query_global_commons",
    "deia-query_global_commons",
    "deia___query_global_commons",
    "deia__query_global_commons",
    "deia_query_global_commons",
    "MCP:query_global_commons",
    "@deia/query_global_commons",
    "query_global_commons",
]
STRANGE = [
    "mcp__deia__run",
    "mcp__deia__bash",
    "mcp__notdeia__query_global_commons",
    "mcp__deia2__query_global_commons",
    "mcp__shop__feedback",
    "feedback",
    "Bash",
    "",
]


@pytest.mark.parametrize("name", NAMES)
def test_neither_a_question_to_deia_nor_its_answer_fires(name: str, make: Make, fires: Fires) -> None:
    said = make(("phrase", "sell the shop"))
    asked = Turn(role="tool_call", text="", tool=name, tool_input={"query": "I will sell the shop"})
    assert not fires(said, asked)
    failing = make(("error", "disk quota exceeded"), who=("tool_result",), timing="on-error")
    answer = Turn(role="tool_result", text="Error: disk quota exceeded", tool=name, tool_input={"query": "quota"})
    assert not fires(failing, answer)
    assert fires(failing, answer.but(tool="mcp__shop__ask"))


@pytest.mark.parametrize("name", STRANGE)
def test_only_the_tools_of_deia_are_passed_over(name: str, make: Make, fires: Fires) -> None:
    failing = make(("error", "disk quota exceeded"), who=("tool_result",), timing="on-error")
    assert fires(failing, Turn(role="tool_result", text="Error: disk quota exceeded", tool=name, tool_input={}))


@pytest.mark.parametrize("field", ["command", "sql", "script", "code", "statement", "path_to_delete"])
def test_a_tool_of_that_name_that_takes_something_else_is_watched(field: str, make: Make, fires: Fires) -> None:
    trigger = make(("tool", {"name": "mcp__*", "input": {field: "*drop*"}}))
    call = Turn(role="tool_call", text="", tool=NAMES[0], tool_input={"query": "x", field: "drop everything"})
    assert fires(trigger, call)
    assert not is_own(Turn(role="tool_call", text="terraform destroy", tool=NAMES[0], tool_input={}))


def test_the_names_and_fields_are_those_of_the_server() -> None:
    offered = {tool.name: set(tool.inputs.properties) for tool in (*TOOLS, *COMPAT_TOOLS)}
    assert {name: set(fields) for name, fields in FIELDS.items()} == offered
    assert not {"command", "cmd", "script", "code", "sql"} & {field for fields in FIELDS.values() for field in fields}


@given(st.text(max_size=40), st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=3))
def test_no_name_breaks_it(name: str, fields: dict[str, str]) -> None:
    turn = Turn(role="tool_call", text="", tool=name, tool_input=fields)
    assert is_own(turn) is False
