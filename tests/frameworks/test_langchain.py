"""The middleware in the framework's own agent, sync and async, with a scripted model."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("langchain", reason="the extra langchain is not installed; `python do.py frameworks` runs this")

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool

from deia.frameworks.langchain import DeiaMiddleware
from tests.frameworks.conftest import COMMAND, FIRED, RESULT, SAID, TOOL, shown

if TYPE_CHECKING:
    from deia.librarian import Librarian

RAN: list[str] = []


class Scripted(FakeMessagesListChatModel):
    """The package's own fake, which takes tools and says the same whatever they are."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:  # noqa: ARG002
        return self


@tool
def run_command(command: str) -> str:
    """Run a command."""
    RAN.append(command)
    return RESULT


def calling(number: int) -> AIMessage:
    call = {"name": TOOL, "args": {"command": COMMAND}, "id": f"c{number}", "type": "tool_call"}
    return AIMessage(content="", tool_calls=[call])


def agent_of(librarian: Librarian) -> Any:
    RAN.clear()
    model = Scripted(responses=[calling(1), calling(2), AIMessage(content="Done.")])
    return create_agent(model, [run_command], middleware=[DeiaMiddleware(librarian)])


@pytest.mark.parametrize("way", ["sync", "async"])
def test_the_conversation_fires_the_same_and_the_model_reads_it_in_time(librarian: Librarian, way: str) -> None:
    agent, given = agent_of(librarian), {"messages": [{"role": "user", "content": SAID}]}
    state = agent.invoke(given) if way == "sync" else asyncio.run(agent.ainvoke(given))
    kinds = [(message.type, message.text) for message in state["messages"]]
    assert [kind for kind, _ in kinds] == ["human", "human", "ai", "tool", "ai", "tool", "human", "ai"]
    for place, said in ((1, "About sale."), (3, "About wipe."), (6, "About gone.")):
        assert said in kinds[place][1]
    held = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    assert [message.status for message in held] == ["error", "success"]
    assert RAN == [COMMAND]
    assert shown(librarian) == FIRED
