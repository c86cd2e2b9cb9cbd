"""Measure what a turn costs through each framework's adapter, compared with the bare Librarian, in one run.

    python bench/frameworks.py [--rounds 300] [--only litellm]

Only the adapter is timed, called as its framework calls it: a quiet message before a model call, and a quiet tool call.
Frameworks that are not installed are skipped.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import os
import statistics
import sys
import tempfile
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from synthetic import make_commons
from timing import report

from deia.librarian import Librarian

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Turn = Callable[[int], Awaitable[Any]]

BUDGET = "3 × bare"
TOOL, COMMAND = "run_command", "ls -la src"


def said(number: int) -> str:
    """Return what is said in a round."""
    return f"Please look at check {number} in the parser module and tell me why it is slow."


def call(number: int) -> dict[str, str]:
    """Return the arguments of a tool call in a round."""
    return {"command": f"{COMMAND}/{number}"}


def record(**fields: Any) -> Any:
    """Return an object with these fields, as a framework passes one."""
    return types.SimpleNamespace(**fields)


def bare(librarian: Librarian) -> Turn:
    """Return a turn through the bare Librarian, awaited as the adapters await it."""

    async def turn(number: int) -> None:
        await librarian.acheck_triggers([{"role": "user", "content": said(number)}], conversation_id="b")
        asked = {"role": "tool_call", "tool": TOOL, "tool_input": call(number)}
        await librarian.acheck_triggers([asked], conversation_id="b")

    return turn


def openai_agents(module: Any, librarian: Librarian) -> Turn:
    """Return a turn through the OpenAI Agents SDK's guardrails."""
    guard = module.Guard(librarian)

    async def turn(number: int) -> None:
        items = [{"role": "user", "content": said(number)}]
        await guard.tell_model(record(model_data=record(input=items, instructions=None)))
        context = record(tool_name=TOOL, tool_arguments='{"command": "ls"}')
        await guard.tool_guardrail.run(record(context=context))

    return turn


def langchain(module: Any, librarian: Librarian) -> Turn:
    """Return a turn through LangChain's middleware."""
    middleware, runtime = module.DeiaMiddleware(librarian), record(execution_info=None)

    async def run(_request: Any) -> Any:
        return None

    async def turn(number: int) -> None:
        await middleware.abefore_model({"messages": [module.HumanMessage(said(number))]}, runtime)
        asked = record(tool_call={"name": TOOL, "args": call(number), "id": "c"}, runtime=runtime)
        await middleware.awrap_tool_call(asked, run)

    return turn


def claude_agent_sdk(module: Any, librarian: Librarian) -> Turn:
    """Return a turn through the Claude Agent SDK's hooks."""
    hooks = module.hooks_of(librarian)

    async def turn(number: int) -> None:
        for event in (
            {"hook_event_name": "UserPromptSubmit", "prompt": said(number)},
            {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": call(number)},
        ):
            await hooks[event["hook_event_name"]][0].hooks[0]({"session_id": "s", **event}, None, {})

    return turn


def google_adk(module: Any, librarian: Librarian) -> Turn:
    """Return a turn through the Google ADK's plugin."""
    plugin, context = module.DeiaPlugin(librarian), record(session=record(id="s"))

    async def turn(number: int) -> None:
        message = module.types.Content(role="user", parts=[module.types.Part(text=said(number))])
        await plugin.on_user_message_callback(invocation_context=context, user_message=message)
        tool = record(name=TOOL)
        await plugin.before_tool_callback(tool=tool, tool_args=call(number), tool_context=context)

    return turn


def pydantic_ai(module: Any, librarian: Librarian) -> Turn:
    """Return a turn through Pydantic AI's capability."""
    capability, ctx = module.DeiaCapability(librarian), record(conversation_id="s")

    async def run(_args: Any) -> str:
        return ""

    async def turn(number: int) -> None:
        part = record(part_kind="user-prompt", content=said(number))
        await capability.before_model_request(ctx, record(messages=[record(parts=[part])]))
        asked = record(tool_name=TOOL)
        given = {"call": asked, "tool_def": record(name=TOOL), "args": call(number), "handler": run}
        await capability.wrap_tool_execute(ctx, **given)

    return turn


def litellm(module: Any, librarian: Librarian) -> Turn:
    """Return a turn through LiteLLM's guardrail: two requests, with the message and with the call."""
    guardrail = module.DeiaGuardrail(librarian)

    async def turn(number: int) -> None:
        arguments = f'{{"command": "{COMMAND}/{number}"}}'
        asked = {"role": "assistant", "tool_calls": [{"function": {"name": TOOL, "arguments": arguments}}]}
        for message in ({"role": "user", "content": said(number)}, asked):
            data = {"messages": [message], "litellm_session_id": "s"}
            await guardrail.async_pre_call_hook(None, None, data, "completion")

    return turn


ADAPTERS = (openai_agents, langchain, pydantic_ai, litellm, google_adk, claude_agent_sdk)


def turns_of(librarian: Librarian, only: str) -> dict[str, Turn]:
    """Return a turn through each framework that is here, or the one that is named."""
    turns = {"bare": bare(librarian)}
    for adapter in ADAPTERS:
        if only not in {"", adapter.__name__}:
            continue
        try:
            module = importlib.import_module(f"deia.frameworks.{adapter.__name__}")
        except ImportError as error:
            print(f"{adapter.__name__}: {error}")
            continue
        turns[adapter.__name__] = adapter(module, librarian)
    return turns


async def timed(turns: dict[str, Turn], rounds: int) -> dict[str, list[float]]:
    """Run a turn of each once per round and return the times in µs."""
    loop = asyncio.get_running_loop()
    taken: dict[str, list[float]] = {name: [] for name in turns}
    for number in range(rounds + 20):
        for name, turn in turns.items():
            began = loop.time()
            await turn(number)
            taken[name].append((loop.time() - began) * 1e6)
    return {name: times[20:] for name, times in taken.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--only", choices=[adapter.__name__ for adapter in ADAPTERS], default="")
    given = parser.parse_args()
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "DEIA_STATE": f"{folder}/state",
            "DEIA_CACHE": f"{folder}/cache",
            "DEIA_STARTER": "false",
            "DEIA_TRUST": "*",
        }
        make_commons(Path(folder) / "commons", triggers=200)
        turns = turns_of(Librarian(f"{folder}/commons", ledger=False), given.only)
        taken = asyncio.run(timed(turns, given.rounds))
    report(taken, against="bare", unit="µs", budgets=dict.fromkeys(turns.keys() - {"bare"}, BUDGET))
    for name in turns.keys() - {"bare"} if given.only else ():
        ratio = statistics.median(taken[name]) / statistics.median(taken["bare"])
        print(f"a turn {statistics.median(taken[name]):.0f} µs, {ratio:.2f} × the bare librarian's")


if __name__ == "__main__":
    main()
