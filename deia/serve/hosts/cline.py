"""Cline's hooks: executables of one event each in; a changed input, a cancellation or added context out.

Source: runs of Cline's command line 3.0.65, whose events have names of their own (`tool_call`, `tool_result`,
`prompt_submit`, `agent_start`) and whose shell is `run_commands`; for its extension, cline/cline
src/core/hooks/hook-factory.ts @06c798bc and docs.cline.bot/features/hooks/hook-reference (read 2026-11). Context of a
tool counts from the model's next request on. A cancellation ends the whole run, and the model never reads its reason.
So the command line gets a call without commands, or an edit without input, together with the reason; a call of any
other tool, which might do something without input, is cancelled. What the hooks of a prompt or of a task's start
answer reaches no request there, and one-shot runs (`cline PROMPT`) raise no event for the prompt at all.
"""

from __future__ import annotations

from deia.records import TYPE_CHECKING
from deia.serve.hosts.event import BEFORE, CONTEXT, LATE, Dialect, Occasion, decoded, mapping_of, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deia.fast_json import Json
    from deia.serve.hosts.delivery_form import Said

MOMENTS = {
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before_tool",
    "PostToolUse": "after_tool",
    "TaskStart": "session",
    "TaskResume": "session",
}
CALLED = "tool_call"
OF_COMMAND_LINE = {
    "prompt_submit": "prompt",
    CALLED: "before_tool",
    "tool_result": "after_tool",
    "agent_start": "session",
    "agent_resume": "session",
}
DIALECT = Dialect(
    moments=MOMENTS | OF_COMMAND_LINE,
    event="hookName",
    conversation=("taskId",),
    folder=("workspaceRoots",),
    tool=("toolName", "tool"),
    tool_input="parameters",
    output=("result",),
    failed=lambda event, response: event.get("success") is False or _has_failed(response),
    mark=("id",),
)
PARTS = ("userPromptSubmit", "preToolUse", "postToolUse")  # an event has one of these, which holds what it is about
CARRIES = dict.fromkeys(("after_tool", "tool_error"), CONTEXT) | {"before_tool": {"hold": BEFORE, "context": LATE}}
# The input that a held call gets in place of its own, by tool; each tool refuses it or does nothing with it.
NOTHING_TO_DO: Mapping[str, Json] = {"bash": {"commands": []}, "editor": None}
STOPPED = "deia stopped this call before it did anything; its result is of an empty call."


def read_event(event: Json) -> Occasion | None:
    """Return what an event is about, or None if there is nothing to watch."""
    fields = mapping_of(event)
    inner = {name: value for part in PARTS for name, value in mapping_of(fields.get(part)).items()} | fields
    inner = _of_main_agent(inner | _call(mapping_of(fields.get(CALLED) or fields.get("tool_result"))))
    return DIALECT.read(inner | {"parameters": _with_command(mapping_of(decoded(inner.get("parameters"))))})


def _call(call: Mapping[str, Json]) -> dict[str, Json]:
    """Return the fields of a call as the command line writes them, under the names of the extension."""
    if not call:
        return {}
    output = decoded(call.get("output"))
    if isinstance(output, list):  # one item a command, each with the command itself
        output = [{**item, "query": ""} if isinstance(item, dict) else item for item in output]
    return {"toolName": call.get("name"), "parameters": call.get("input"), "id": call.get("id"), "result": output}


def _of_main_agent(fields: dict[str, Json]) -> dict[str, Json]:
    """Return the fields without the agent, unless it works for another: here the main agent has an id, too."""
    return fields if text_of(fields.get("parent_agent_id")) else {**fields, "agent_id": ""}


def _with_command(parameters: dict[str, Json]) -> dict[str, Json]:
    """Return a tool's input, with the commands of a call as one script."""
    commands = decoded(parameters.get("commands"))
    if not isinstance(commands, list):
        return parameters
    return {"command": "\n".join([command for command in commands if isinstance(command, str)])}


def _has_failed(response: Json) -> bool:
    items = response if isinstance(response, list) else []
    return any(mapping_of(item).get("success") is False for item in items)


def write_answer(occasion: Occasion, message: Said) -> dict[str, Json] | None:
    """Return the host's answer, or None if nothing is said."""
    if message.hold and occasion.moment == "before_tool":
        if occasion.event != CALLED:
            return {"cancel": True, "errorMessage": message.hold, "contextModification": message.hold}
        tool = occasion.turn.tool if occasion.turn is not None else ""
        if tool not in NOTHING_TO_DO:
            return {"cancel": True, "errorMessage": message.hold}
        return {"overrideInput": NOTHING_TO_DO[tool], "contextModification": f"{STOPPED}\n\n{message.hold}"}
    if not message.context:
        return None
    context: dict[str, Json] = {"contextModification": message.context}
    return context if occasion.event in OF_COMMAND_LINE else {"cancel": False, **context}
