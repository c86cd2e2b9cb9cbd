"""The state of what is served, and commands that run beside the server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from deia.errors import DeiaError
from deia.serve.page.health_views import Commands, state

if TYPE_CHECKING:
    from deia.serve.server.desk import Desk


def test_the_state_names_the_commons_its_engine_and_every_host(desk: Desk) -> None:
    told: Any = state(desk, {})
    assert (told["root"], told["documents"], told["triggers"], told["valid"]) == (desk.root, 3, 1, True)
    assert {"claude-code", "cursor"} <= {host["host"] for host in told["hosts"]}
    assert told["sources"] == []


def test_a_command_gives_what_it_prints(desk: Desk) -> None:
    assert asyncio.run(Commands("").run("lint")) == []


def test_a_command_that_prints_nothing_is_an_error_that_names_it(desk: Desk) -> None:
    with pytest.raises(DeiaError, match="deia no-such-command did not end well") as caught:
        asyncio.run(Commands("").run("no-such-command"))
    assert caught.value.fix == "Type: deia no-such-command"
