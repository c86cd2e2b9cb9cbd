"""A commons without compiled triggers: the starter's stand in, one compile is started beside, and it is told once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from deia.compile.compiler import compile_commons
from deia.folders import STARTER, python_path
from deia.serve import hook
from deia.serve.hooks import fallback, run
from deia.serve.hooks.place import Place
from deia.watch.gate.artefact import MAGIC, open_artefact
from deia.watch.memory.log import fingerprint
from tests.derived import derived

LONG = 30.0  # seconds that a compile may take on a busy machine


def answer(folder: Path, environ: dict[str, str], *, session: str = "s", **fields: Any) -> dict[str, Any]:
    event = {"session_id": session, "cwd": str(folder), "permission_mode": "default", **fields}
    command = [sys.executable, "-I", "-S", os.path.abspath(hook.__file__), "claude-code"]
    done = subprocess.run(command, input=json.dumps(event).encode(), capture_output=True, env=environ, check=True)
    assert done.stderr == b""
    found: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
    return found


def call(folder: Path, environ: dict[str, str], command: str, *, session: str = "s") -> dict[str, Any]:
    given = {"command": command}
    about = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": given}
    return answer(folder, environ, session=session, **about)


def marker(environ: dict[str, str], root: Path) -> Path:
    return Path(environ["DEIA_STATE"]) / "compiling" / f"{fingerprint(str(root)):016x}"


def started_already(environ: dict[str, str], root: Path) -> None:
    """Have it that a compile was just started, so that none is."""
    marker(environ, root).parent.mkdir(parents=True, exist_ok=True)
    marker(environ, root).write_bytes(b".")


@pytest.fixture
def own(environ: dict[str, str]) -> dict[str, str]:
    """Return the environment of a person who has switched the starter commons off."""
    return {**environ, "DEIA_STARTER": "false"}


@pytest.fixture
def stood_in(commons: Path, environ: dict[str, str]) -> dict[str, str]:
    """Return the environment of a person for whom the small commons is where the starter's compiled files do."""
    other = commons.parent / "below"
    shutil.copytree(commons, other)
    compiled = compile_commons(str(other), environ={**environ, "DEIA_STARTER": "false"})
    shutil.copytree(compiled.folder, derived(STARTER, environ))
    (commons / "triggers" / "sites.yaml").unlink()
    started_already(environ, commons)
    return {**environ, "DEIA_STARTER": "true"}


