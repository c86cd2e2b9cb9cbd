"""The tools that an agent is offered, as `tools.toml` beside this module says, and the one that a host's hooks call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from deia.errors import QueryError
from deia.fast_json import Json
from deia.records import Record
from deia.suggestions import nearest
from deia.tables import toml_beside

Schema: TypeAlias = Mapping[str, Json]

MOST_TEXT = 200_000  # characters of one argument
MOST_CONVERSATION = 1_000_000  # characters of a conversation; checking that many takes half a minute at most
MOST_SHORT = 2_000  # characters of a name, a path or a filter
COMPAT = "agent-library"
UPLOAD_TOOL = "index_source"  # who is offered this tool may upload
CHECKS, ANSWER = SLOW = "check_triggers", "answer"  # for which others must not wait


class Inputs(Record):
    """The parameters of a tool: a schema for each, and which are required."""

    properties: Mapping[str, Schema]
    required: tuple[str, ...] = ()
    additional: bool = False  # whether parameters that are not listed are accepted

    def schema(self) -> dict[str, Json]:
        """Return the JSON schema of the parameters."""
        return {
            "type": "object", "properties": self.properties, "required": list(self.required),
            "additionalProperties": self.additional,
        }  # fmt: skip


class Tool(Record):
    """A tool that a server can offer."""

    name: str
    description: str
    inputs: Inputs
    output: Schema | None
    hints: Mapping[str, bool]
    own_name: str = ""  # of the tool that answers, which another family may call otherwise

    def as_json(self) -> dict[str, Json]:
        """Return the tool as the protocol describes it."""
        output = {"outputSchema": self.output} if self.output is not None else {}
        return {
            "name": self.name, "description": self.description, "inputSchema": self.inputs.schema(), **output,
            "annotations": self.hints,
        }  # fmt: skip


TABLES = toml_beside(__file__, "tools")
INSTRUCTIONS: str = TABLES.pop("instructions")
HINTS: Mapping[str, Mapping[str, bool]] = TABLES.pop("hints")


def _tools(tables: Mapping[str, Any]) -> Iterator[Tool]:
    for name, table in tables.items():
        inputs = Inputs(properties=table.get("inputs", {}), required=tuple(table.get("required", ())))
        own_name = table.get("like", name)
        own = tables[own_name]
        yield Tool(
            name=name, description=table["description"], inputs=inputs, hints=HINTS[own["hints"]], own_name=own_name,
            output={"type": "object", "properties": own["output"], "required": list(own["output"])},
        )  # fmt: skip


_ALL = tuple(_tools(TABLES))
COMPAT_TOOLS = tuple(tool for tool in _ALL if tool.name.startswith("Librarian_"))
TOOLS = tuple(tool for tool in _ALL if tool not in COMPAT_TOOLS)

# The tool that a host's hooks call. It is offered only with `--hooks` and is not meant for the model. It accepts no
# event that carries the person's words, so that a model that calls it cannot speak for the person. Event → its fields.
HOOK, PERSONS_TOOL = "hook", "AskUserQuestion"
_CONTEXT = ("session_id", "agent_id", "cwd")
_TOOL_CALL = (*_CONTEXT, "tool_name", "tool_use_id", "tool_input")
HOOK_EVENTS: Mapping[str, tuple[str, ...]] = {
    "PreToolUse": _TOOL_CALL,
    "PostToolUse": (*_TOOL_CALL, "tool_response"),
    "PostToolUseFailure": (*_TOOL_CALL, "tool_response", "error"),
    "Stop": (*_CONTEXT, "last_assistant_message"),
}
HOOK_TOOL = Tool(
    name=HOOK,
    description="The host's hooks call this by themselves. It has nothing for you; do not call it.",
    inputs=Inputs(
        properties={"hook_event_name": {"enum": list(HOOK_EVENTS)}}, required=("hook_event_name",), additional=True
    ),
    output=None,
    hints=HINTS["adds"],
)


def offered(
    *, read_only: bool = False, chosen: Sequence[str] = (), compat: str = "", hooks: bool = False
) -> tuple[Tool, ...]:
    """Return the tools that a server offers; with `hooks` also the one that a host's hooks call."""
    if compat not in ("", COMPAT):
        raise QueryError(f"there is no family of tools called {compat!r}", fix=f"The only one is {COMPAT}.")
    tools = (*TOOLS, *(COMPAT_TOOLS if compat else ()))
    names = [tool.name for tool in tools]
    for name in chosen:
        if name not in names:
            raise QueryError(f"there is no tool {name!r}", fix=nearest(name, names))
    tools = tuple(tool for tool in tools if not chosen or tool.name in chosen)
    if read_only:
        tools = tuple(tool for tool in tools if tool.hints["readOnlyHint"])
    if not tools:
        fix = "Choose others with --tools, omit --read-only, or set DEIA_TOKEN for `deia serve`."
        raise QueryError("no tool is left to offer", fix=fix)
    return (*tools, *((HOOK_TOOL,) if hooks else ()))
