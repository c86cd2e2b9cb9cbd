"""Pydantic AI: a capability that hears every turn, tells the model what fired, and holds a call once.

    agent = Agent(model, capabilities=[DeiaCapability()])

Read from pydantic-ai-slim 2.68.0. What the model is told becomes a part of the request, so the history keeps it. A held
call gives its reason as the tool's result: no retry is spent. Refuses to change what anybody else said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deia.frameworks.missing_extra import need
from deia.frameworks.session import Ear

need("pydantic_ai.capabilities", extra="pydantic-ai")

from pydantic_ai.capabilities import AbstractCapability  # noqa: E402 - only once it is known to be there
from pydantic_ai.messages import ModelRequest, SystemPromptPart  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from deia.librarian import Librarian

SPEAKERS = {"user-prompt": "user", "text": "assistant"}


class DeiaCapability(AbstractCapability[Any]):
    """The librarian in an agent's runs."""

    def __init__(
        self, librarian: Librarian | None = None, *, conversation_id: str = "", folder: str | None = None
    ) -> None:
        self.ear = Ear(librarian, folder=folder)
        self._conversation = conversation_id

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Tell the model what fired since it was last asked."""
        text = await self.ear.ahear(_spoken(request_context.messages), self._name(ctx))
        last = request_context.messages[-1] if text else None
        if isinstance(last, ModelRequest):
            last.parts = [*last.parts, SystemPromptPart(content=text)]
        return request_context

    async def wrap_tool_execute(
        self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Callable[[Any], Awaitable[Any]]
    ) -> Any:
        """Run a tool unless its call is held; hear its result, and what it raised."""
        name = self._name(ctx)
        reason = await self.ear.arefuse(tool_def.name, args, name)
        if reason:
            return reason
        try:
            result = await handler(args)
        except RuntimeError as error:
            await self.ear.anote(call.tool_name, str(error), name, failed=True)
            raise
        await self.ear.anote(call.tool_name, result, name)
        return result

    def _name(self, ctx: Any) -> str:
        return str(self._conversation or ctx.conversation_id or id(self))


def _spoken(messages: Any) -> Iterator[dict[str, Any]]:
    for message in messages:
        for part in message.parts:
            role = SPEAKERS.get(part.part_kind)
            if role:
                yield {"role": role, "content": part.content}
