"""Many clients at once, and such as never leave: none keeps another waiting or out."""

from __future__ import annotations

import asyncio
import http.client
import itertools
import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from deia.serve.server.limits import MOST_SESSIONS
from tests.serve.server.conftest import PATIENCE, await_ready, connected, end_server, start_server
from tests.serve.server.test_hostile import HEADERS
from tests.serve.server.test_stdio import INITIALIZED, opening, request

if TYPE_CHECKING:
    from tests.serve.server.conftest import Place, Served

pytestmark = pytest.mark.slow

CLIENTS = 6


def test_sessions_that_nobody_ends_keep_no_client_out_and_end_nobody_who_listens(served: Served) -> None:
    line = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    listening = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)

    def post(message: Any, session: str = "") -> tuple[int, str]:
        line.request("POST", "/mcp", json.dumps(message), {**HEADERS, **named(session)})
        answer = line.getresponse()
        answer.read()
        return answer.status, answer.headers.get("mcp-session-id", "")

    (_, first), (_, listens), (_, asks) = (post(opening("2025-11-25")) for _ in range(3))
    listening.request("GET", "/mcp", headers={**HEADERS, **named(listens)})
    assert listening.getresponse().status == 200
    for number in range(MOST_SESSIONS + 5):
        status, last = post(opening("2025-11-25"))
        assert status == 200
        if number % 100 == 0:
            assert post(request(2, "tools/list"), asks)[0] == 200
    got = [post(request(3, "tools/list"), one)[0] for one in (first, listens, asks, last)]
    assert got == [404, 200, 200, 200]
    listening.close()
    line.close()


@pytest.mark.parametrize("version", [*HANDSHAKE_PROTOCOL_VERSIONS, "2031-01-01"])
def test_every_version_of_the_handshake_is_spoken(served: Served, version: str) -> None:
    line = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)

    def post(message: Any, **headers: str) -> tuple[str, str]:
        line.request("POST", "/mcp", json.dumps(message), {**HEADERS, **headers})
        answer = line.getresponse()
        return answer.read().decode(), answer.headers.get("mcp-session-id", "")

    told, session = post(opening(version))
    agreed = version if version in HANDSHAKE_PROTOCOL_VERSIONS else HANDSHAKE_PROTOCOL_VERSIONS[-1]
    assert f'"protocolVersion":"{agreed}"' in told
    headers = {"Mcp-Session-Id": session, "Mcp-Protocol-Version": agreed}
    post(INITIALIZED, **headers)
    asked = request(2, "tools/call", name="query_global_commons", arguments={"query": "delete a site"})
    told, _ = post(asked, **headers)
    assert "site-checklist" in told
    line.close()


def named(session: str) -> dict[str, str]:
    return {"Mcp-Session-Id": session} if session else {}


def test_no_answer_is_half_or_older_than_one_before_while_the_commons_changes(place: Place) -> None:
    document = place.root / "bok/hosting/site-rename.md"

    def put(number: int) -> None:
        lines = [
            f"# Renaming a site breaks its links {number}",
            "",
            *(f"Line {each} of {number}." for each in range(40)),
        ]
        (place.root / "new").write_text("\n".join(lines), encoding="utf-8")
        os.replace(place.root / "new", document)

    async def read_on(url: str, until: float) -> int:
        last = 0
        async with Client(url) as client:
            while time.monotonic() < until:
                read = (await client.call_tool("read_document", {"document": "site-rename"})).structured_content
                lines = [line for line in read["text"].splitlines() if "Line" in line]
                (number,) = {int(line.rpartition(" ")[2].rstrip(".")) for line in lines} or {0}
                assert number >= last
                last = number
                found = (await client.call_tool("query_global_commons", {"query": "rename a site"})).structured_content
                assert found["documents"]["primary"][0]["id"] == "site-rename"
        return last

    async def change(url: str) -> list[int]:
        until = time.monotonic() + 4
        reading = [asyncio.ensure_future(read_on(url, until)) for _ in range(CLIENTS)]
        for number in itertools.count(2):
            put(number)
            if (await asyncio.wait(reading, timeout=0.4, return_when=asyncio.FIRST_EXCEPTION))[0]:
                return await asyncio.gather(*reading)
        raise AssertionError

    put(1)
    served = start_server(place, "--rate", "0", token="")
    await_ready(served)
    try:
        assert max(asyncio.run(change(served.url))) > 2  # the changes came through
    finally:
        assert end_server(served) == 0


def test_long_conversations_hold_up_no_question(served: Served) -> None:
    long = [f"User: I will delete the shop site and `shopctl site:delete` {number} " * 12 for number in range(1_000)]
    answered: list[bool] = []  # while conversations were still judged

    async def use(client: Client) -> None:
        async with connected(served.url, served.shown) as other:
            await other.call_tool("query_global_commons", {"query": "delete a site"})  # the first one opens the files
            every = [client.call_tool("check_triggers", {"conversation": long}) for _ in range(2)]
            judging = asyncio.gather(*every)
            await asyncio.sleep(0.1)
            while not judging.done():
                await other.call_tool("query_global_commons", {"query": "delete a site"})
                answered.append(not judging.done())
        assert all(one.structured_content["fired"] for one in await judging)

    served.run(use)
    assert sum(answered) > 3
