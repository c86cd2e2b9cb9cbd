"""A trigger that was written or pulled counts for the very next call, or the person is told that it does not yet."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from deia.compile.compiler import compile_commons
from deia.folders import python_path
from deia.serve.hooks import fallback, renewal, run
from deia.serve.hooks.place import Place
from deia.watch.gate.artefact import open_artefact
from tests.derived import derived
from tests.serve.hooks.test_fallback import answer, call

HELD = """
- id: no-frobnicate
  title: Frobnicating
  urgency: critical
  action: hold
  message: Frobnicating empties the queue.
  documents: [site-checklist]
  when: {any: [{command: "frobnicate --all"}]}
"""
PATIENT = "120000"  # ms that the hook of a busy machine may take
QUICK = "250"
LONG = 30.0


@pytest.fixture
def patient(commons: Path, environ: dict[str, str]) -> dict[str, str]:
    """Return the environment of a person without the starter, for whom the commons is compiled."""
    chosen = {**environ, "DEIA_STARTER": "false", "DEIA_DEADLINE_MS": PATIENT}
    compile_commons(str(commons), environ=chosen)
    return chosen


def is_denied(found: dict[str, Any]) -> bool:
    return bool(found.get("hookSpecificOutput", {}).get("permissionDecision") == "deny")


@pytest.mark.slow
def test_a_new_trigger_holds_the_next_call(commons: Path, patient: dict[str, str]) -> None:
    assert not is_denied(call(commons, patient, "frobnicate --all"))
    (commons / "triggers" / "new.yaml").write_text(HELD)
    assert is_denied(call(commons, patient, "frobnicate --all", session="later"))


def test_in_a_fresh_clone_the_first_call_is_held(commons: Path, environ: dict[str, str]) -> None:
    (commons / "triggers" / "new.yaml").write_text(HELD)
    patient = {**environ, "DEIA_STARTER": "false", "DEIA_DEADLINE_MS": PATIENT}
    found = call(commons, patient, "frobnicate --all")
    assert is_denied(found)
    assert "compiled" not in found["systemMessage"], "all is well"


def test_if_the_first_compile_takes_long_that_call_says_that_nothing_guards(
    commons: Path, environ: dict[str, str]
) -> None:
    hasty = {**environ, "DEIA_STARTER": "false", "DEIA_DEADLINE_MS": QUICK}
    started = fallback.marker_of(hasty["DEIA_STATE"], str(commons), "")
    Path(started).parent.mkdir(parents=True, exist_ok=True)
    Path(started).write_bytes(b"start\n%d\n" % os.getpid())  # a compile that is under way, and does not end
    found = call(commons, hasty, "frobnicate --all")
    assert "nothing is watched; it is being compiled now" in found["systemMessage"]


@pytest.mark.slow
def test_a_changed_trigger_counts_as_it_is_now(commons: Path, patient: dict[str, str]) -> None:
    path = commons / "triggers" / "new.yaml"
    path.write_text(HELD)
    assert is_denied(call(commons, patient, "frobnicate --all"))
    path.write_text(HELD.replace("--all", "--some"))
    assert not is_denied(call(commons, patient, "frobnicate --all", session="b"))
    assert is_denied(call(commons, patient, "frobnicate --some", session="c"))
    path.unlink()
    assert not is_denied(call(commons, patient, "frobnicate --some", session="d"))


@pytest.mark.slow
def test_a_pulled_trigger_holds_the_next_call(commons: Path, patient: dict[str, str], tmp_path: Path) -> None:
    def git(*arguments: str, folder: Path = commons) -> None:
        named = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *named, *arguments], cwd=folder, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "first")
    team = tmp_path / "team"
    git("clone", "-q", str(commons), str(team))
    (team / "triggers" / "new.yaml").write_text(HELD)
    git("add", "-A", folder=team)
    git("commit", "-qm", "a lesson", folder=team)
    compile_commons(str(commons), environ=patient)
    git("pull", "-q", str(team), "main")
    assert is_denied(call(commons, patient, "frobnicate --all"))


@pytest.mark.slow
def test_a_pulled_file_with_an_error_is_told_once_with_its_line(commons: Path, patient: dict[str, str]) -> None:
    path = commons / "triggers" / "new.yaml"
    path.write_text(HELD.replace("command:", "comand:"))
    said = call(commons, patient, "frobnicate --all")["systemMessage"]
    assert re.search(r"triggers/new\.yaml:\d+: .*`comand`.* it does not guard\. Type: deia lint", said)
    assert "changed since" not in said, "that was seen to, and the error is what is left"
    assert call(commons, patient, "frobnicate --all") == {}
    assert answer(commons, patient, hook_event_name="UserPromptSubmit", prompt="go on") == {}
    path.write_text(HELD.replace("command:", "cmmand:"))
    assert "`cmmand`" in call(commons, patient, "ls")["systemMessage"], "another version is another error"
    path.write_text(HELD)
    assert is_denied(call(commons, patient, "frobnicate --all"))


def test_no_setting_of_a_project_makes_a_call_wait_longer_for_a_compile_than_by_default(
    commons: Path, environ: dict[str, str]
) -> None:
    hostile = {**environ, "DEIA_STARTER": "false"}
    (commons / "deia.toml").write_text("deadline_ms = 5000\n")
    compile_commons(str(commons), environ=hostile)
    (commons / "triggers" / "new.yaml").write_text(HELD)
    started = fallback.marker_of(hostile["DEIA_STATE"], str(commons), _why(commons, "triggers"))
    Path(started).parent.mkdir(parents=True, exist_ok=True)
    Path(started).write_bytes(b"start\n%d\n" % os.getpid())  # a compile that is under way, and does not end
    began = time.monotonic()
    found = call(commons, hostile, "frobnicate --all")
    assert time.monotonic() - began < 5.0 * renewal.SHARE, "the wait of that setting, and nothing else, takes so long"
    assert "does not guard this call yet" in found["systemMessage"]


@pytest.mark.slow
def test_if_it_takes_long_the_old_ones_count_and_that_event_says_so(commons: Path, patient: dict[str, str]) -> None:
    hasty = {**patient, "DEIA_DEADLINE_MS": QUICK}
    compile_commons(str(commons), environ=hasty)
    (commons / "triggers" / "new.yaml").write_text(HELD)
    started = fallback.marker_of(patient["DEIA_STATE"], str(commons), _why(commons, "triggers"))
    Path(started).parent.mkdir(parents=True, exist_ok=True)
    Path(started).write_bytes(b"start\n%d\n" % os.getpid())  # a compile that is under way, and does not end
    found = call(commons, hasty, "frobnicate --all")
    assert not is_denied(found)
    assert "triggers changed and is being compiled: it does not guard this call yet" in found["systemMessage"]
    again = call(commons, hasty, "shopctl site:delete --yes")
    assert is_denied(again)
    assert "does not guard this call yet" in again["systemMessage"]


def _why(commons: Path, changed: str) -> str:
    state = os.stat(commons / changed)
    return f"{changed} {(state.st_size, state.st_mtime_ns)}"


def test_what_cannot_be_compiled_is_not_waited_for_and_not_said_at_each_call(
    commons: Path, patient: dict[str, str]
) -> None:
    (commons / "deia.toml").write_text("limit = 'five'\n")
    call(commons, patient, "ls")
    began = time.monotonic()
    assert call(commons, patient, "ls") == {}
    assert time.monotonic() - began < renewal.SHARE * int(PATIENT) / 1000
    said = answer(commons, patient, hook_event_name="UserPromptSubmit", prompt="hello")
    assert "deia.toml changed since the triggers were compiled" in said["systemMessage"]
    assert answer(commons, patient, hook_event_name="UserPromptSubmit", prompt="hello again") == {}


def test_a_session_that_begins_starts_a_compile(commons: Path, patient: dict[str, str]) -> None:
    (commons / "triggers" / "new.yaml").write_text(HELD)
    said = answer(commons, patient, hook_event_name="SessionStart", source="startup")
    assert "changed since the triggers were compiled; it is being compiled now" in said["systemMessage"]
    until = time.monotonic() + LONG
    path = f"{derived(commons, patient)}/triggers"
    before = open_artefact(path).meta.triggers
    while open_artefact(path).meta.triggers == before and time.monotonic() < until:
        time.sleep(0.05)
    assert open_artefact(path).trigger(0).id == "no-frobnicate"


def test_an_untrusted_commons_whose_files_change_all_the_time_is_neither_waited_for_nor_compiled_each_time(
    commons: Path, environ: dict[str, str]
) -> None:
    stranger = {**environ, "DEIA_STARTER": "false", "DEIA_TRUST": "", "DEIA_DEADLINE_MS": PATIENT}
    restless = commons / "triggers" / "restless.yaml"
    restless.symlink_to("/proc/self/mem")  # the size and times of each process's own
    compile_commons(str(commons), environ=stranger)
    for number in range(4):
        assert call(commons, stranger, f"ls {number}") == {}
    assert not os.path.exists(f"{stranger['DEIA_STATE']}/compiling")
    for number in range(4):
        answer(commons, stranger, hook_event_name="UserPromptSubmit", prompt=f"hello {number}")
    assert len(os.listdir(f"{stranger['DEIA_STATE']}/compiling")) == 1


def test_a_server_waits_for_nothing(commons: Path, patient: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A server compiles in its own way, and its threads have other events to answer."""
    for name, value in patient.items():
        monkeypatch.setenv(name, value)
    (commons / "triggers" / "new.yaml").write_text(HELD)
    place = Place(["claude-code"])
    place.timed = False
    event = (
        '{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"%s"}'
    )
    assert run.answer_event(place, (event % commons).encode()) is None
    assert not os.path.exists(f"{patient['DEIA_STATE']}/compiling")
    assert Path(python_path(patient["DEIA_STATE"])).exists() or sys.executable
