"""One agent in each framework, with the framework's real package, a real client, and a model that is an address.

Each function runs the same conversation through its adapter: the person says `SAID`, the model calls the tool as often
as its script says. It returns the pieces of text that a program would have shown while the model spoke.
"""

from __future__ import annotations

# ruff: noqa: PLC0415 - each framework is imported where it runs: only one is installed at a time
import asyncio
import contextlib
import json
import os
import socket
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.frameworks.conftest import RESULT, SAID, TOOL

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from deia.librarian import Librarian

    Ran = list[str]  # the commands that the tool ran
    Run = Callable[..., Coroutine[Any, Any, list[str]]]

KEY = "dummy"
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
MOST_TURNS = 10
MOST_SECONDS = 90  # that a proxy may take to start
PROXY = """
model_list:
  - model_name: gpt-4.1
    litellm_params: {{model: openai/gpt-4.1, api_base: "{url}/v1", api_key: dummy}}
guardrails:
  - guardrail_name: deia
    litellm_params: {{guardrail: deia.frameworks.litellm.DeiaGuardrail, mode: pre_call, default_on: true}}
"""


def tool_for(ran: Ran) -> Callable[[str], str]:
    """Return the tool: it only writes down what it is told to run."""

    def run_command(command: str) -> str:
        """Run a command."""
        ran.append(command)
        return RESULT

    return run_command


async def openai_agents(url: str, librarian: Librarian, ran: Ran, *, streams: bool) -> list[str]:
    """Run an agent of the OpenAI Agents SDK, over OpenAI's Responses."""
    from agents import Agent, FunctionTool, OpenAIResponsesModel, RunConfig, Runner
    from openai import AsyncOpenAI

    from deia.frameworks.openai_agents import Guard

    guard, run_command = Guard(librarian), tool_for(ran)

    async def invoke(_context: Any, given: str) -> str:
        return run_command(json.loads(given)["command"])

    tool = FunctionTool(
        name=TOOL, description="Runs a command.", params_json_schema=SCHEMA, on_invoke_tool=invoke,
        strict_json_schema=False, tool_input_guardrails=[guard.tool_guardrail],
        tool_output_guardrails=[guard.result_guardrail],
    )  # fmt: skip
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY) as client:
        model = OpenAIResponsesModel(model="gpt-5", openai_client=client)
        agent = Agent(name="a", model=model, tools=[tool], input_guardrails=[guard.input_guardrail])
        config = RunConfig(call_model_input_filter=guard.tell_model, tracing_disabled=True)
        if not streams:
            return [(await Runner.run(agent, SAID, run_config=config)).final_output]
        events = Runner.run_streamed(agent, SAID, run_config=config).stream_events()
        data = [event.data async for event in events if event.type == "raw_response_event"]
        return [item.delta for item in data if item.type == "response.output_text.delta"]


async def langchain(url: str, librarian: Librarian, ran: Ran, *, streams: bool) -> list[str]:
    """Run an agent of LangChain in a thread of LangGraph, over OpenAI's Chat Completions."""
    from langchain.agents import create_agent
    from langchain_core.messages import AIMessage
    from langchain_openai import ChatOpenAI
    from langgraph.checkpoint.memory import InMemorySaver

    from deia.frameworks.langchain import DeiaMiddleware

    model = ChatOpenAI(model="gpt-4.1", base_url=f"{url}/v1", api_key=KEY)
    middleware = [DeiaMiddleware(librarian)]
    agent = create_agent(model, [tool_for(ran)], middleware=middleware, checkpointer=InMemorySaver())
    given: Any = {"messages": [{"role": "user", "content": SAID}]}
    config: Any = {"configurable": {"thread_id": "t"}}
    if not streams:
        return [(await agent.ainvoke(given, config))["messages"][-1].text]
    chunks = [chunk async for chunk, _ in agent.astream(given, config, stream_mode="messages")]
    return [chunk.text for chunk in chunks if isinstance(chunk, AIMessage) and chunk.text]


async def pydantic_ai(url: str, librarian: Librarian, ran: Ran, *, streams: bool) -> list[str]:
    """Run an agent of Pydantic AI, over OpenAI's Chat Completions."""
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from deia.frameworks.pydantic_ai import DeiaCapability

    model = OpenAIChatModel("gpt-4.1", provider=OpenAIProvider(base_url=f"{url}/v1", api_key=KEY))
    agent = Agent(model, tools=[tool_for(ran)], capabilities=[DeiaCapability(librarian)])
    if not streams:
        return [(await agent.run(SAID)).output]
    async with agent.run_stream(SAID) as answer:
        return [piece async for piece in answer.stream_text(delta=True, debounce_by=None)]


