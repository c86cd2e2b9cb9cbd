"""What all adapters share: what is judged, what is held, what waits."""

from __future__ import annotations

import asyncio
import importlib.util
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from deia.frameworks.session import AgentSession, need
from tests.frameworks.conftest import COMMAND, FIRED, RESULT, SAID, TOOL, shown

if TYPE_CHECKING:
    from deia.librarian import Librarian

TALK = [{"role": "user", "content": SAID}]
ADAPTERS = {
    "openai_agents": ("agents", "openai-agents"),
    "langchain": ("langchain", "langchain"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai"),
    "litellm": ("litellm", "litellm"),
    "google_adk": ("google.adk", "google-adk"),
    "claude_agent_sdk": ("claude_agent_sdk", "claude-agent-sdk"),
}


def test_the_bare_librarian_fires_what_every_framework_must(librarian: Librarian) -> None:
    call = {"role": "tool_call", "tool": TOOL, "tool_input": {"command": COMMAND}}
    result = {"role": "tool_result", "tool": TOOL, "content": RESULT}
    watched = librarian.watch([*TALK, call, call, result])
    assert [firing.trigger for one in watched for firing in one.firings] == FIRED


def test_a_growing_conversation_is_heard_once(librarian: Librarian) -> None:
    session = AgentSession(librarian)
    assert "About sale." in session.watch_messages(TALK, "a")
    longer = [*TALK, {"role": "assistant", "content": "Fine."}, {"role": "user", "content": "Go on."}]
    assert session.watch_messages(longer, "a") == ""
    assert "About sale." in session.watch_messages(TALK, "another")


def test_a_held_call_passes_when_it_is_made_again(librarian: Librarian) -> None:
    session = AgentSession(librarian)
    assert "About wipe." in session.check_call(TOOL, {"command": COMMAND}, "a")
    assert session.check_call(TOOL, {"command": COMMAND}, "a") == ""
    another = session.check_call(TOOL, {"command": f"cd / && {COMMAND}"}, "a")
    assert "of another call than this one: About wipe." in another


def test_what_a_result_brings_up_waits_for_the_model(librarian: Librarian) -> None:
    session = AgentSession(librarian)
    session.watch_result(TOOL, RESULT, "a")
    assert "About gone." in session.watch_messages([], "a")
    assert session.take_pending("a") == ""


def test_what_waits_is_told_with_a_call_that_is_held(librarian: Librarian) -> None:
    session = AgentSession(librarian)
    session.watch_result(TOOL, RESULT, "a")
    reason = session.check_call(TOOL, {"command": COMMAND}, "a")
    assert reason.index("About gone.") < reason.index("About wipe.")


def test_a_call_heard_between_messages_does_not_make_them_new(librarian: Librarian) -> None:
    session = AgentSession(librarian)
    session.watch_messages(TALK, "a")
    session.check_call(TOOL, {"command": COMMAND}, "a")
    session.watch_result(TOOL, RESULT, "a")
    session.take_pending("a")
    assert session.watch_messages([*TALK, {"role": "assistant", "content": "Done."}], "a") == ""
    assert shown(librarian) == FIRED


@pytest.mark.parametrize("given", [None, "text", 7, ["a"], {"command": None}, {"command": {"a": object()}}, {}])
def test_no_arguments_of_a_tool_raise(librarian: Librarian, given: object) -> None:
    session = AgentSession(librarian)
    assert session.check_call("", given, "a") == ""
    session.watch_result("", given, "a")


def test_awaited_it_hears_the_same(librarian: Librarian) -> None:
    async def have() -> tuple[str, str]:
        session = AgentSession(librarian)
        said = await session.awatch_messages(TALK, "a")
        held = await session.acheck_call(TOOL, {"command": COMMAND}, "a")
        await session.awatch_result(TOOL, RESULT, "a")
        return said, held

    said, held = asyncio.run(have())
    assert "About sale." in said
    assert "About wipe." in held
    assert shown(librarian) == FIRED


@pytest.mark.parametrize("package", ["no_such_package_at_all", "no_such_package_at_all.inner", "json.no_such_module"])
def test_what_is_missing_is_named_with_its_extra_and_the_command(package: str) -> None:
    with pytest.raises(ImportError, match=rf"{package}.*pip install 'deia\[some-extra\]'"):
        need(package, extra="some-extra")


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_without_its_framework_says_what_to_install(name: str) -> None:
    package, extra = ADAPTERS[name]
    if importlib.util.find_spec(package.partition(".")[0]) is not None:
        pytest.skip(f"{package} is installed here, so nothing is missing")
    code = f"import deia.frameworks.{name}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"pip install 'deia[{extra}]'" in ran.stderr
