"""What happens beside the page: hooks that answer as a host would call them, and events of earlier days."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from deia.folders import events_folder

if TYPE_CHECKING:
    from tests.serve.server.conftest import Place


def hook(place: Place, event: str, conversation: str = "c1", **fields: Any) -> str:
    """Have the hook answer an event; give what the host reads."""
    whole = {
        "session_id": conversation, "transcript_path": "/nowhere", "cwd": str(place.root),
        "permission_mode": "default", "hook_event_name": event, **fields,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-P", "-m", "deia.serve.hook", "claude-code"], input=json.dumps(whole).encode(),
        cwd=place.root, env=place.environ, capture_output=True, check=True,
    )  # fmt: skip
    return done.stdout.decode()


def call(place: Place, command: str, conversation: str = "c1") -> str:
    """Have the hook answer a command that an agent would run."""
    given = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": command}
    return hook(place, "PreToolUse", conversation, **given)


def log(place: Place, *events: dict[str, Any]) -> None:
    """Write events into the log."""
    folder = events_folder(str(place.root), place.environ, trusted=True)
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/{time.strftime('%Y-%m-%d', time.gmtime())}.jsonl", "a", encoding="utf-8") as file:
        file.writelines(json.dumps({"ts": "2026-01-01T00:00:00Z", "v": 1, **event}) + "\n" for event in events)
