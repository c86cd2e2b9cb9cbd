"""The plugin in the framework's own runner, with a scripted model."""

from __future__ import annotations

import asyncio
import warnings
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("google.adk", reason="the extra google-adk is not installed; `python do.py frameworks` runs this")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the package's own
    from google.adk.agents import LlmAgent
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    from deia.frameworks.google_adk import DeiaPlugin
from tests.frameworks.conftest import COMMAND, FIRED, RESULT, SAID, TOOL, shown

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from deia.librarian import Librarian

pytestmark = pytest.mark.filterwarnings("ignore")  # the package warns about its own experiments
READ: list[str] = []
RAN: list[str] = []


class Scripted(BaseLlm):
    """A model that calls the tool twice and is done."""

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[LlmResponse]:  # noqa: ARG002, FBT001, FBT002
        READ.append(repr(llm_request.contents))
        calls = types.Part(function_call=types.FunctionCall(name=TOOL, args={"command": COMMAND}))
        part = calls if len(READ) <= 2 else types.Part(text="Done.")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def run_command(command: str) -> str:
    """Run a command."""
    RAN.append(command)
    return RESULT


async def have(librarian: Librarian) -> None:
    agent = LlmAgent(name="a", model=Scripted(model="scripted"), tools=[run_command])
    runner = InMemoryRunner(agent=agent, app_name="app", plugins=[DeiaPlugin(librarian)])
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    message = types.Content(role="user", parts=[types.Part(text=SAID)])
    async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=message):
        pass


def test_the_conversation_fires_the_same_and_the_model_reads_it_in_time(librarian: Librarian) -> None:
    READ.clear()
    RAN.clear()
    asyncio.run(have(librarian))
    for number, said in enumerate(("About sale.", "About wipe.", "About gone.")):
        assert said in READ[number]
    assert RAN == [COMMAND]
    assert shown(librarian) == FIRED


def test_a_text_that_waits_reaches_the_model_with_a_message_of_no_parts(librarian: Librarian) -> None:
    plugin = DeiaPlugin(librarian)
    plugin.agent_session.queue("About sale.", "c")
    context: Any = SimpleNamespace(session=SimpleNamespace(id="c"))
    message = types.Content(role="user", parts=None)
    added = asyncio.run(plugin.on_user_message_callback(invocation_context=context, user_message=message))
    assert added is not None
    assert added.parts == [types.Part(text="About sale.")]
