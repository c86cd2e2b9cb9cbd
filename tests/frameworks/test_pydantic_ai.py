"""The capability in the framework's own agent, with the framework's own function model."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pydantic_ai", reason="the extra pydantic-ai is not installed; `python do.py frameworks` runs this")

from pydantic_ai import Agent
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
