"""Messages that were damaged on purpose, over both transports: each is answered, and the server goes on."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deia.serve.server.tool_schemas import COMPAT_TOOLS, TOOLS
from tests.serve.server.conftest import PATIENCE, TOKEN, copied, end_server, start_server
from tests.serve.server.test_stdio import INITIALIZED, META, Line, opening, request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.serve.server.conftest import Place, Served

HEADERS = {
    "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
    "Authorization": f"Bearer {TOKEN}",
}  # fmt: skip
TOLD = (b"Traceback", b'File "', b'File \\"', b".py:", b"site-packages")
PING = "still there?"
SOUND: tuple[dict[str, Any], ...] = (
    opening("2025-11-25"),
    request(2, "tools/list"),
    request(3, "resources/read", uri="deia://document/queue-purge"),
    request(4, "resources/subscribe", uri="deia://index"),
    request(5, "prompts/get", name="review-plan", arguments={"plan": "delete the site"}),
    request(6, "completion/complete", ref={"type": "ref/resource", "uri": "deia://document/{id}"},
            argument={"name": "id", "value": "s"}),
    request(7, "tools/call", name="query_global_commons", arguments={"query": "site", "limit": 3, "detail": "full"}),
    request(8, "tools/call", name="check_triggers", arguments={"conversation": ["User: delete the site"]}),
    request(9, "tools/call", name="read_document", arguments={"document": "queue-purge", "lines": "1-3"}),
    request(10, "tools/call", name="list_documents", arguments={"limit": 1, "offset": 1}, _meta=META),
    request(11, "tools/call", name="suggest_location", arguments={"text": "queues"}),
    request(12, "tools/call", name="remove_document", arguments={"id": "nonesuch"}),
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}},
    {"jsonrpc": "2.0", "id": 13, "result": {"action": "accept"}},
)  # fmt: skip
ODD: tuple[Any, ...] = (
    None, True, -1, 2**70, 1.5, "", "\x00", "\ud800", "x" * 70_000, "../../../etc/passwd", [], {}, [[[[]]]], {"": {}},
    "deia://document/..%2F..%2Fetc", {"$ref": "#"}, "2026-07-28",
)  # fmt: skip
TOKENS = (b'"', b"{", b"}", b"[", b"\\u", b"\x00", b"\xff", b",", b"NaN", b"1e999", b"[" * 500)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Give the way to every part of a message."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, part in inside for found in places(part, (*path, key)))]


def damaged(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Give a message with something else at a place."""
    if not path:
        return new
    key, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = damaged(copy[key], tuple(rest), new)
    return copy


@st.composite
def hostile(draw: st.DrawFn) -> bytes:
    """Give a line: a sound message with up to three parts replaced, and perhaps its bytes damaged."""
    message: Any = draw(st.sampled_from(SOUND))
    for _ in range(draw(st.integers(0, 3))):
        message = damaged(message, draw(st.sampled_from(places(message))), draw(st.sampled_from(ODD)))
    line = json.dumps(message).encode()
    if draw(st.booleans()):
        at = draw(st.integers(0, len(line)))
        line = line[:at] + draw(st.sampled_from(TOKENS)) + line[at + draw(st.integers(0, 5)) :]
    return line.replace(b"\n", b" ")


def assert_tells_nothing(told: bytes) -> None:
    assert not [word for word in TOLD if word in told], told[:2_000]


@pytest.fixture(scope="module")
def spoken_to(tmp_path_factory: pytest.TempPathFactory, template: Place) -> Iterator[Line]:
    """Give one server for all that is said to it."""
    line = Line(copied(template, tmp_path_factory.mktemp("spoken to")))
    line.ask(opening("2025-11-25"))
    line.send(INITIALIZED)
    yield line
    _, said, code = line.close()
    assert (code, said) == (0, b"")


@pytest.fixture
def connection(served: Served) -> Iterator[http.client.HTTPConnection]:
    """Give a connection that is kept."""
    kept = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    yield kept
    kept.close()


@pytest.mark.slow
def test_every_damaged_line_is_answered_and_the_next_too(spoken_to: Line) -> None:
    numbers = itertools.count(1_000)

    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
    @given(hostile())
    def say(line: bytes) -> None:
        numbered, wanted = numbered_anew(line, next(numbers))
        spoken_to.send(numbered)
        spoken_to.send({"jsonrpc": "2.0", "id": PING, "method": "ping"})
        wanted.add(PING)
        while wanted:
            answer = spoken_to.read()
            assert_tells_nothing(json.dumps(answer).encode())
            wanted.discard(answer.get("id"))

    say()


