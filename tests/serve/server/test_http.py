"""The server over HTTP: who may speak to it, the hooks as the started hook answers them, its begin and its end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from deia.serve import hook
from deia.serve.server import limits
from tests.serve.server.conftest import copied, end_server, start_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp import Client

    from tests.serve.server.conftest import Place, Served

CODE = re.compile(rb"deia allow \w+")  # made anew for every call that is stopped
SHOWN = "a-long-enough-secret"
DELETE = "I will delete the shop site now"


def event_of(served: Served, name: str, session: str, **fields: Any) -> dict[str, Any]:
    return {"session_id": session, "hook_event_name": name, "cwd": str(served.place.root), **fields}


def cold(served: Served, host: str, event: dict[str, Any], **changes: str) -> bytes:
    """Ask the hook that is started for each event."""
    command = [sys.executable, "-I", "-S", os.path.abspath(hook.__file__), host]
    environ = {**served.place.environ, **changes}
    done = subprocess.run(command, input=json.dumps(event).encode(), capture_output=True, env=environ, check=False)
    return done.stdout or done.stderr


def call_of(served: Served, session: str, command: str) -> dict[str, Any]:
    return event_of(served, "PreToolUse", session, tool_name="Bash", tool_input={"command": command}, tool_use_id="t1")


def test_it_says_that_it_is_there_and_ready(served: Served) -> None:
    status, body, _ = served.ask("/health")
    assert (status, json.loads(body)["name"]) == (200, "deia")
    status, body, _ = served.ask("/ready")
    assert (status, json.loads(body)["ready"]) == (200, True)
    assert served.ask("/elsewhere")[0] == 404


def audited(place: Place) -> dict[str, Any]:
    """Return what `deia audit` says of the server."""
    command = [sys.executable, "-P", "-m", "deia.serve.main", "audit", "--json"]
    done = subprocess.run(command, cwd=place.root, env=place.environ, capture_output=True, check=False)
    fields: dict[str, Any] = json.loads(done.stdout)["server"]
    return fields


@pytest.mark.slow
def test_the_audit_says_whether_a_server_runs(place: Place) -> None:
    assert audited(place) == {"running": False, "address": ""}
    served = start_server(place)
    try:
        assert audited(place) == {"running": True, "address": served.url}
    finally:
        assert end_server(served) == 0
    assert not audited(place)["running"]
    killed = start_server(place)
    killed.process.kill()
    killed.process.communicate()
    assert not audited(place)["running"], "its note is still there, its process is not"


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("UserPromptSubmit", {"prompt": DELETE}),
        ("UserPromptSubmit", {"prompt": "what is the weather like?"}),
        ("UserPromptSubmit", {"prompt": DELETE + " and then " + "say more of it " * 400}),
        ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "shopctl site:delete --yes"}}),
        ("SessionStart", {"source": "startup"}),
        ("Unheard", {}),
    ],
)
def test_an_event_is_answered_as_by_the_started_hook(served: Served, name: str, fields: dict[str, Any]) -> None:
    warm = served.hook("claude-code", event_of(served, name, f"warm {name} {fields}", **fields))
    told = cold(served, "claude-code", event_of(served, name, f"cold {name} {fields}", **fields))
    assert CODE.sub(b"", warm) == CODE.sub(b"", told)


def test_what_one_said_the_other_does_not_say_again(served: Served) -> None:
    """The conversation's memory is one, whoever writes it."""
    first = served.hook("claude-code", event_of(served, "UserPromptSubmit", "shared", prompt=DELETE, prompt_id="1"))
    assert b"Save the domain records" in first
    again = event_of(served, "UserPromptSubmit", "shared", prompt=f"{DELETE}, please", prompt_id="2")
    assert b"Save the domain records" not in cold(served, "claude-code", again)


def test_a_call_that_was_held_by_one_passes_at_the_other(served: Served) -> None:
    held = cold(served, "claude-code", call_of(served, "held", "shopctl site:delete --yes"))
    assert json.loads(held)["hookSpecificOutput"]["permissionDecision"] == "deny"
    again = call_of(served, "held", "shopctl site:delete --yes") | {"tool_use_id": "t2"}  # a call of its own
    assert served.hook("claude-code", again) == b""


def test_a_host_that_reads_a_reason_gets_its_exit_code_beside_it(served: Served) -> None:
    event = {
        "agent_action_name": "pre_run_command", "trajectory_id": "w1", "execution_id": "e1",
        "tool_info": {"command_line": "shopctl site:delete --yes", "cwd": str(served.place.root)},
    }  # fmt: skip
    status, body, headers = served.ask("/hooks/windsurf", body=json.dumps(event).encode())
    other = cold(served, "windsurf", {**event, "trajectory_id": "w2"})
    assert (status, headers["x-deia-exit"], headers["content-type"]) == (200, "2", "text/plain; charset=utf-8")
    assert body == other
    assert b"domain records" in body


