"""Clients in another language: the TypeScript SDK of both generations of the protocol, and the Inspector.

`python3 do.py clients` installs them, by npm, in the versions that `clients/package-lock.json` pins; NODE_MODULES names
another folder that holds them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deia.serve.server.read_tools import PROMPTS
from deia.serve.server.tool_schemas import TOOLS
from tests.serve.server.conftest import TOKEN

if TYPE_CHECKING:
    from tests.serve.server.conftest import Place, Served

HERE = Path(__file__).parent
NODE = shutil.which("node") or ""
MODULES = os.environ.get("NODE_MODULES") or str(HERE.parents[2] / ".venv" / "clients" / "node_modules")
NAMES = [tool.name for tool in TOOLS]
FIXED = ["deia://index", "deia://schema", "deia://telemetry/summary"]
PATTERNED = ["deia://document/queue-purge", "deia://cluster/queues"]
PATIENCE = 120
pytestmark = pytest.mark.skipif(
    not NODE or not os.path.isdir(f"{MODULES}/@modelcontextprotocol"),
    reason="there is no node here" if not NODE else f"no clients in {MODULES}; to have them: python3 do.py clients",
)
CALLS: dict[str, dict[str, Any]] = {
    "query_global_commons": {"query": "delete a site", "detail": "full"},
    "answer": {"question": "How is a site deleted?"},
    "read_document": {"document": "queue-purge", "lines": "1-3"},
    "check_triggers": {"conversation": ["User: I will delete the shop site now"]},
    "list_documents": {"cluster": "queues"},
    "save_lesson": {"title": "Lesson by the Inspector", "text": "What was learned.", "tags": ["a", "b"]},
    "suggest_location": {"text": "purging a queue"},
    "feedback": {"id": "queue-purge", "verdict": "useful"},
    "index_source": {"source": "pumps.md", "content": "# Pumps\n\nThey run dry."},
    "list_sources": {},
    "entities": {"limit": 5},
    "relations": {"entity": "bok/queues/queue-purge.md"},
    "trace": {"entity": "bok/queues/queue-purge.md"},
    "path": {"from": "bok/queues/queue-purge.md", "to": "bok/queues/queue-purge.md"},
    "stats": {},
    "export": {"format": "dot"},
    "protocol": {"step": "audit"},
    "repair": {},
    "remove_document": {"id": "lesson-by-the-inspector"},
}


def run(place: Place, *command: str, given: str = "") -> Any:
    environ = {**place.environ, "NODE_MODULES": MODULES, "SHOWN": TOKEN}
    done = subprocess.run(
        [NODE, *command], cwd=place.root, env=environ, input=given.encode(),
        capture_output=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("generation", ["handshake", "stateless"])
def test_the_typescript_client_calls_everything(place: Place, served: Served, generation: str, transport: str) -> None:
    where = place.command("mcp") if transport == "stdio" else [served.url]
    told = run(place, str(HERE / "second_client.mjs"), generation, transport, *where)
    assert told["server"] == "deia"
    assert told["tools"][: len(NAMES)] == NAMES
    assert told["answered"] == dict.fromkeys(NAMES, True)
    assert [f"lesson-by-{generation}-{transport}" in one for one in told["asked"]] == [True]
    assert list(told["read"]) == [*FIXED, *PATTERNED]
    assert all(told["read"].values())
    assert told["templates"] == 2
    assert told["prompts"] == dict.fromkeys(PROMPTS, True)
    assert told["refused"]


def inspected(place: Place, where: list[str], *asked: list[str]) -> list[Any]:
    """Run the Inspector's command line so often; give what it printed.

    Like most clients it hands only HOME, PATH and the like to a server that it starts, so the rest is named.
    """
    own = [f"{name}={value}" for name, value in place.environ.items() if name.startswith("DEIA_")]
    started = [word for pair in own for word in ("-e", pair)]
    shown = started if len(where) > 1 else ["--header", f"Authorization: Bearer {TOKEN}"]
    given = json.dumps([[*where, *shown, "--method", *one] for one in asked])
    answers: list[Any] = run(place, str(HERE / "inspect_all.mjs"), given=given)
    assert len(answers) == len(asked)
    return answers


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_inspector_lists_and_calls_every_tool(place: Place, served: Served, transport: str) -> None:
    where = place.command("mcp") if transport == "stdio" else [served.url]
    calls = [
        ["tools/call", "--tool-name", name, "--tool-args-json", json.dumps(given)] for name, given in CALLS.items()
    ]
    listed, *called = inspected(place, where, ["tools/list", "--strict"], *calls)
    assert [tool["name"] for tool in listed["tools"]][: len(NAMES)] == NAMES == [*filter(CALLS.__contains__, NAMES)]
    assert [bool(one.get("isError")) for one in called] == [False] * len(CALLS), called
    by_name = dict(zip(CALLS, (one["structuredContent"] for one in called), strict=True))
    assert by_name["query_global_commons"]["matched"] is True
    assert [one["trigger"] for one in by_name["check_triggers"]["fired"]] == ["site-delete"]
    assert by_name["remove_document"]["removed"]


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_inspector_reads_every_resource_and_prompt(place: Place, served: Served, transport: str) -> None:
    where = place.command("mcp") if transport == "stdio" else [served.url]
    reads = [["resources/read", "--uri", address] for address in (*FIXED, *PATTERNED)]
    gets = [
        ["prompts/get", "--prompt-name", name, "--prompt-args", f"{prompt.parameters[0].name}=delete the shop site"]
        for name, prompt in PROMPTS.items()
    ]
    lists = [["resources/list"], ["resources/templates/list"], ["prompts/list"]]
    fixed, patterns, prompts, *rest = inspected(place, where, *lists, *reads, *gets)
    assert [one["uri"] for one in fixed["resources"]] == FIXED
    assert len(patterns["resourceTemplates"]) == len(PATTERNED)
    assert [one["name"] for one in prompts["prompts"]] == list(PROMPTS)
    for answer in rest[: len(reads)]:
        assert answer["contents"][0]["text"]
    for answer in rest[len(reads) :]:
        assert "site-checklist" in answer["messages"][0]["content"]["text"]


@pytest.mark.slow
def test_the_inspector_as_it_is_typed(place: Place) -> None:
    launcher = Path(MODULES) / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
    asked = ("--method", "tools/call", "--tool-name", "query_global_commons", "--tool-arg", "query=delete a site")
    answer = run(place, str(launcher), "--cli", *place.command("mcp"), *asked)
    assert answer["structuredContent"]["documents"]["primary"][0]["id"] == "site-checklist"