def numbered_anew(line: bytes, number: int) -> tuple[bytes, set[Any]]:
    """Give a line with a number of its own, where it is a request that somebody would wait for, and that number."""
    try:
        message = json.loads(line)
    except ValueError:
        return line, set()
    if not isinstance(message, dict) or "method" not in message or "id" not in message or message.get("id") is None:
        return line, set()
    if not isinstance(message["id"], (str, int)) or isinstance(message["id"], bool):
        return line, set()
    return json.dumps({**message, "id": number}).encode(), {number}


@pytest.mark.slow
def test_every_damaged_request_is_answered_and_the_next_too(connection: http.client.HTTPConnection) -> None:
    connection.request("POST", "/mcp", json.dumps(opening("2025-11-25")), HEADERS)
    answer = connection.getresponse()
    answer.read()
    session = answer.headers["mcp-session-id"]
    versions = st.sampled_from(["", "2025-11-25", "2026-07-28", "2019-01-01", "x" * 300])
    sessions = st.sampled_from(["", session, session, "nonesuch", "\x01\xff"])

    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
    @given(hostile(), versions, sessions, st.sampled_from(["POST", "POST", "POST", "PUT", "DELETE"]))
    def say(body: bytes, version: str, named: str, method: str) -> None:
        if method == "DELETE" and named == session:
            return  # which ends the session, as it should
        headers = {**HEADERS, "Mcp-Protocol-Version": version, "Mcp-Session-Id": named}
        connection.request(method, "/mcp", body, {key: value for key, value in headers.items() if value})
        answer = connection.getresponse()
        assert_tells_nothing(answer.read())
        assert answer.status < 500
        connection.request("GET", "/health")
        assert connection.getresponse().read().startswith(b'{"ok"')

    say()


@pytest.mark.slow
def test_every_damaged_event_is_answered_with_nothing_or_a_lesson(connection: http.client.HTTPConnection) -> None:
    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(hostile(), st.sampled_from(["claude-code", "cursor", "windsurf", "codex"]))
    def say(body: bytes, host: str) -> None:
        connection.request("POST", f"/hooks/{host}", body, HEADERS)
        answer = connection.getresponse()
        assert answer.status == 200
        assert_tells_nothing(answer.read())

    say()


@pytest.mark.slow
@pytest.mark.parametrize("tool", [tool.name for tool in (*TOOLS, *COMPAT_TOOLS)])
def test_no_tool_tells_where_it_broke(served: Served, tool: str) -> None:
    (properties,) = (one.inputs.properties for one in (*TOOLS, *COMPAT_TOOLS) if one.name == tool)
    names = sorted(properties)

    async def use(client: Any) -> None:
        for odd in ("\x00", "\u202e" * 50, "../" * 40, "a" * 1_999, "%s%n{0}", "\n" * 500, "con", "-rf"):
            given = {name: odd for name in names if properties[name].get("type") == "string"}
            result = await client.call_tool(tool, {**given, "undo": True} if tool == "remove_document" else given)
            assert_tells_nothing(result.model_dump_json().encode())

    served.run(use)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs links and named pipes")
def test_a_folder_of_devices_and_pipes_neither_stops_nor_keeps_the_server(raw_place: Place) -> None:
    for path in ("deia.toml", "pyproject.toml", "bok/device.md", "triggers/device.yaml", ".deia/stamps.triggers"):
        (raw_place.root / path).parent.mkdir(exist_ok=True)
        (raw_place.root / path).symlink_to("/dev/zero")
    os.mkfifo(raw_place.root / "bok/pipe.md")
    served = start_server(raw_place, DEIA_TRUST="")
    event = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "cwd": str(raw_place.root), "prompt": "hello"}
    asking = threading.Thread(target=served.hook, args=("claude-code", event))
    asking.start()
    longest = 0.0
    while asking.is_alive() or not longest:
        began = time.monotonic()
        assert served.ask("/health")[0] == 200
        longest = max(longest, time.monotonic() - began)
    assert longest < 5
    assert end_server(served) == 0
