"""The server on standard input and output: whatever is sent to it, it answers and goes on."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from deia.serve.cli.commands_table import run_cli
from deia.serve.server.stdio import MOST_LINE
from deia.serve.server.tool_schemas import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.serve.server.conftest import Place

CLIENT = {"name": "a client", "version": "1"}
KEYS = "io.modelcontextprotocol/"
META = {f"{KEYS}protocolVersion": "2026-07-28", f"{KEYS}clientInfo": CLIENT, f"{KEYS}clientCapabilities": {}}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(number: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def opening(version: str) -> dict[str, Any]:
    return request(1, "initialize", protocolVersion=version, capabilities={}, clientInfo=CLIENT)


class Line:
    """A server as a process, spoken to in lines."""

    def __init__(self, place: Place, *arguments: str) -> None:
        self.process = place.start("mcp", *arguments)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._to, self._of = self.process.stdin, self.process.stdout

    def send(self, message: Any) -> None:
        self._to.write((message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n")
        self._to.flush()

    def read(self) -> dict[str, Any]:
        line = self._of.readline()
        assert line, self.process.stderr.read().decode()  # type: ignore[union-attr]
        found: dict[str, Any] = json.loads(line)
        return found

    def ask(self, message: Any) -> dict[str, Any]:
        self.send(message)
        return self.read()

    def close(self) -> tuple[bytes, bytes, int]:
        rest, said = self.process.communicate(timeout=30)
        return rest, said, self.process.returncode


@pytest.fixture
def line(place: Place) -> Iterator[Line]:
    opened = Line(place)
    yield opened
    opened.process.kill()
    opened.process.communicate()


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_a_handshake_is_answered_with_the_version_that_was_asked_for(line: Line, version: str) -> None:
    assert line.ask(opening(version))["result"]["protocolVersion"] == version
    line.send(INITIALIZED)
    listed = line.ask(request(2, "tools/list"))["result"]["tools"]
    assert [tool["name"] for tool in listed] == [tool.name for tool in TOOLS]


def test_a_stateless_client_is_answered_without_a_handshake(line: Line) -> None:
    assert line.ask(request(1, "server/discover", _meta=META))["result"]["supportedVersions"] == ["2026-07-28"]
    listed = line.ask(request(2, "tools/list", _meta=META))["result"]["tools"]
    assert [tool["name"] for tool in listed] == [tool.name for tool in TOOLS]


def test_a_client_that_does_not_wait_gets_every_answer_once(line: Line) -> None:
    for message in (opening("2025-11-25"), INITIALIZED, *(request(n, "tools/list") for n in range(2, 8))):
        line.send(message)
    line.send(request(8, "ping"))
    line.send(request(9, "tools/call", name="list_documents", arguments={}))
    answers = [line.read() for _ in range(9)]
    assert sorted(one["id"] for one in answers) == list(range(1, 10))
    assert all("result" in one for one in answers)
    assert line.close() == (b"", b"", 0)


HOSTILE: tuple[bytes, ...] = (
    b"{", b"[]", b"[1, 2]", b"null", b'"x"', b"\x00\xff\xfe", b"[" * 200_000, b'{"a":' * 100_000,
    b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}',
    b'{"jsonrpc": "2.0", "method": 5}', b"x" * (MOST_LINE + 10),
)  # fmt: skip
WRONG: tuple[tuple[str, Any], ...] = (
    ("nonsense", {}), ("tools/call", {}), ("tools/call", {"name": 5}), ("tools/call", {"name": "nope"}),
    ("tools/call", {"name": "query_global_commons", "arguments": []}),
    ("tools/call", {"name": "query_global_commons", "arguments": {"query": {"deep": [[[[]]]]}}}),
    ("tools/call", {"name": "query_global_commons", "arguments": {"query": "x" * 300_000}}),
    ("tools/call", {"name": "read_document", "arguments": {"document": "\x00\x1b[31m"}}),
    ("tools/call", {"name": "check_triggers", "arguments": {"conversation": [{"role": 5, "content": [[[]]]}]}}),
    ("tools/call", {"name": "save_lesson", "arguments": {"title": "../../x", "text": "y", "category": "../../.."}}),
    ("tools/call", {"name": "remove_document", "arguments": {"id": "../../etc"}}),
    ("resources/read", {"uri": "file:///etc/passwd"}), ("resources/read", {"uri": "deia://document/%00"}),
    ("resources/read", {}), ("prompts/get", {"name": "review-plan", "arguments": {"plan": "\u2028" * 50_000}}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "id", "value": "\x00"}}),
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}),
    ("resources/subscribe", {"uri": "x" * 5_000}),
)  # fmt: skip


@pytest.mark.slow
def test_whatever_is_sent_is_answered_without_a_traceback_and_the_next_is_served(line: Line, place: Place) -> None:
    line.ask(opening("2025-11-25"))
    line.send(INITIALIZED)
    for message in HOSTILE:
        line.send(message)
    for number, (method, params) in enumerate(WRONG, 100):
        line.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    line.send(request(999, "tools/call", name="query_global_commons", arguments={"query": "delete a site"}))
    answers: list[dict[str, Any]] = []
    wanted = {999, *(100 + n for n in range(len(WRONG)))}
    while not wanted <= {one.get("id") for one in answers}:  # what is saved is answered when it is compiled
        answers.append(line.read())
    told = json.dumps(answers)
    assert "Traceback" not in told
    assert 'File \\"' not in told
    (last,) = (one for one in answers if one.get("id") == 999)
    assert not last["result"]["isError"]
    assert b"Traceback" not in line.close()[1]
    assert not (place.root.parent.parent / "x.md").exists()


@pytest.mark.slow
def test_it_ends_when_the_client_closes_and_at_a_signal_though_nobody_speaks(place: Place) -> None:
    closed = Line(place)
    closed.ask(opening("2025-11-25"))
    assert closed.close() == (b"", b"", 0)
    if sys.platform == "win32":
        return
    silent = Line(place)
    silent.ask(opening("2025-11-25"))
    silent.send(INITIALIZED)
    silent.ask(request(2, "prompts/list"))  # which the library answers: with it the handler of signals is there
    silent.process.send_signal(signal.SIGTERM)
    assert silent.process.wait(timeout=20) == 0
    silent.process.communicate()


@pytest.mark.slow
def test_what_the_process_prints_does_not_get_onto_the_wire(place: Place) -> None:
    code = (
        "import os, sys; from deia.serve.server.stdio import private_wire\n"
        "wire = private_wire(); print('stray'); sys.stdout.flush(); wire.write(b'{}'); assert os.read(0, 9) == b''"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=b"kept", capture_output=True, check=True, env=place.environ, cwd=os.getcwd()
    )
    assert done.stdout == b"{}\n"
    assert b"stray" in done.stderr


@pytest.mark.slow
def test_a_commons_that_is_none_is_told_before_anything_else(place: Place) -> None:
    process = place.start("mcp", "--commons", "/nowhere/at/all")
    _, said = process.communicate(timeout=30)
    assert process.returncode == 2
    assert b"deia init" in said


def test_the_setting_transport_chooses_standard_input_and_output(place: Place) -> None:
    process = place.start("serve", DEIA_TRANSPORT="stdio")
    replies, _ = process.communicate(json.dumps(opening("2025-06-18")).encode() + b"\n", timeout=30)
    assert json.loads(replies.splitlines()[0])["result"]["protocolVersion"] == "2025-06-18"


def test_the_setting_port_chooses_where_http_is_served(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = place.start("serve", DEIA_PORT=str(port))
    assert process.stderr is not None
    assert f"http://127.0.0.1:{port}/mcp" in process.stderr.readline().decode()
    process.terminate()
    process.communicate(timeout=30)


@pytest.mark.slow
@pytest.mark.parametrize("host", ["claude-desktop", "claude-code", "cursor", "vscode", "kiro", "codex", "gemini"])
@pytest.mark.parametrize("url", ["", "http://127.0.0.1:8765/mcp"])
def test_the_block_of_every_host_names_what_starts_the_server(
    place: Place, host: str, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    import tomllib  # noqa: PLC0415 - for this test alone

    arguments = ["mcp", "config", host, *(("--url", url) if url else ("--commons", str(place.root)))]
    assert run_cli(arguments) == 0
    told, said = capsys.readouterr()
    assert "Add this to" in said
    value = tomllib.loads(told) if host == "codex" else json.loads(told)
    (servers,) = value.values()
    block = servers["deia"]
    if url:
        assert url in block.values()
    elif host in {"claude-code", "codex"}:  # the command is one for all, and its start takes a second
        assert os.path.isabs(block["command"])
        done = subprocess.run(
            [block["command"], *block["args"]], input=b"", capture_output=True, env=place.environ, timeout=30,
            check=False, cwd="/",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
