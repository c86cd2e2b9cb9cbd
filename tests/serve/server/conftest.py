"""A commons of its own for each test file, the server over it as a process, and the official client."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from deia.compile.compiler import compile_commons
from deia.serve.server.desk import Desk, Reply
from deia.serve.server.dispatch import answer, prepare
from deia.serve.server.tool_schemas import TOOLS
from tests.derived import derived

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
    from pathlib import Path

INDEX = """\
version: "1.0"
clusters:
  hosting:
    description: Where sites live
    documents:
      - id: site-checklist  # the first that was written
        path: bok/hosting/site-checklist.md
        title: Before a site is deleted
        summary: What to save before a shop site is deleted.
        keywords: [site, delete]
        urgency: critical
        platform: shopctl
        audience: [operators]
        tags: [sites]
      - id: site-rename
        path: bok/hosting/site-rename.md
        title: Renaming a site breaks its links
        summary: Links point to the old name.
        keywords: [rename]
        urgency: high
        related_docs: [site-checklist]
  queues:
    description: Messages that wait
    documents:
      - id: queue-purge
        path: bok/queues/queue-purge.md
        title: A purged queue is empty for everybody
        summary: Purging takes the messages of all consumers.
        keywords: [purge, queue]
        urgency: high
"""
FILES = {
    "commons_index.yaml": INDEX,
    "bok/hosting/site-checklist.md": "---\ntitle: Before a site is deleted\nurgency: critical\n---\n\n"
    "# Before a site is deleted\n\nSave the domain records first.\n\nThen the variables.\n",
    "bok/hosting/site-rename.md": "# Renaming a site breaks its links\n\nSet a redirect before the rename.\n",
    "bok/queues/queue-purge.md": "# A purged queue is empty for everybody\n\nAsk the other consumers first.\n",
    "triggers/sites.yaml": """\
- id: site-delete
  title: Deleting a shop site
  status: test
  urgency: critical
  action: hold
  message: Deleting a site drops its domain records.
  documents: [{id: site-checklist, mode: full_context, reason: What to save}]
  when:
    any:
      - phrase: "{delete|remove} … site"
      - command: "shopctl site:delete"
""",
}
KEPT = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG")
PATIENCE = 30.0
TOKEN = "a-token-of-these-tests"  # noqa: S105 - no secret


@dataclass(frozen=True, kw_only=True)
class Place:
    """A commons and a person of its own."""

    root: Path
    environ: dict[str, str]

    def command(self, *arguments: str) -> list[str]:
        """Give what starts deia."""
        return [sys.executable, "-P", "-m", "deia.serve.main", *arguments]

    def start(self, *arguments: str, command: Sequence[str] = (), **changes: str) -> subprocess.Popen[bytes]:
        """Start deia as a process with a wire."""
        whole = [*command, *arguments] if command else self.command(*arguments)
        return subprocess.Popen(
            whole, cwd=self.root, env={**self.environ, **changes},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    @asynccontextmanager
    async def client(self, *arguments: str, **options: Any) -> AsyncIterator[Client]:
        """Give the official client of a server that was started for it."""
        first, *rest = self.command("mcp", *arguments)
        parameters = StdioServerParameters(command=first, args=rest, cwd=str(self.root), env=self.environ)
        async with Client(stdio_client(parameters), **options) as client:
            yield client


@dataclass(frozen=True, kw_only=True)
class Served:
    """A server that runs."""

    place: Place
    port: int
    process: subprocess.Popen[bytes]
    host: str = "127.0.0.1"
    token: str = ""

    @property
    def shown(self) -> dict[str, str]:
        """The headers with which a client may write."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    @property
    def url(self) -> str:
        """Where MCP is."""
        return f"http://{self.host}:{self.port}/mcp"

    def ask(
        self, path: str, *, body: bytes | None = None, method: str = "", headers: dict[str, str] | None = None
    ) -> tuple[int, bytes, dict[str, str]]:
        """Send one request; give its status, body and headers."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        connection.request(
            method or ("GET" if body is None else "POST"), path, body=body, headers={**self.shown, **(headers or {})}
        )
        answer = connection.getresponse()
        got = answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}
        connection.close()
        return got

    def but(self, *, port: int = 0, token: str | None = None) -> Served:
        """Give the same with another port, at which nobody listens, or for clients with another token."""
        own = self.token if token is None else token
        return Served(place=self.place, port=port or self.port, process=self.process, host=self.host, token=own)

    def hook(self, host: str, event: dict[str, Any]) -> bytes:
        """Send an event; give the answer."""
        return self.ask(f"/hooks/{host}", body=json.dumps(event).encode())[1]

    def run(self, use: Callable[[Client], Awaitable[None]], **options: Any) -> None:
        """Use the official client."""

        async def main() -> None:
            async with connected(self.url, self.shown, **options) as client:
                await use(client)

        asyncio.run(main())


@asynccontextmanager
async def connected(url: str, headers: dict[str, str], **options: Any) -> AsyncIterator[Client]:
    """Give the official client of a server at an address, which is sent these headers."""
    async with (
        create_mcp_http_client(headers=headers) as http_client,
        Client(streamable_http_client(url, http_client=http_client), **options) as client,
    ):
        yield client


def make_place(folder: Path) -> Place:
    """Write the commons and make a home beside it."""
    root = folder / "work place"
    for name, text in FILES.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="\n")
    (folder / "home").mkdir()
    return settled(folder)


def copied(template: Place, folder: Path) -> Place:
    """Copy a compiled commons and the home beside it, with the times, which the stamps hold."""
    shutil.copytree(template.root.parent, folder, dirs_exist_ok=True)
    place = settled(folder)
    derived(template.root, place.environ).rename(derived(place.root, place.environ))
    return place


def settled(folder: Path) -> Place:
    """Give what lies in a folder, with the environment of whoever works there."""
    root, home = folder / "work place", folder / "home"
    environ = {
        **{name: os.environ[name] for name in KEPT if name in os.environ},
        "HOME": str(home), "USERPROFILE": str(home), "DEIA_STATE": str(home / "state"),
        "DEIA_CACHE": str(home / "cache"), "DEIA_STARTER": "false", "DEIA_TRUST": "*", "PYTHONPATH": os.getcwd(),
    }  # fmt: skip
    return Place(root=root, environ=environ)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Compile a commons once, to be copied."""
    made = make_place(tmp_path_factory.mktemp("template"))
    compile_commons(str(made.root), environ=made.environ)
    return made