@pytest.mark.parametrize("body", [b"", b"{broken", b"[]", b"null", b"[" * 50_000, b"\xff\xfe", b'{"cwd": 5}'])
def test_an_event_that_is_none_is_answered_with_nothing(served: Served, body: bytes) -> None:
    assert served.ask("/hooks/claude-code", body=body)[:2] == (200, b"")


def test_a_host_that_nobody_knows_is_told_which_there_are(served: Served) -> None:
    status, body, _ = served.ask("/hooks/emacs", body=b"{}")
    assert status == 404
    assert b"claude-code" in body
    assert served.ask("/hooks/claude-code")[0] == 404


def test_the_server_says_how_long_it_took(served: Served) -> None:
    event = event_of(served, "UserPromptSubmit", "timing", prompt="hello")
    _, _, headers = served.ask("/hooks/claude-code", body=json.dumps(event).encode())
    assert float(headers["server-timing"].partition("dur=")[2]) < 1000


def test_the_off_switch_counts_here_too(served: Served) -> None:
    switch = os.path.join(served.place.environ["DEIA_STATE"], "off")
    open(switch, "w").close()
    try:
        assert served.hook("claude-code", event_of(served, "UserPromptSubmit", "muted", prompt=DELETE)) == b""
    finally:
        os.unlink(switch)


# --- who may speak to it ---


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:3000"}, 403),
        ({"Origin": "http://localhost"}, 403),
        ({"Origin": "http://127.0.0.1:8765"}, 403),
        ({"Origin": "http://localhost:8765", "Host": "localhost:8765"}, 200),
        ({"Host": "rebound.example"}, 421),
        ({"Host": "localhost.evil.example"}, 421),
        ({"Host": "localhost:80"}, 200),
        ({"Content-Length": "99999999999"}, 413),
    ],
)
@pytest.mark.parametrize("path", ["/health", "/hooks/claude-code", "/mcp"])
def test_a_page_or_a_rebound_name_or_a_flood_is_refused(
    served: Served, headers: dict[str, str], status: int, path: str
) -> None:
    got = served.ask(path, body=b"{}", headers=headers)[0]
    assert got == status if status != 200 else got not in {403, 421}


