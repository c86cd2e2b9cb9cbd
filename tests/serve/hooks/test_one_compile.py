"""However many hooks meet an uncompiled commons at once: they start one compile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deia.folders import python_path
from deia.serve import hook
from deia.serve.hooks import fallback
from deia.watch.memory.log import fingerprint

HOOKS = 50
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the interpreter is a shell script here")


@pytest.fixture
def started(environ: dict[str, str], tmp_path: Path) -> Path:
    """Return the file to which the recorded interpreter adds a line; it compiles nothing and says that it is done."""
    log, python = tmp_path / "started", tmp_path / "python3"
    python.write_text(f"#!/bin/sh\necho started >> '{log}'\necho done >> \"$3\"\n", encoding="utf-8")
    python.chmod(0o755)
    place = Path(python_path(environ["DEIA_STATE"]))
    place.parent.mkdir(parents=True)
    place.write_text(str(python), encoding="utf-8")
    return log


def at_once(root: Path, environ: dict[str, str], wave: str) -> None:
    """Run many hooks at once; on a busy machine, some run out of time and say nothing."""
    command = [sys.executable, "-I", "-S", os.path.abspath(hook.__file__), "claude-code"]
    running = []
    for number in range(HOOKS):
        event = {
            "session_id": f"{wave} {number}",
            "cwd": str(root),
            "hook_event_name": "UserPromptSubmit",
            "prompt": "hello",
        }
        file = Path(environ["HOME"]) / f"event-{number}"
        file.write_text(json.dumps(event), encoding="utf-8")
        with file.open("rb") as given:
            running.append(subprocess.Popen(command, env=environ, stdin=given, stdout=subprocess.PIPE))
    answers = [process.communicate()[0] for process in running]
    assert not any(process.returncode for process in running)
    assert any(b"it is being compiled now" in answer for answer in answers)


def count(log: Path, expected: int) -> int:
    """Return how often a compile was started, after waiting for the expected ones and for one too many."""
    until = time.monotonic() + 10
    while time.monotonic() < until and (not log.exists() or len(log.read_bytes().split()) < expected):
        time.sleep(0.02)
    time.sleep(0.3)
    return len(log.read_bytes().split())


@pytest.mark.slow
def test_fifty_hooks_start_one_compile_and_one_more_when_it_did_not_help(
    commons: Path, environ: dict[str, str], started: Path
) -> None:
    at_once(commons, environ, "first")
    assert count(started, 1) == 1
    marker = Path(environ["DEIA_STATE"]) / "compiling" / f"{fingerprint(str(commons)):016x}"
    before = time.time() - fallback.RETRY_AFTER - 1
    os.utime(marker, (before, before))
    at_once(commons, environ, "second")
    assert count(started, 2) == 2


def test_the_claim_of_a_killed_hook_does_not_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[list[str]] = []

    def start(command: list[str], _folder: str) -> bool:
        runs.append(command)
        return True

    monkeypatch.setattr(fallback, "_start", start)
    state, root = str(tmp_path / "state"), str(tmp_path)
    claim = Path(state) / "compiling" / f"{fingerprint(root):016x}.claim"
    claim.parent.mkdir(parents=True)
    claim.touch()
    assert fallback.start_compile(state, root, [root])
    assert not runs
    before = time.time() - fallback.RETRY_AFTER - 1
    os.utime(claim, (before, before))
    for _ in range(3):
        assert fallback.start_compile(state, root, [root])
    assert len(runs) == 1
    assert not claim.exists()


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")  # as nobody waits for it
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_compile_that_was_killed_is_started_again_at_once_and_not_for_ever(
    environ: dict[str, str], started: Path, tmp_path: Path
) -> None:
    state, root = environ["DEIA_STATE"], str(tmp_path)
    python = Path(Path(python_path(state)).read_text("utf-8"))
    python.write_text(f"#!/bin/sh\necho started >> '{started}'\nexec sleep 60\n", encoding="utf-8")
    marker = Path(state) / "compiling" / f"{fingerprint(root):016x}"
    for number in range(1, fallback.MOST_STARTS + 1):
        for _ in range(2):
            assert fallback.start_compile(state, root, [root])
        assert count(started, number) == number
        process = int(marker.read_bytes().split()[-1])
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    assert fallback.start_compile(state, root, [root])
    assert count(started, fallback.MOST_STARTS) == fallback.MOST_STARTS


@pytest.mark.parametrize("content", [b"start\ndone\n{}\n", b"start\n{}\ndone\n"])
def test_a_compile_that_ended_is_not_taken_for_a_killed_one(
    environ: dict[str, str], started: Path, tmp_path: Path, content: bytes
) -> None:
    state, root = environ["DEIA_STATE"], str(tmp_path)
    ended = subprocess.Popen(["true"])
    ended.wait()
    marker = Path(state) / "compiling" / f"{fingerprint(root):016x}"
    marker.parent.mkdir(parents=True)
    marker.write_bytes(content.replace(b"{}", str(ended.pid).encode()))
    assert fallback.start_compile(state, root, [root])
    assert not started.exists()
