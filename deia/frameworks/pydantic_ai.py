"""Pydantic AI: a capability that judges every turn, tells the model what fired, and holds calls.

    agent = Agent(model, capabilities=[DeiaCapability()])

Written for pydantic-ai-slim 2.68.0. Texts for the model become parts of the request, so the history keeps them. A held
call returns its reason as the tool's result, which uses up no retry.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from deia.frameworks.session import AgentSession, need
from deia.librarian import Librarian

need("pydantic_ai.capabilities", extra="pydantic-ai")

from pydantic_ai.capabilities import AbstractCapability  # noqa: E402 - after the check that it is installed
from pydantic_ai.exceptions import ModelRetry, ToolFailed, ToolFailedError, ToolRetryError  # noqa: E402
from pydantic_ai.messages import ModelRequest, SystemPromptPart  # noqa: E402

if TYPE_CHECKING:
    from pydantic_ai import ModelRequestContext, RunContext
    from pydantic_ai.messages import ModelMessage, ToolCallPart
    from pydantic_ai.tools import ToolDefinition

# What a tool raises so that the model reads it; other errors mostly end the run.
ERRORS = (ModelRetry, ToolFailed, ToolFailedError, ToolRetryError, RuntimeError)
SPEAKERS = {"user-prompt": "user", "text": "assistant"}


class DeiaCapability(AbstractCapability[object]):
    """The librarian in an agent's runs."""

    def __init__(
        self, librarian: Librarian | None = None, *, conversation_id: str = "", folder: str | None = None
    ) -> None:
        self.agent_session = AgentSession(librarian, folder=folder)
        self._conversation = conversation_id

    async def before_model_request(
        self, ctx: RunContext[object], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Tell the model what fired since its last call."""
        text = await self.agent_session.awatch_messages(_messages(request_context.messages), self._name(ctx))
        last = request_context.messages[-1] if text else None
        if isinstance(last, ModelRequest):
            last.parts = [*last.parts, SystemPromptPart(content=text)]
        return request_context

    async def wrap_tool_execute(
        self, ctx: RunContext[object], *, call: ToolCallPart, tool_def: ToolDefinition, args: dict[str, object],
        handler: Callable[[dict[str, object]], Awaitable[object]],
    ) -> object:  # fmt: skip
        """Run a tool unless its call is held, and judge its result or error."""
        conversation = self._name(ctx)
        reason = await self.agent_session.acheck_call(tool_def.name, args, conversation)
        if reason:
            return reason
        try:
            result = await handler(args)
        except ERRORS as error:
            await self.agent_session.awatch_result(call.tool_name, str(error), conversation, failed=True)
            raise
        await self.agent_session.awatch_result(call.tool_name, result, conversation)
        return result

    def _name(self, ctx: RunContext[object]) -> str:
        return str(self._conversation or ctx.conversation_id or id(self))


def _messages(messages: Iterable[ModelMessage]) -> Iterator[dict[str, object]]:
    for message in messages:
        for part in message.parts:
            role = SPEAKERS.get(part.part_kind)
            if role:
                yield {"role": role, "content": part.content}
