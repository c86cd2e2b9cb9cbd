"""The host that a request names is this machine only if nothing else is written beside it."""

from __future__ import annotations

import pytest

from deia.serve.server.limits import LOOPBACK, host_of


@pytest.mark.parametrize("name", ["127.0.0.1", "127.0.0.1:80", "LOCALHOST:1", "[::1]", "[::1]:8080"])
def test_a_name_of_this_machine_is_known(name: str) -> None:
    assert host_of(name) in LOOPBACK


@pytest.mark.parametrize(
    "name", ["[::1].evil.com", "[::1].evil.com:80", "[::1]evil", "[::1", "[::1]:80.evil.com", "evil.com", ""]
)
def test_a_name_that_only_begins_like_this_machine_is_not(name: str) -> None:
    assert host_of(name) not in LOOPBACK
