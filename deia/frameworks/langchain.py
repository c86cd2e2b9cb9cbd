"""LangChain and LangGraph: a middleware that judges every turn, tells the model what fired, and holds calls.

    agent = create_agent(model, tools, middleware=[DeiaMiddleware()])

Written for langchain 1.5.0. Texts for the model become messages of the conversation, so a checkpoint keeps them. A
thread is a conversation; without one, all runs of a middleware are the same conversation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from deia.frameworks.session import AgentSession, need
from deia.librarian import Librarian

need("langchain.agents.middleware", extra="langchain")

from langchain.agents.middleware import AgentMiddleware  # noqa: E402 - after the check that it is installed
from langchain_core.messages import HumanMessage, ToolMessage  # noqa: E402

if TYPE_CHECKING:
    from typing import TypeAlias

    from langchain.agents.middleware import AgentState, ToolCallRequest
    from langchain_core.messages import BaseMessage, ToolCall

    Result: TypeAlias = object  # a tool's message, or a command to the graph
    Update: TypeAlias = dict[str, list[HumanMessage]] | None  # of an agent's state

ROLES = {"human": "user", "ai": "assistant"}
MARK = "deia"  # marks deia's own messages; they have a person's role, because some models know no other


class DeiaMiddleware(AgentMiddleware):
    """The librarian in an agent's loop."""

    def __init__(
        self, librarian: Librarian | None = None, *, conversation_id: str = "", folder: str | None = None
    ) -> None:
        super().__init__()
        self.agent_session = AgentSession(librarian, folder=folder)
        self._conversation = conversation_id

    def before_model(self, state: AgentState, runtime: object) -> Update:
        """Tell the model what fired since its last call."""
        return _update(self.agent_session.watch_messages(_messages(state["messages"]), self._thread(runtime)))

    async def abefore_model(self, state: AgentState, runtime: object) -> Update:
        """Await `before_model`."""
        return _update(await self.agent_session.awatch_messages(_messages(state["messages"]), self._thread(runtime)))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        """Run a tool unless its call is held, and judge the result."""
        call, thread = request.tool_call, self._thread(request.runtime)
        reason = self.agent_session.check_call(call["name"], call["args"], thread)
        if reason:
            return _refused(call, reason)
        result = handler(request)
        self.agent_session.watch_result(call["name"], getattr(result, "content", None), thread, failed=_failed(result))
        return result

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        """Await `wrap_tool_call`."""
        call, thread = request.tool_call, self._thread(request.runtime)
        reason = await self.agent_session.acheck_call(call["name"], call["args"], thread)
        if reason:
            return _refused(call, reason)
        result = await handler(request)
        await self.agent_session.awatch_result(
            call["name"], getattr(result, "content", None), thread, failed=_failed(result)
        )
        return result

    def _thread(self, runtime: object) -> str:
        execution = getattr(runtime, "execution_info", None)
        return str(getattr(execution, "thread_id", None) or self._conversation or id(self))


def _messages(messages: Iterable[BaseMessage]) -> list[dict[str, str]]:
    return [
        {"role": ROLES[message.type], "content": message.text}
        for message in messages
        if message.type in ROLES and message.text and not message.additional_kwargs.get(MARK)
    ]


def _update(text: str) -> Update:
    return {"messages": [HumanMessage(content=text, additional_kwargs={MARK: True})]} if text else None


def _refused(call: ToolCall, reason: str) -> ToolMessage:
    return ToolMessage(content=reason, tool_call_id=call["id"], name=call["name"], status="error")


def _failed(result: object) -> bool:
    return getattr(result, "status", "") == "error"
