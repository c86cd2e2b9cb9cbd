"""The OpenAI Agents SDK: guardrails for what is asked and for tools, and a filter by which the model reads what fired.

    deia = Guard()
    agent = Agent(..., input_guardrails=[deia.input_guardrail], tools=[function_tool(..., tool_input_guardrails=[deia.tool_guardrail])])
    await Runner.run(agent, "…", run_config=RunConfig(call_model_input_filter=deia.tell_model))

Read from openai-agents 0.24.0. An input guardrail can only stop a run, so it stops nothing unless `halt` says so; it
runs before the agent, not beside it. Refuses to raise on a held call: the model reads the reason in place of a result.
"""  # noqa: E501 - the example shows how the pieces go together

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from deia.fast_json import loads
from deia.frameworks.missing_extra import need
from deia.frameworks.session import Ear

need("agents", extra="openai-agents")

from agents import (  # noqa: E402 - only once it is known to be there
    GuardrailFunctionOutput,
    InputGuardrail,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolOutputGuardrail,
)
from agents.run import ModelInputData  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Collection

    from deia.librarian import Librarian


class Guard:
    """One conversation's guardrails. `halt` names actions of triggers that stop a run on what a person asks."""

    def __init__(
        self,
        librarian: Librarian | None = None,
        *,
        conversation_id: str = "",
        folder: str | None = None,
        halt: Collection[str] = (),
    ) -> None:
        self.ear = Ear(librarian, folder=folder)
        self.conversation = conversation_id or uuid.uuid4().hex
        self._halt = frozenset(halt)
        self._told: list[tuple[int, str]] = []  # where in the conversation the model was told what
        self.input_guardrail = InputGuardrail(self._check_input, name="deia", run_in_parallel=False)
        self.tool_guardrail = ToolInputGuardrail(self._check_call, name="deia")
        self.result_guardrail = ToolOutputGuardrail(self._check_result, name="deia")

    async def tell_model(self, data: Any) -> Any:
        """Put what fired in front of the model; a `call_model_input_filter`."""
        items = list(data.model_data.input)
        text = await self.ear.ahear(_spoken(items), self.conversation)
        if text:
            self._told.append((len(items), text))
        for place, told in reversed(self._told):
            items.insert(place, {"role": "developer", "content": told})
        return ModelInputData(input=items, instructions=data.model_data.instructions)

    async def _check_input(self, _context: Any, _agent: Any, asked: Any) -> Any:
        items = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
        text = await self.ear.ahear(_spoken(items), self.conversation)
        if text:
            self._told.append((len(items), text))
        halts = any(firing.action in self._halt for firing in self.ear.firings) if text else False
        return GuardrailFunctionOutput(output_info=text, tripwire_triggered=halts)

    async def _check_call(self, data: Any) -> Any:
        call = data.context
        reason = await self.ear.arefuse(call.tool_name, _arguments(call.tool_arguments), self.conversation)
        output = ToolGuardrailFunctionOutput
        return output.reject_content(reason) if reason else output.allow()

    async def _check_result(self, data: Any) -> Any:
        await self.ear.anote(data.context.tool_name, data.output, self.conversation)
        return ToolGuardrailFunctionOutput.allow()


def _spoken(items: Any) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict) and item.get("role") in {"user", "assistant"}]


def _arguments(text: str) -> Any:
    try:
        return loads(text)
    except ValueError:
        return {}
