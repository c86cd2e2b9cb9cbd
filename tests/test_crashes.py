"""Processes killed at any moment, and many at once: written data stays whole, and the next process carries on."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from deia.compile.compiler import compile_commons
from deia.errors import ArtefactError
from deia.fast_json import loads
from deia.search.catalog import open_catalog
from deia.serve import hook
from deia.watch.gate.artefact import open_artefact
from deia.watch.memory.log import FileLog
from deia.watch.memory.recall import recall
from tests.derived import derived, private

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")

COMPILE = """\
import os, sys, time
from deia.compile.compiler import compile_commons
sys.stdout.write("ready"); sys.stdout.flush()
compile_commons(sys.argv[1], environ=dict(os.environ))
"""
KILLS = 15
HOOKS = 8


def trigger(identity: str, phrase: str, action: str = "note") -> str:
    return (
        f"- {{id: {identity}, title: T, urgency: high, action: {action}, message: Careful.,"
        f" documents: [{{id: lesson, mode: full_context}}], when: {{any: [{{{phrase}}}]}}}}\n"
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a small commons."""
    folder = tmp_path / "commons"
    (folder / "bok").mkdir(parents=True)
    (folder / "triggers").mkdir()
    entry = "{id: lesson, path: bok/lesson.md, title: Copies, summary: Copy first., keywords: [shop]}"
    (folder / "commons_index.yaml").write_text(
        f"version: '1.0'\nclusters: {{all: {{description: All, documents: [{entry}]}}}}\n"
    )
    (folder / "bok" / "lesson.md").write_text("# Copies\n\nMake a copy first.\n" * 20)
    text = trigger("shop", "phrase: sell shop") + trigger("call", "command: shopctl delete", "hold")
    (folder / "triggers" / "shop.yaml").write_text(text)
    return folder


def environ(root: Path) -> dict[str, str]:
    return {**os.environ, **private(root.parent), "DEIA_COMMONS": ""}


# --- compilers ---


@pytest.mark.slow
def test_a_compiler_killed_at_any_moment_leaves_something_usable_and_the_next_one_mends(root: Path) -> None:
    compile_commons(str(root), environ=environ(root))
    chance = random.Random(7)  # noqa: S311 - moments, not secrets
    folder = derived(root, environ(root))
    for number in range(KILLS):
        (root / "bok" / "lesson.md").write_text(f"# Copies\n\nMake {number} copies first.\n" * 20)
        with subprocess.Popen(
            [sys.executable, "-c", COMPILE, str(root)], env=environ(root), stdout=subprocess.PIPE
        ) as running:
            assert running.stdout is not None
            running.stdout.read(5)
            time.sleep(chance.uniform(0, 0.05))
            running.send_signal(signal.SIGKILL)
        assert open_artefact(str(folder / "triggers")).meta.triggers == 2
        open_catalog(str(folder / (folder / "catalog").read_text()))
    compile_commons(str(root), environ=environ(root))
    assert compile_commons(str(root), environ=environ(root)).written == ()
    found = open_artefact(str(folder / "triggers")).document_of("lesson")
    assert found is not None
    assert f"Make {KILLS - 1} copies" in found["text"]
    left = [path.name for path in folder.iterdir() if path.name.startswith("building-") or path.name.endswith(".new")]
    assert not left or compile_commons(str(root), environ=environ(root), force=True)
    assert not [path for path in folder.iterdir() if path.name.startswith("building-") or path.name.endswith(".new")]


def test_a_first_compiler_killed_leaves_nothing_that_counts(root: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", COMPILE, str(root)], env=environ(root), stdout=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        running.stdout.read(5)
        running.send_signal(signal.SIGKILL)
    try:
        open_artefact(str(derived(root, environ(root)) / "triggers"))
    except ArtefactError as error:
        assert "deia compile" in str(error)  # noqa: PT017 - either it is whole, or the cure is named
    assert set(compile_commons(str(root), environ=environ(root)).written) <= {"triggers", "catalog"}
    assert open_artefact(str(derived(root, environ(root)) / "triggers")).meta.triggers == 2


# --- hooks ---


def start_hook(root: Path, **event: Any) -> subprocess.Popen[bytes]:
    given = {"session_id": "one", "cwd": str(root), **event}
    command = [sys.executable, "-I", "-S", hook.__file__, "claude-code"]
    running = subprocess.Popen(command, env=environ(root), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert running.stdin is not None
    running.stdin.write(json.dumps(given).encode())
    return running


def ledger(root: Path) -> list[dict[str, Any]]:
    """Return every event of the ledger; a torn line fails the test."""
    files = (root / "telemetry" / "events").glob("*.jsonl")
    lines = [line for file in files for line in file.read_text(encoding="utf-8").split("\n") if line]
    return [loads(line) for line in lines]


def held_by(running: list[subprocess.Popen[bytes]]) -> list[str]:
    """Let all hooks answer at once, and return their decisions."""
    for one in running:
        assert one.stdin is not None
        one.stdin.close()
    answers = [one.stdout.read() for one in running if one.stdout is not None]
    assert [one.wait() for one in running] == [0] * len(running)
    decisions = [json.loads(answer)["hookSpecificOutput"].get("permissionDecision") for answer in answers if answer]
    for one in running:
        assert one.stdout is not None
        one.stdout.close()
    return decisions


@pytest.mark.parametrize("round_", range(3))
def test_of_many_hooks_at_once_exactly_one_holds(root: Path, round_: int) -> None:
    compile_commons(str(root), environ=environ(root))
    event = {
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": f"shopctl delete {round_}"},
    }
    hooks = [start_hook(root, **event, tool_use_id=f"t{number}") for number in range(HOOKS)]
    assert held_by(hooks) == ["deny"]
    events = [one for one in ledger(root) if one["event"] == "injection"]
    assert [one["outcome"] for one in events].count("held") == 1
    assert len({one["id"] for one in events}) == len(events)
    assert not [one for one in ledger(root) if one["event"] == "error"]
    memory = recall(FileLog(str(root.parent / "state"), "one").read())
    assert memory.turns == HOOKS
    assert set(memory.fired) == {"call"}
    assert len(memory.held) == 1


def test_of_one_event_that_reaches_many_hooks_at_once_exactly_one_judges(root: Path) -> None:
    compile_commons(str(root), environ=environ(root))
    event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "shopctl delete 1"}}
    assert held_by([start_hook(root, **event, tool_use_id="t1") for _ in range(HOOKS)]) == ["deny"]
    assert [one["outcome"] for one in ledger(root) if one["event"] == "injection"] == ["held"]
    assert recall(FileLog(str(root.parent / "state"), "one").read()).turns == 1


def test_a_hook_killed_at_any_moment_hides_no_line_of_another(root: Path) -> None:
    compile_commons(str(root), environ=environ(root))
    chance = random.Random(11)  # noqa: S311 - moments, not secrets
    acknowledged = 0
    for number in range(20):
        conversation = f"c{number}"
        running = start_hook(
            root, session_id=conversation, hook_event_name="UserPromptSubmit", prompt="I will sell the shop"
        )
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.close()
        if number % 2:
            time.sleep(chance.uniform(0, 0.03))
            running.send_signal(signal.SIGKILL)
        acknowledged += bool(running.stdout.read())
        running.stdout.close()
        running.wait()
    shown = [one for one in ledger(root) if one["event"] == "injection" and one["outcome"] == "shown"]
    assert len(shown) >= acknowledged >= 10
    for number in range(0, 20, 2):
        assert "shop" in recall(FileLog(str(root.parent / "state"), f"c{number}").read()).fired
