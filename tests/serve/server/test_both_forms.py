"""A host that runs both forms of the hook for every event, the command and the question to a server: one speaks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from deia.serve import hook

if TYPE_CHECKING:
    from tests.serve.server.conftest import Served

DELETE = "I will delete the shop site now"
CALL = {"tool_name": "Bash", "tool_input": {"command": "shopctl site:delete"}, "tool_use_id": "u"}
PROMPT = {"prompt": DELETE, "prompt_id": "1"}


def event_of(served: Served, name: str, session: str, **fields: Any) -> dict[str, Any]:
    return {"session_id": session, "hook_event_name": name, "cwd": str(served.place.root), **fields}


def cold(served: Served, event: dict[str, Any]) -> bytes:
    command = [sys.executable, "-I", "-S", os.path.abspath(hook.__file__), "claude-code"]
    done = subprocess.run(
        command, input=json.dumps(event).encode(), capture_output=True, env=served.place.environ, check=True
    )
    return done.stdout


def warm(served: Served, event: dict[str, Any]) -> bytes:
    return served.hook("claude-code", event)


def at_once(served: Served, event: dict[str, Any]) -> list[bytes]:
    """Send an event to both forms, several times over; give what was said."""
    with ThreadPoolExecutor(8) as pool:
        started = [pool.submit(cold, served, event) for _ in range(3)]
        asked = []
        for _ in range(8):  # while the commands start and judge
            asked.append(pool.submit(warm, served, event))
            time.sleep(0.005)
        return [said for one in (*started, *asked) if (said := one.result())]


@pytest.mark.parametrize(("name", "fields"), [("UserPromptSubmit", PROMPT), ("PreToolUse", CALL)])
def test_of_all_that_hear_an_event_at_once_one_speaks(served: Served, name: str, fields: dict[str, Any]) -> None:
    for number in range(3):
        (said,) = at_once(served, event_of(served, name, f"race {name} {number}", **fields))
        assert b"domain records" in said


def test_a_lesson_that_waits_is_handed_over_once(served: Served) -> None:
    for number in range(3):
        session = f"queue {number}"
        assert at_once(served, event_of(served, "Stop", session, last_assistant_message=f"{DELETE}.")) == []
        (said,) = at_once(served, event_of(served, "UserPromptSubmit", session, prompt="what is the weather?"))
        assert b"domain records" in said


@pytest.mark.parametrize("order", [(warm, cold), (cold, warm)])
@pytest.mark.parametrize(("name", "fields"), [("UserPromptSubmit", PROMPT), ("PreToolUse", CALL)])
def test_the_second_to_arrive_is_silent_whichever_it_is(
    served: Served, order: tuple[Any, Any], name: str, fields: dict[str, Any]
) -> None:
    event = event_of(served, name, f"order {order[0].__name__} {name}", **fields)
    first, second = (send(served, event) for send in order)
    assert b"domain records" in first
    assert second == b""


def test_without_a_server_the_command_says_it(served: Served) -> None:
    event = event_of(served, "PreToolUse", "away", **CALL)
    with pytest.raises(ConnectionRefusedError):
        served.but(port=9).hook("claude-code", event)
    assert json.loads(cold(served, event))["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_that_nobody_listens_is_found_within_twenty_milliseconds(served: Served) -> None:
    taken = []
    for _ in range(20):
        began = time.perf_counter()
        with pytest.raises(ConnectionRefusedError):
            served.but(port=9).ask("/health")
        taken.append(time.perf_counter() - began)
    assert sorted(taken)[len(taken) // 2] < 0.02