def test_a_body_that_grows_too_long_on_the_way_is_cut_off(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as line:
        line.sendall(b"POST /hooks/claude-code HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        piece = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
        try:
            for _ in range(20):
                line.sendall(piece)
        except OSError:
            pass  # it hung up, as it may
    assert served.ask("/health")[0] == 200


@pytest.mark.slow
def test_a_token_is_wanted_where_one_is_set(place: Place) -> None:
    served = start_server(place, token=SHOWN)
    shown, served = served.shown, served.but(token="")
    try:
        assert served.ask("/health")[0] == 200
        assert served.ask("/ready")[0] == 401
        assert served.ask("/ready", headers={"Authorization": "Bearer wrong"})[0] == 401
        assert served.ask("/mcp", body=b"{}")[0] == 401
        assert served.ask("/hooks/claude-code", body=b"{}")[0] == 401
        assert served.ask("/hooks/claude-code", body=b"{}", headers=shown)[0] == 200
    finally:
        assert end_server(served) == 0


@pytest.mark.slow
def test_an_address_of_version_six_is_written_as_one(place: Place) -> None:
    if not has_version_six():
        pytest.skip("this machine has no address of version 6")
    served = start_server(place, "--host", "::1", host="::1")
    try:
        assert served.ask("/health")[0] == 200
        assert served.ask("/health", headers={"Host": ""})[0] == 421
    finally:
        assert end_server(served) == 0


def has_version_six() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as door:
            door.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.slow
def test_a_port_that_there_is_not_is_told(place: Place) -> None:
    environ = {**place.environ, "DEIA_PORT": "99999"}
    done = subprocess.run(place.command("serve"), cwd=place.root, env=environ, capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == b"deia: DEIA_PORT: port = '99999' is not a valid value"


@pytest.mark.slow
def test_others_can_reach_it_only_with_a_token(place: Place) -> None:
    done = subprocess.run(
        place.command("serve", "--host", "0.0.0.0", "--port", "0"), cwd=place.root, env=place.environ,  # noqa: S104
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert b"DEIA_TOKEN" in done.stderr


@pytest.mark.slow
def test_who_asks_too_often_is_told_so(place: Place) -> None:
    served = start_server(place, "--rate", "5")
    try:
        statuses = [served.ask("/health")[0] for _ in range(30)]
        assert statuses.count(429) >= 10
        assert statuses[0] == 200
    finally:
        end_server(served)


@pytest.mark.slow
def test_without_a_token_a_client_can_only_read(place: Place) -> None:
    served = start_server(place, token="")

    async def use(client: Client) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "query_global_commons" in names
        assert not names & {"save_lesson", "remove_document", "feedback"}
        assert (await client.call_tool("save_lesson", {"title": "A lesson", "text": "Anybody's."})).is_error

    try:
        assert b"export DEIA_TOKEN=$(openssl rand -hex 24)" in second_line(served)
        served.run(use)
    finally:
        assert end_server(served) == 0
    assert not list(place.root.glob("bok/patterns/*"))


@pytest.mark.slow
def test_a_token_in_the_projects_env_file_is_not_the_servers(place: Place) -> None:
    (place.root / ".env").write_text("DEIA_TOKEN=from-the-env-file-of-the-commons\n", encoding="utf-8")
    served = start_server(place, token="")
    try:
        assert b"DEIA_TOKEN in .env:1 is not used" in second_line(served)
        assert served.ask("/ready")[0] in {200, 503}
    finally:
        assert end_server(served) == 0


def second_line(served: Served) -> bytes:
    """Give what a server says after its address."""
    assert served.process.stderr is not None
    return served.process.stderr.readline()


@pytest.mark.slow
@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n",
        b"POST /hooks/claude-code HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
    ],
)
def test_a_request_that_is_never_completed_is_dropped_in_time(served_briefly: Served, begun: bytes) -> None:
    with socket.create_connection(("127.0.0.1", served_briefly.port), timeout=20) as line:
        line.sendall(begun)
        began = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while line.recv(65_536):
                pass
        assert time.monotonic() - began < 10
    assert served_briefly.ask("/health")[0] == 200


@pytest.mark.slow
def test_a_request_that_comes_drop_by_drop_is_dropped_too(served_briefly: Served) -> None:
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", served_briefly.port), timeout=20) as line:
        line.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n")
        with contextlib.suppress(OSError):
            while time.monotonic() - began < 15:
                line.sendall(b"X-Drop: 1\r\n")
                time.sleep(0.1)
    assert time.monotonic() - began < 10


def test_of_too_many_half_sent_requests_the_oldest_are_dropped(place: Place) -> None:
    script = (
        "from deia.serve.server import limits as l; l.MOST_HALF_SENT = 50; from deia.serve.main import main; main()"
    )
    served = start_server(place, command=(sys.executable, "-P", "-c", script), token="")
    with contextlib.ExitStack() as lines:
        half = []
        for _ in range(55):
            half.append(lines.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=10)))
            half[-1].sendall(b"POST /mcp HTTP/1.1\r\n")
        with contextlib.suppress(ConnectionError):
            assert half[0].recv(1) == b""
        assert served.ask("/health")[0] == 200
        half[-1].setblocking(False)
        with pytest.raises(BlockingIOError):
            half[-1].recv(1)
    assert end_server(served) == 0


def test_bodies_that_are_never_completed_take_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    async def begin() -> bytes | None:
        parts: list[dict[str, object]] = [{"type": "http.request", "body": bytes(10), "more_body": True}]

        async def receive() -> dict[str, object]:
            return parts.pop() if parts else await asyncio.sleep(60, {"type": "http.disconnect"})

        return await limits.read_body(receive)

    async def many() -> int:
        tasks = [asyncio.ensure_future(begin()) for _ in range(30)]
        await asyncio.sleep(0.05)
        waiting = [task for task in tasks if task.cancel()]
        await asyncio.gather(*tasks, return_exceptions=True)
        return len(waiting)

    monkeypatch.setattr(limits, "MOST_HELD", 100)
    for _ in range(2):  # what was given up makes room again
        assert asyncio.run(many()) == 10


@pytest.fixture(scope="module")
def served_briefly(template: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Give a server in which a request must be complete within two seconds."""
    place = copied(template, tmp_path_factory.mktemp("briefly"))
    script = "from deia.serve.server import limits; limits.SECONDS = 2.0; from deia.serve.main import main; main()"
    running = start_server(place, command=(sys.executable, "-P", "-c", script), token="")
    yield running
    assert end_server(running) == 0


def test_a_script_can_search_without_mcp(served: Served) -> None:
    status, body, _ = served.ask("/search?q=how+do+I+delete+a+site&limit=1")
    told = json.loads(body)
    assert (status, told["matched"]) == (200, True)
    assert len(told["documents"]["primary"]) == 1


@pytest.mark.parametrize("query", ["", "?q=", "?q=x&limit=many", "?q=x&nonsense=1", "?q=%ff", "?" + "a=b&" * 50])
def test_a_search_that_cannot_be_read_is_refused_with_what_to_do(served: Served, query: str) -> None:
    status, body, _ = served.ask(f"/search{query}")
    assert status == 400
    assert json.loads(body)["error"]
