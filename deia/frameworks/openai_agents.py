"""The OpenAI Agents SDK: guardrails for input and tools, and a filter that tells the model what fired.

    deia = Guard()
    agent = Agent(..., input_guardrails=[deia.input_guardrail], tools=[function_tool(..., tool_input_guardrails=[deia.tool_guardrail])])
    await Runner.run(agent, "…", run_config=RunConfig(call_model_input_filter=deia.tell_model))

Written for openai-agents 0.24.0. An input guardrail can only stop a run, so it stops nothing unless `halt` says so. It
runs before the agent, not in parallel. A held call does not raise: the model reads the reason instead of a result.
"""  # noqa: E501 - the example shows how the pieces go together

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from deia.fast_json import loads
from deia.frameworks.session import AgentSession, need
from deia.librarian import Librarian

need("agents", extra="openai-agents")

import agents  # noqa: E402 - after the check that it is installed
from agents.run import ModelInputData  # noqa: E402

if TYPE_CHECKING:
    from agents.run import CallModelData


class Guard:
    """The guardrails of one conversation; `halt` names the actions of triggers that stop a run on a person's input."""

    def __init__(
        self, librarian: Librarian | None = None, *, conversation_id: str = "", folder: str | None = None,
        halt: Collection[str] = (),
    ) -> None:  # fmt: skip
        self.agent_session = AgentSession(librarian, folder=folder)
        self.conversation = conversation_id or uuid.uuid4().hex
        self._halt = frozenset(halt)
        self._texts: list[tuple[int, str]] = []  # positions in the conversation, and the texts for the model there
        self.input_guardrail = agents.InputGuardrail(self._check_input, name="deia", run_in_parallel=False)
        self.tool_guardrail = agents.ToolInputGuardrail(self._check_call, name="deia")
        self.result_guardrail = agents.ToolOutputGuardrail(self._check_result, name="deia")

    async def tell_model(self, data: CallModelData[object]) -> ModelInputData:
        """Put the texts for the model into its input; a `call_model_input_filter`."""
        items = list(data.model_data.input)
        text = await self.agent_session.awatch_messages(_messages(items), self.conversation)
        if text:
            self._texts.append((len(items), text))
        for place, text in reversed(self._texts):
            items.insert(place, {"role": "developer", "content": text})
        return ModelInputData(input=items, instructions=data.model_data.instructions)

    async def _check_input(
        self, _context: object, _agent: object, user_input: str | list[agents.TResponseInputItem]
    ) -> agents.GuardrailFunctionOutput:
        items = [{"role": "user", "content": user_input}] if isinstance(user_input, str) else user_input
        text = await self.agent_session.awatch_messages(_messages(items), self.conversation)
        if text:
            self._texts.append((len(items), text))
        halts = any(firing.action in self._halt for firing in self.agent_session.firings) if text else False
        return agents.GuardrailFunctionOutput(output_info=text, tripwire_triggered=halts)

    async def _check_call(self, data: agents.ToolInputGuardrailData) -> agents.ToolGuardrailFunctionOutput:
        arguments: object = {}
        with suppress(ValueError):
            arguments = loads(data.context.tool_arguments)
        reason = await self.agent_session.acheck_call(data.context.tool_name, arguments, self.conversation)
        output = agents.ToolGuardrailFunctionOutput
        return output.reject_content(reason) if reason else output.allow()

    async def _check_result(self, data: agents.ToolOutputGuardrailData) -> agents.ToolGuardrailFunctionOutput:
        await self.agent_session.awatch_result(data.context.tool_name, data.output, self.conversation)
        return agents.ToolGuardrailFunctionOutput.allow()


def _messages(items: Iterable[object]) -> list[dict[str, object]]:
    return [item for item in items if isinstance(item, dict) and item.get("role") in {"user", "assistant"}]
