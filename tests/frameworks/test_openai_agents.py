"""The adapter in the framework's own runner, with the framework's own scripted model."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("agents", reason="the extra openai-agents is not installed; `python do.py frameworks` runs this")

from agents import Agent, FunctionTool, InputGuardrailTripwireTriggered, RunConfig, Runner
from agents.testing import ScriptedModel
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from deia.frameworks.openai_agents import Guard
from tests.frameworks.conftest import COMMAND, FIRED, RESULT, SAID, TOOL, shown

if TYPE_CHECKING:
    from deia.librarian import Librarian

ARGUMENTS = json.dumps({"command": COMMAND})
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


def called(number: int) -> Any:
    return ResponseFunctionToolCall(arguments=ARGUMENTS, call_id=f"c{number}", name=TOOL, type="function_call")


def said(text: str) -> Any:
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[part])


DONE = [said("Done.")]


def run(guard: Guard, *steps: Any) -> tuple[list[str], Any]:
    ran: list[str] = []

    async def invoke(_context: Any, given: str) -> str:
        ran.append(given)
        return RESULT

    tool = FunctionTool(
        name=TOOL, description="Runs a command.", params_json_schema=SCHEMA, on_invoke_tool=invoke,
        strict_json_schema=False, tool_input_guardrails=[guard.tool_guardrail],
        tool_output_guardrails=[guard.result_guardrail],
    )  # fmt: skip
    model = ScriptedModel(list(steps))
    agent = Agent(name="a", model=model, tools=[tool], input_guardrails=[guard.input_guardrail])
    config = RunConfig(call_model_input_filter=guard.tell_model, tracing_disabled=True)
    asyncio.run(Runner.run(agent, SAID, run_config=config))
    return ran, model


def test_the_conversation_fires_the_same_and_the_model_reads_it_in_time(librarian: Librarian) -> None:
    ran, model = run(Guard(librarian), [called(1)], [called(2)], DONE)
    inputs = [repr(call.input) for call in model.calls]
    assert "About sale." in inputs[0]
    assert "About wipe." in inputs[1]  # in place of a result, before anything ran
    assert "About gone." in inputs[2]
    assert all("About sale." in one for one in inputs)
    assert ran == [ARGUMENTS]
    assert shown(librarian) == FIRED


def test_a_run_is_stopped_only_where_somebody_wants_it(librarian: Librarian) -> None:
    with pytest.raises(InputGuardrailTripwireTriggered):
        run(Guard(librarian, halt=("warn", "note")), DONE)