@pytest.mark.parametrize("content", [None, b"", b"torn", MAGIC.replace(b"DEIAT", b"DEIAT9") + bytes(200)])
def test_the_starters_triggers_stand_in(commons: Path, stood_in: dict[str, str], content: bytes | None) -> None:
    if content is not None:
        folder = derived(commons, stood_in)
        folder.mkdir(parents=True)
        (folder / "triggers").write_bytes(content)
    found = call(commons, stood_in, "shopctl site:delete --yes")
    assert found["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "only the starter's triggers count" in found["systemMessage"]


@pytest.mark.slow
def test_it_is_told_once_a_conversation_and_spooled(commons: Path, stood_in: dict[str, str]) -> None:
    told = [call(commons, stood_in, "ls").get("systemMessage", "") for _ in range(3)]
    assert [bool(one) for one in told] == [True, False, False]
    assert call(commons, stood_in, "ls", session="another")
    (events,) = (commons / "telemetry" / "events").glob("*.jsonl")
    assert events.read_text(encoding="utf-8").count('"event":"error"') == 2


def test_without_the_starters_triggers_nothing_is_watched(commons: Path, stood_in: dict[str, str]) -> None:
    shutil.rmtree(derived(STARTER, stood_in))
    found = call(commons, stood_in, "shopctl site:delete --yes")
    assert "hookSpecificOutput" not in found
    assert "nothing is watched" in found["systemMessage"]


def test_who_does_without_the_starter_does_so_here_too(commons: Path, stood_in: dict[str, str]) -> None:
    (commons / "deia.toml").write_text("starter = false\n", encoding="utf-8")
    del stood_in["DEIA_STARTER"]
    assert "hookSpecificOutput" not in call(commons, stood_in, "shopctl site:delete --yes")


def test_the_settings_of_the_commons_count_for_what_stands_in(commons: Path, stood_in: dict[str, str]) -> None:
    (commons / "deia.toml").write_text('telemetry = "off"\nhold = false\n', encoding="utf-8")
    place = Place(["claude-code"])
    place.environ, place.state = stood_in, stood_in["DEIA_STATE"]
    place.settle(str(commons))
    artefact = run._open(place)
    assert artefact is not None
    chosen = artefact.meta.settings
    assert (chosen["telemetry"], chosen["hold"]) == ("off", False)


def test_a_compile_is_started_and_not_waited_for(commons: Path, own: dict[str, str]) -> None:
    Path(own["DEIA_STATE"]).mkdir(parents=True, exist_ok=True)
    Path(python_path(own["DEIA_STATE"])).write_text(sys.executable, encoding="utf-8")
    found = answer(commons, own, hook_event_name="SessionStart", source="startup")
    assert "it is being compiled now" in found["systemMessage"]
    until = time.monotonic() + LONG
    while not (derived(commons, own) / "stamps.documents").exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert open_artefact(str(derived(commons, own) / "triggers")).meta.triggers
    assert call(commons, own, "shopctl site:delete --yes")["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the commands that would be started."""
    found: list[list[str]] = []

    def note(command: list[str], _folder: str) -> bool:
        found.append(command)
        return True

    monkeypatch.setattr(fallback, "_start", note)
    return found


def test_one_is_started_in_some_minutes(tmp_path: Path, runs: list[list[str]]) -> None:
    state, root = str(tmp_path / "state"), str(tmp_path)
    assert all(fallback.start_compile(state, root, [root]) for _ in range(3))
    assert len(runs) == 1
    long_ago = time.time() - fallback.RETRY_AFTER - 1
    os.utime(marker({"DEIA_STATE": state}, tmp_path), (long_ago, long_ago))
    assert fallback.start_compile(state, root, [root])
    assert len(runs) == 2


def test_only_deia_itself_is_run_whatever_the_commons_holds(tmp_path: Path, runs: list[list[str]]) -> None:
    state = tmp_path / "state"
    state.mkdir()
    Path(python_path(str(state))).write_text("bin/python", encoding="utf-8")  # relative: it would be looked up
    fallback.start_compile(str(state), "/somewhere; true", ["/somewhere; true"])
    ((python, isolated, script, _, root),) = runs
    assert os.path.isabs(python)
    assert os.path.exists(python)
    assert (isolated, root) == ("-I", "/somewhere; true")
    assert os.path.dirname(script) == os.path.dirname(fallback.__file__)


def test_a_state_folder_that_cannot_be_written_starts_nothing(tmp_path: Path, runs: list[list[str]]) -> None:
    (tmp_path / "state").write_text("a file", encoding="utf-8")
    assert not fallback.start_compile(str(tmp_path / "state"), "/r", ["/r"])
    assert runs == []


def test_a_module_in_the_commons_is_not_imported(commons: Path, own: dict[str, str]) -> None:
    for name in ("yaml", "deia", "sitecustomize"):
        (commons / f"{name}.py").write_text("open('ran', 'w')\n", encoding="utf-8")
    environ = {**own, "PYTHONPATH": str(commons)}
    command = [sys.executable, "-I", fallback.SCRIPT, str(commons.parent / "marker"), str(commons)]
    subprocess.run(command, cwd=commons, env=environ, check=True)
    assert (derived(commons, own) / "triggers").exists()
    assert not (commons / "ran").exists()


def test_what_cannot_be_compiled_is_in_the_ledger(commons: Path, own: dict[str, str]) -> None:
    (commons / "deia.toml").write_text("limit = 'many'\n", encoding="utf-8")
    marker = commons.parent / "marker"
    done = subprocess.run([sys.executable, "-I", fallback.SCRIPT, str(marker), str(commons)], env=own, check=False)
    assert done.returncode == 2
    (events,) = (commons / "telemetry" / "events").glob("*.jsonl")
    assert "limit" in events.read_text(encoding="utf-8")


def test_it_is_said_while_a_last_good_version_counts(commons: Path, own: dict[str, str]) -> None:
    compile_commons(str(commons), environ=own)
    (commons / "triggers" / "sites.yaml").write_text("- id: [\n", encoding="utf-8")
    compile_commons(str(commons), environ=own)
    prompt = {"hook_event_name": "UserPromptSubmit", "prompt": "hello"}
    assert "last good version counts" in answer(commons, own, **prompt)["systemMessage"]
    assert answer(commons, own, **prompt) == {}
    assert call(commons, own, "shopctl site:delete --yes")["hookSpecificOutput"]["permissionDecision"] == "deny"