async def google_adk(url: str, librarian: Librarian, ran: Ran, *, streams: bool) -> list[str]:
    """Run an agent of Google's ADK, over Gemini's protocol."""
    os.environ["GOOGLE_API_KEY"] = KEY
    from google.adk.agents import LlmAgent
    from google.adk.agents.run_config import RunConfig, StreamingMode
    from google.adk.models.google_llm import Gemini
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    from deia.frameworks.google_adk import DeiaPlugin

    agent = LlmAgent(name="a", model=Gemini(model="gemini-2.5-flash", base_url=url), tools=[tool_for(ran)])
    runner = InMemoryRunner(agent=agent, app_name="app", plugins=[DeiaPlugin(librarian)])
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    message = types.Content(role="user", parts=[types.Part(text=SAID)])
    config = RunConfig(streaming_mode=StreamingMode.SSE if streams else StreamingMode.NONE)
    events = runner.run_async(user_id="u", session_id=session.id, new_message=message, run_config=config)
    heard = [event async for event in events if event.content and bool(event.partial) is streams]
    return [part.text for event in heard for part in event.content.parts if part.text]


async def claude_agent_sdk(url: str, librarian: Librarian, ran: Ran, *, streams: bool) -> list[str]:
    """Run the Claude Agent SDK with the CLI that it brings, over Anthropic's Messages."""
    from claude_agent_sdk import AssistantMessage, ClaudeAgentOptions, StreamEvent, TextBlock, query

    from deia.frameworks.claude_agent_sdk import hooks_of

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        log = Path(folder) / "ran"
        options = ClaudeAgentOptions(
            hooks=hooks_of(librarian), env=_claude_environment(url, folder), cwd=folder, setting_sources=[],
            permission_mode="bypassPermissions", include_partial_messages=streams, max_turns=MOST_TURNS,
        )  # fmt: skip
        messages = [message async for message in query(prompt=SAID, options=options)]
        ran += log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    if streams:
        deltas = (message.event.get("delta", {}) for message in messages if isinstance(message, StreamEvent))
        return [delta["text"] for delta in deltas if "text" in delta]
    spoken = (message for message in messages if isinstance(message, AssistantMessage))
    return [block.text for message in spoken for block in message.content if isinstance(block, TextBlock)]


def _claude_environment(url: str, folder: str) -> dict[str, str]:
    """Return an environment with a home of its own, and a program that only writes down how it was called."""
    program = Path(folder) / "shopctl"
    program.write_text(f"#!/bin/sh\necho shopctl $* >> {folder}/ran\necho '{RESULT}' >&2\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    return {
        "HOME": folder, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "IS_SANDBOX": "1",
    }  # fmt: skip


async def litellm(url: str, librarian: Librarian, ran: Ran, *, streams: bool) -> list[str]:
    """Call a model through LiteLLM's own function, as a program without a proxy does; it runs its tools itself."""
    import litellm as package

    from deia.frameworks.litellm import DeiaGuardrail

    package.callbacks = [DeiaGuardrail(librarian)]
    return await _converse(ran, model="openai/gpt-4.1", api_base=f"{url}/v1", streams=streams)


async def litellm_proxy(url: str, librarian: Librarian, ran: Ran, *, streams: bool) -> list[str]:
    """Call a model through LiteLLM's proxy, which has the guardrail in its configuration."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = Path(librarian.root) / "proxy.yaml"
    config.write_text(PROXY.format(url=url), encoding="utf-8")
    program = Path(sys.executable).with_name("litellm")
    words = ["--config", str(config), "--host", "127.0.0.1", "--port", str(port), "--telemetry", "False"]
    silent = asyncio.subprocess.DEVNULL
    proxy = await asyncio.create_subprocess_exec(program, *words, cwd=librarian.root, stdout=silent, stderr=silent)
    try:
        await _listens(port)
        return await _converse(ran, model="openai/gpt-4.1", api_base=f"http://127.0.0.1:{port}/v1", streams=streams)
    finally:
        proxy.kill()
        await proxy.wait()


async def _listens(port: int) -> None:
    """Wait until a server listens."""
    for _ in range(MOST_SECONDS):
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        await asyncio.sleep(1)
    raise TimeoutError(port)


async def _converse(ran: Ran, *, streams: bool, **place: str) -> list[str]:
    """Talk with a model by LiteLLM's function, and run the tool for it."""
    import litellm as package

    run_command, messages = tool_for(ran), [{"role": "user", "content": SAID}]
    for _ in range(MOST_TURNS):
        answer: Any = await package.acompletion(
            **place, api_key=KEY, messages=messages, stream=streams, metadata={"session_id": "s"},
            tools=[{"type": "function", "function": {"name": TOOL, "parameters": SCHEMA}}],
        )  # fmt: skip
        chunks = [chunk async for chunk in answer] if streams else []
        whole: Any = package.stream_chunk_builder(chunks, messages=messages) if streams else answer
        message = whole.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return [piece for chunk in chunks if (piece := chunk.choices[0].delta.content)] or [message.content]
        for call in message.tool_calls:
            result = run_command(json.loads(call.function.arguments)["command"])
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return []


RUNS: Mapping[str, Run] = {
    "openai-agents": openai_agents, "langchain": langchain, "pydantic-ai": pydantic_ai, "litellm": litellm,
    "litellm-proxy": litellm_proxy, "google-adk": google_adk, "claude-agent-sdk": claude_agent_sdk,
}  # fmt: skip


def run(name: str, url: str, librarian: Librarian, *, streams: bool) -> tuple[Ran, list[str]]:
    """Run a framework's conversation; return the commands that its tool ran, and the pieces of text."""
    ran: Ran = []
    pieces = asyncio.run(RUNS[name](url, librarian, ran, streams=streams))
    return ran, pieces
