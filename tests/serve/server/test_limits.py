"""The host that a request names is this machine only if nothing else is written beside it."""

from __future__ import annotations

import asyncio

import pytest

from deia.serve.server.limits import LOOPBACK, Guard, host_of


@pytest.mark.parametrize("name", ["127.0.0.1", "127.0.0.1:80", "LOCALHOST:1", "[::1]", "[::1]:8080"])
def test_a_name_of_this_machine_is_known(name: str) -> None:
    assert host_of(name) in LOOPBACK


@pytest.mark.parametrize(
    "name", ["[::1].evil.com", "[::1].evil.com:80", "[::1]evil", "[::1", "[::1]:80.evil.com", "evil.com", ""]
)
def test_a_name_that_only_begins_like_this_machine_is_not(name: str) -> None:
    assert host_of(name) not in LOOPBACK


def test_whoever_guesses_tokens_is_within_the_rate_too() -> None:
    """Each guess is compared with every user."""
    told: list[int] = []

    async def app(_scope: object, _receive: object, _send: object) -> None:
        raise AssertionError

    async def send(message: dict[str, int]) -> None:
        told.append(message.get("status", 0))

    async def use() -> None:
        guard = Guard(app, token="x" * 20, rate=1)
        for _ in range(4):
            scope = {"type": "http", "path": "/mcp", "client": ("::1", 9), "headers": [(b"host", b"localhost")]}
            await guard(scope, None, send)  # type: ignore[arg-type]  # likewise

    asyncio.run(use())
    assert [status for status in told if status] == [401, 401, 429, 429]