@pytest.fixture
def place(template: Place, tmp_path: Path) -> Place:
    """Give a commons of its own that is compiled already."""
    return copied(template, tmp_path)


@pytest.fixture
def desk(place: Place, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Give what answers the tools in this process, as the person whose place it is."""
    for name in ("HOME", "DEIA_STATE", "DEIA_CACHE", "DEIA_STARTER", "DEIA_TRUST"):
        monkeypatch.setenv(name, place.environ[name])
    monkeypatch.chdir(place.root)
    compile_commons(str(place.root), environ=place.environ)
    return Desk(str(place.root))


def ask_tool(desk: Desk, name: str, arguments: dict[str, Any]) -> Reply:
    """Call a tool; give its reply, which has the shape that the tool declares."""
    tool = next(tool for tool in TOOLS if tool.name == name)
    reply = answer(desk, prepare(desk, tool, arguments))
    jsonschema.validate(json.loads(json.dumps(reply.fields)), tool.output or {})
    return reply


@pytest.fixture
def raw_place(tmp_path: Path) -> Place:
    """Give a commons that nothing has compiled yet."""
    return make_place(tmp_path)


def start_server(
    place: Place, *arguments: str, host: str = "127.0.0.1", token: str = TOKEN, command: Sequence[str] = (),
    **changes: str,
) -> Served:  # fmt: skip
    """Start a server on a free port and wait until it answers; with a token its clients may write."""
    tokens = {"DEIA_TOKEN": token} if token else {}
    process = place.start("serve", "--port", "0", *arguments, command=command, **tokens, **changes)
    assert process.stderr is not None
    said = process.stderr.readline().decode()
    assert "/mcp" in said, said + process.stderr.read().decode()
    port = int(said.rpartition("/mcp")[0].rpartition(":")[2])
    served = Served(place=place, port=port, process=process, host=host, token=token)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            served.ask("/health")
        except OSError:
            time.sleep(0.02)
        else:
            return served
    raise AssertionError("the server does not answer")


def await_ready(served: Served) -> None:
    """Wait until a server has compiled what is asked of it."""
    end = time.monotonic() + PATIENCE
    while served.ask("/ready")[0] != 200:
        assert time.monotonic() < end, "the commons was never compiled"
        time.sleep(0.02)


def end_server(served: Served) -> int:
    """Tell a server to end; give its exit code."""
    served.process.send_signal(signal.SIGTERM)
    _, said = served.process.communicate(timeout=PATIENCE)
    assert b"Traceback" not in said, said.decode()
    return served.process.returncode


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Give a server that the tests of several files share."""
    made = make_place(tmp_path_factory.mktemp("served"))
    running = start_server(made, "--compat", "agent-library", "--rate", "0")
    await_ready(running)
    yield running
    assert end_server(running) == 0
