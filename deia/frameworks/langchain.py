"""LangChain and LangGraph: a middleware that hears every turn, tells the model what fired, and holds a call once.

    agent = create_agent(model, tools, middleware=[DeiaMiddleware()])

Read from langchain 1.5.0. What the model is told becomes a message of the conversation, so a checkpoint keeps it. A
thread is a conversation; without one, all runs of a middleware are the same. Refuses to jump or to end a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deia.frameworks.missing_extra import need
from deia.frameworks.session import Ear

need("langchain.agents.middleware", extra="langchain")

from langchain.agents.middleware import AgentMiddleware  # noqa: E402 - only once it is known to be there
from langchain_core.messages import HumanMessage, ToolMessage  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from deia.librarian import Librarian

ROLES = {"human": "user", "ai": "assistant"}
OURS = "deia"  # marks the messages that are the librarian's; a model reads them as a person's, some know no other


class DeiaMiddleware(AgentMiddleware):
    """The librarian in an agent's loop."""

    def __init__(
        self, librarian: Librarian | None = None, *, conversation_id: str = "", folder: str | None = None
    ) -> None:
        super().__init__()
        self.ear = Ear(librarian, folder=folder)
        self._conversation = conversation_id

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Tell the model what fired since it was last asked."""
        return _told(self.ear.hear(_spoken(state["messages"]), self._thread(runtime)))

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Await the same."""
        return _told(await self.ear.ahear(_spoken(state["messages"]), self._thread(runtime)))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Run a tool unless its call is held; hear its result."""
        call, thread = request.tool_call, self._thread(request.runtime)
        reason = self.ear.refuse(call["name"], call["args"], thread)
        if reason:
            return _refused(call, reason)
        result = handler(request)
        self.ear.note(call["name"], getattr(result, "content", None), thread, failed=_failed(result))
        return result

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Await the same."""
        call, thread = request.tool_call, self._thread(request.runtime)
        reason = await self.ear.arefuse(call["name"], call["args"], thread)
        if reason:
            return _refused(call, reason)
        result = await handler(request)
        await self.ear.anote(call["name"], getattr(result, "content", None), thread, failed=_failed(result))
        return result

    def _thread(self, runtime: Any) -> str:
        execution = getattr(runtime, "execution_info", None)
        return str(getattr(execution, "thread_id", None) or self._conversation or id(self))


def _spoken(messages: Any) -> list[dict[str, Any]]:
    return [
        {"role": ROLES[message.type], "content": message.text}
        for message in messages
        if message.type in ROLES and message.text and not message.additional_kwargs.get(OURS)
    ]


def _told(text: str) -> dict[str, Any] | None:
    return {"messages": [HumanMessage(content=text, additional_kwargs={OURS: True})]} if text else None


def _refused(call: Any, reason: str) -> ToolMessage:
    return ToolMessage(content=reason, tool_call_id=call["id"], name=call["name"], status="error")


def _failed(result: Any) -> bool:
    return getattr(result, "status", "") == "error"
