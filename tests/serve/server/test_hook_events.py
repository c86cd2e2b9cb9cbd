"""Claude Code's `mcp_tool` hooks: what is installed, acted out as the host does it, against the server it starts."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from deia.errors import QueryError
from deia.serve.cli.commands_table import run_cli
from deia.serve.server.hook_events import event_of
from deia.serve.server.tool_schemas import HOOK, HOOK_EVENTS, TOOLS, offered
from deia.serve.setup.host_settings.claude_code_settings import EVENTS, asked_by_tool, is_warm

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.serve.server.conftest import Place, Served

CONTRACT = Path(__file__).parents[1] / "hosts" / "contracts" / "claude-code.json"
CALL = {"tool_name": "Bash", "tool_input": {"command": "shopctl site:delete", "description": "x"}, "tool_use_id": "u"}
# What the host documents of such a hook: these keys, and texts in `input` (HOSTS.md A1; the host's hook reference).
HANDLER = {
    "type": "object",
    "properties": {
        "type": {"const": "mcp_tool"},
        "server": {"const": "deia"},
        "tool": {"const": HOOK},
        "input": {"type": "object", "additionalProperties": {"type": "string"}},
        "timeout": {"type": "integer"},
    },
    "required": ["type", "server", "tool", "input", "timeout"],
    "additionalProperties": False,
}
LATER = {"effort": {"level": "high"}, "permission_mode": "default", "transcript_path": "/nowhere/t.jsonl"}


def filled(template: Any, event: dict[str, Any]) -> Any:
    """Fill in a template as the host does: what is no text is written as JSON, what is not there as nothing."""

    def value(found: re.Match[str]) -> str:
        got: Any = event
        for name in found[1].split("."):
            got = got.get(name) if isinstance(got, dict) else None
        return "" if got is None else got if isinstance(got, str) else json.dumps(got, separators=(",", ":"))

    return {key: re.sub(r"\$\{([^}]+)\}", value, text) for key, text in template.items()}


class Host:
    """Claude Code with what was installed: which hooks match, and the servers that it is connected with."""

    def __init__(self, place: Place, client: Client) -> None:
        settings_file = place.root / ".claude" / "settings.json"
        self.hooks: dict[str, Any] = json.loads(settings_file.read_text(encoding="utf-8"))["hooks"]
        self.place, self.client = place, client

    def matching(self, event: dict[str, Any], kind: str) -> list[dict[str, Any]]:
        groups = self.hooks.get(event["hook_event_name"], [])
        fits = [each for each in groups if re.fullmatch(each.get("matcher", ".*"), event.get("tool_name", ""))]
        return [entry for group in fits for entry in group["hooks"] if entry["type"] == kind]

    async def ask(self, event: dict[str, Any]) -> str:
        (entry,) = self.matching(event, "mcp_tool")
        result = await self.client.call_tool(entry["tool"], filled(entry["input"], event))
        assert not result.is_error
        return checked(event, "".join(getattr(part, "text", "") for part in result.content))

    def run(self, event: dict[str, Any]) -> str:
        (entry,) = self.matching(event, "command")
        command = ["/bin/sh", "-c", entry["command"]]
        done = subprocess.run(
            command, input=json.dumps(event).encode(), capture_output=True, check=True, env=self.place.environ
        )
        return checked(event, done.stdout.decode())


def checked(event: dict[str, Any], output: str) -> str:
    """Give a hook's output as far as it says anything, held against the host's schema."""
    told = json.loads(output or "{}")
    contract = json.loads(CONTRACT.read_text(encoding="utf-8"))
    if told:
        jsonschema.validate(told, contract["output"][event["hook_event_name"]])
    return json.dumps(told) if told else ""


def acted(place: Place, *flags: str, act: Callable[[Host], Awaitable[None]]) -> None:
    done = subprocess.run(
        place.command("install", "claude-code", "--warm-mcp", *flags), cwd=place.root, env=place.environ,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    server = json.loads((place.root / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"]["deia"]
    parameters = StdioServerParameters(
        command=server["command"], args=server["args"], cwd=str(place.root), env=place.environ
    )

    async def main() -> None:
        async with Client(stdio_client(parameters)) as client:
            assert HOOK in {tool.name for tool in (await client.list_tools()).tools}
            await act(Host(place, client))

    asyncio.run(main())


def event_in(place: Place, name: str, session: str, **fields: Any) -> dict[str, Any]:
    return {"session_id": session, "hook_event_name": name, "cwd": str(place.root), **LATER, **fields}


@pytest.mark.slow
def test_what_is_installed_holds_a_call_once_through_the_session_s_own_server(place: Place) -> None:
    async def act(host: Host) -> None:
        event = event_in(place, "PreToolUse", "s", **CALL)
        held = await host.ask(event)
        assert json.loads(held)["hookSpecificOutput"]["permissionDecision"] == "deny"
        assert "domain records" in held
        assert host.run(event) == "", "the command beside it hears the same event, and says nothing"
        again = event | {"tool_use_id": "v"}
        assert await host.ask(again) == "", "the same call passes when it is made again"
        assert await host.ask(event_in(place, "PreToolUse", "s", **CALL, agent_id="a1") | {"tool_use_id": "w"}) != ""

    acted(place, act=act)


@pytest.mark.slow
def test_of_the_tool_and_the_command_at_once_one_speaks(place: Place) -> None:
    async def act(host: Host) -> None:
        for number in range(3):
            event = event_in(place, "PreToolUse", f"race {number}", **CALL)
            with ThreadPoolExecutor(2) as pool:
                cold = [asyncio.wrap_future(pool.submit(host.run, event)) for _ in range(2)]
                warm = [asyncio.ensure_future(host.ask(event)) for _ in range(2)]
                said = [one for one in await asyncio.gather(*cold, *warm) if one]
            assert len(said) == 1

    acted(place, act=act)


@pytest.mark.slow
def test_a_result_and_an_error_are_heard_through_the_tool_as_through_the_command(place: Place) -> None:
    async def act(host: Host) -> None:
        said = event_in(place, "Stop", "s", stop_hook_active=False, last_assistant_message="I will delete the site.")
        assert await host.ask(said) == ""
        failed = event_in(place, "PostToolUseFailure", "s", **CALL, error="Site not found", is_interrupt=False)
        done = event_in(place, "PostToolUse", "t", **CALL, tool_response={"stdout": "I will delete the shop site now"})
        waited = await host.ask(failed)
        assert "domain records" in json.loads(waited)["hookSpecificOutput"]["additionalContext"]
        told = await host.ask(done)
        assert told == host.run(event_in(place, "PostToolUse", "u", **CALL, tool_response=done["tool_response"]))

    acted(place, act=act)


@pytest.mark.slow
def test_while_the_server_is_away_the_command_says_it(place: Place) -> None:
    async def act(host: Host) -> None:
        assert host.hooks

    acted(place, act=act)
    event = event_in(place, "PreToolUse", "away", **CALL)  # the server has ended with its client
    host = Host(place, client=None)  # type: ignore[arg-type]
    assert json.loads(host.run(event))["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.slow
def test_the_person_is_heard_by_the_command_alone(place: Place) -> None:
    async def act(host: Host) -> None:
        for name, more in (("UserPromptSubmit", {"prompt": "deia: mute"}), ("SessionStart", {"source": "startup"})):
            event = event_in(place, name, "s", **more)
            assert host.matching(event, "mcp_tool") == []
            assert len(host.matching(event, "command")) == 1
            refused = await host.client.call_tool(HOOK, event)
            assert refused.is_error
        asked = event_in(
            place, "PostToolUse", "s", tool_name="AskUserQuestion", tool_response={"answers": {"q": "yes"}}
        )
        assert host.matching(asked, "mcp_tool") == []
        assert len(host.matching(asked, "command")) == 1
        result = await host.client.call_tool(HOOK, {**asked, "tool_response": '{"answers": {"q": "yes"}}'})
        assert result.content[0].text == "{}"  # type: ignore[union-attr]

    acted(place, act=act)


@pytest.mark.slow
def test_it_is_entered_once_and_taken_out_without_a_trace(place: Place) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            place.command(*arguments), cwd=place.root, env=place.environ, capture_output=True, check=False
        )

    (place.root / ".claude").mkdir()
    mine = place.root / ".claude" / "settings.json"
    mine.write_text('{"model": "x"}', encoding="utf-8")
    for _ in range(2):
        assert run("install", "claude-code", "--warm-mcp").returncode == 0
        written = mine.read_text(encoding="utf-8"), (place.root / ".mcp.json").read_text(encoding="utf-8")
    assert written[0].count('"mcp_tool"') == len(HOOK_EVENTS)
    assert written[1].count("--hooks") == 1
    assert run("install", "claude-code", "--mcp").returncode == 0, "a server that hears hooks goes on hearing them"
    assert (place.root / ".mcp.json").read_text(encoding="utf-8") == written[1]
    assert run("install", "claude-code", "--warm").returncode == 0, "the other form takes the place of this one"
    assert '"mcp_tool"' not in mine.read_text(encoding="utf-8")
    refused = run("install", "claude-code", "--warm", "--warm-mcp")
    assert (refused.returncode, b"not both" in refused.stderr) == (2, True)
    assert run("install", "gemini", "--warm-mcp").returncode == 2
    assert run("uninstall", "claude-code").returncode == 0
    assert mine.read_text(encoding="utf-8") == '{"model": "x"}'
    assert not (place.root / ".mcp.json").exists()


def test_what_is_written_has_the_shape_that_the_host_documents() -> None:
    groups: dict[str, Any] = asked_by_tool()
    assert set(groups) == set(HOOK_EVENTS)
    for event, group in groups.items():
        (entry,) = group["hooks"]
        jsonschema.validate(entry, HANDLER)
        assert is_warm(entry)
        assert set(entry["input"]) - {"hook_event_name"} == set(HOOK_EVENTS[event])
        named = group.get("matcher", "").split("|")
        assert set(named) <= set(EVENTS[event].matcher.split("|"))


def test_a_server_offers_the_tool_only_where_it_is_asked_for() -> None:
    assert HOOK not in {tool.name for tool in offered()}
    assert [tool.name for tool in offered(chosen=["read_document"], hooks=True)] == ["read_document", HOOK]
    assert len(offered(read_only=True, hooks=True)) < len(TOOLS)


def test_a_server_of_collections_answers_no_hooks(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cli(["mcp", "--hooks", "--collection", "hosting"]) == 2
    assert "does not answer hooks" in capsys.readouterr().err


@pytest.mark.slow
def test_over_http_the_tool_answers_too(place: Place) -> None:
    from tests.serve.server.conftest import await_ready, end_server, start_server  # noqa: PLC0415 - one test alone

    served: Served = start_server(place, "--hooks")
    await_ready(served)

    async def use(client: Client) -> None:
        result = await client.call_tool(HOOK, {**event_in(place, "PreToolUse", "s"), **CALL, "tool_input": "{}"})
        assert result.content[0].text == "{}"  # type: ignore[union-attr]
        given = {**event_in(place, "PreToolUse", "s"), **CALL, "tool_input": json.dumps(CALL["tool_input"])}
        assert "deny" in (await client.call_tool(HOOK, given)).content[0].text  # type: ignore[union-attr]

    served.run(use)
    assert end_server(served) == 0


@pytest.mark.parametrize("left", ["", "${agent_id}", None])
def test_what_an_event_lacks_is_not_there(left: str | None) -> None:
    given = {"hook_event_name": "Stop", "session_id": "s", "agent_id": left, "fromTheFuture": "x"}
    assert event_of(given) == {"hook_event_name": "Stop", "session_id": "s"}


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@settings(max_examples=100)
@given(
    st.none()
    | st.dictionaries(st.sampled_from(["hook_event_name", "tool_name", "tool_input", "cwd"]) | st.text(), ANYTHING),
    st.sampled_from(["", *HOOK_EVENTS]),
)
def test_whatever_is_given_is_an_event_or_refused(fields: dict[str, Any] | None, name: str) -> None:
    given_fields = {**(fields or {}), **({"hook_event_name": name} if name else {})} or None
    given = (fields or {}).get("hook_event_name")
    if not name and not (isinstance(given, str) and given in HOOK_EVENTS):
        with pytest.raises(QueryError, match="hook_event_name must be one of"):
            event_of(given_fields)
        return
    event = event_of(given_fields)
    name = str(event["hook_event_name"])
    assert name in HOOK_EVENTS
    assert set(event) <= {"hook_event_name", *HOOK_EVENTS[name]}
