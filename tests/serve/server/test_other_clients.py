"""Clients in another language: the TypeScript SDK and the Inspector, where NODE_MODULES says where they are.

To have them: npm install @modelcontextprotocol/sdk @modelcontextprotocol/inspector
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deia.serve.server.prompts import PROMPTS
from deia.serve.server.tools import TOOLS

if TYPE_CHECKING:
    from tests.serve.server.conftest import Place, Served

NODE = shutil.which("node") or ""
MODULES = os.environ.get("NODE_MODULES", "")
NAMES = [tool["name"] for tool in TOOLS]
pytestmark = pytest.mark.skipif(
    not NODE or not os.path.isdir(f"{MODULES}/@modelcontextprotocol"),
    reason="no node, or NODE_MODULES names no clients",
)


def run(place: Place, script: Path, *arguments: str) -> Any:
    done = subprocess.run(
        [NODE, str(script), *arguments], cwd=place.root, env={**place.environ, "NODE_MODULES": MODULES},
        capture_output=True, check=False, timeout=90,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def assert_whole(told: dict[str, Any]) -> None:
    assert told["tools"][: len(NAMES)] == NAMES
    assert told["answered"] == dict.fromkeys(NAMES, True)
    assert told["prompts"] == dict.fromkeys(PROMPTS, True)
    assert told["refused"]
    assert len(told["resources"]) == 3


def test_the_typescript_client_calls_everything_over_stdio(place: Place) -> None:
    script = Path(__file__).parent / "second_client.mjs"
    assert_whole(run(place, script, "stdio", *place.command("mcp")))


def test_the_typescript_client_calls_everything_over_http(served: Served) -> None:
    script = Path(__file__).parent / "second_client.mjs"
    assert_whole(run(served.place, script, "http", served.url))


def test_the_inspector_lists_and_calls(place: Place) -> None:
    inspector = Path(MODULES) / ".bin" / "mcp-inspector"
    if not inspector.exists():
        pytest.skip("the Inspector is not installed")
    listed = run(place, inspector, "--cli", *place.command("mcp"), "--method", "tools/list")
    assert [tool["name"] for tool in listed["tools"]] == NAMES
    asked = ("--method", "tools/call", "--tool-name", "query_global_commons", "--tool-arg", "query=delete a site")
    assert run(place, inspector, "--cli", *place.command("mcp"), *asked)["structuredContent"]["matched"] is True
