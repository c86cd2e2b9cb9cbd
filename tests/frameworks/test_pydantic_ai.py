"""The capability in the framework's own agent, with the framework's own function model."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pydantic_ai", reason="the extra pydantic-ai is not installed; `python do.py frameworks` runs this")

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from deia.frameworks.pydantic_ai import DeiaCapability
from tests.frameworks.conftest import COMMAND, FIRED, RESULT, SAID, TOOL, shown

if TYPE_CHECKING:
    from deia.librarian import Librarian


def test_the_conversation_fires_the_same_and_the_model_reads_it_in_time(librarian: Librarian) -> None:
    read: list[str] = []
    ran: list[str] = []

    def answer(messages: Any, _info: Any) -> ModelResponse:
        read.append(repr(messages))
        if len(read) <= 2:
            return ModelResponse(parts=[ToolCallPart(TOOL, {"command": COMMAND})])
        return ModelResponse(parts=[TextPart("Done.")])

    agent = Agent(FunctionModel(answer), capabilities=[DeiaCapability(librarian)])

    @agent.tool_plain
    def run_command(command: str) -> str:
        ran.append(command)
        return RESULT

    result = asyncio.run(agent.run(SAID))
    for number, said in enumerate(("About sale.", "About wipe.", "About gone.")):
        assert said in read[number]
    assert ran == [COMMAND]
    assert shown(librarian) == FIRED
    assert "About sale." in repr(result.all_messages())


@pytest.mark.parametrize("refusal", [ModelRetry, ToolFailed])
def test_what_a_tool_refuses_with_reaches_the_model_with_its_lesson(librarian: Librarian, refusal: Any) -> None:
    read: list[str] = []

    def answer(messages: Any, _info: Any) -> ModelResponse:
        read.append(repr(messages))
        return ModelResponse(parts=[ToolCallPart(TOOL, {"command": "ls"}) if len(read) == 1 else TextPart("Done.")])

    agent = Agent(FunctionModel(answer), capabilities=[DeiaCapability(librarian)])

    @agent.tool_plain
    def run_command(command: str) -> str:
        raise refusal(f"{command}: {RESULT}")

    asyncio.run(agent.run("hello"))
    assert "About gone." in read[1]
