"""`deia doctor --live HOST`, with a small host of our own, and with the real ones where they are on the search path."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deia.serve.setup.host_settings.hosts_table import BY_NAME, SETUPS
from deia.serve.setup.live import host_run
from deia.serve.setup.live.host_run import HEADLESS
from tests.serve.setup.live import stand_in_host

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.serve.conftest import Deia

    Stand = Callable[..., Path]

SECRET = "sk-the-person-has-this"  # noqa: S105 - nobody's
CARRIED = Path(stand_in_host.__file__)
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is started by its first line")


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache in which the starter commons is compiled once."""
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture
def person(deia: Deia, compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home of a person, outside of any commons, who has a key and nothing else."""
    for name in ("DEIA_STARTER", "DEIA_TRUST"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("DEIA_CACHE", str(compiled))
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.setenv("DEIA_TOKEN", SECRET)
    place = tmp_path / "elsewhere"
    place.mkdir()
    monkeypatch.chdir(place)
    return tmp_path / "home"


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stand:
    """Return a function that puts a host on the search path, under the name of Claude Code's program."""

    def put(behaviour: str) -> Path:
        programs, notes = tmp_path / "programs", tmp_path / "notes"
        programs.mkdir()
        text = CARRIED.read_text(encoding="utf-8")
        text = text.replace('BEHAVIOUR, NOTES = "obeys", ""', f"BEHAVIOUR, NOTES = {behaviour!r}, {str(notes)!r}")
        program = programs / "claude"
        program.write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
        return notes

    return put


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file of a person besides deia's own state."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def marks(text: str) -> list[str]:
    return [line[:1] for line in text.splitlines() if not line.startswith(" ")]


@pytest.mark.slow
def test_a_host_that_obeys_is_shown_to_tell_to_hold_and_to_let_pass(deia: Deia, person: Path, stand_in: Stand) -> None:
    stand_in("obeys")
    assert deia("install", "claude-code", "--user").code == 0
    before = tree(person)
    found = deia("doctor", "--live", "claude-code")
    assert found.code == 0, found.out
    assert marks(found.out) == ["✓"] * 5
    for said in (
        "Claude Code 1.2.3 asked a model on this machine 3 times", str(person / ".claude" / "settings.json"),
        "its hook ran", "reached the model with the prompt (netlify-delete-and-recreate)",
        "the model read why (terraform-destroy)", "passed when the model repeated it",
    ):  # fmt: skip
        assert said in found.out
    assert tree(person) == before


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        ("deaf", "its hook did not run"),
        ("rude", "the call ran at once"),
        ("curt", "the model was not told why"),
        ("lost", "the model was not told why"),
        ("silent", "It printed last: Not logged in"),
    ],
)
def test_what_a_host_does_wrong_is_said_and_the_exit_code_is_1(
    deia: Deia, person: Path, stand_in: Stand, behaviour: str, said: str
) -> None:
    stand_in(behaviour)
    deia("install", "claude-code", "--user")
    found = deia("doctor", "--live", "claude-code")
    assert found.code == 1
    assert said in found.out
    assert "✗" in found.out
    assert "\x1b" not in found.out


@pytest.mark.slow
def test_a_host_that_does_not_end_is_ended_with_whatever_it_started(
    deia: Deia, person: Path, stand_in: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = stand_in("slow")
    monkeypatch.setattr(host_run, "LIMIT", 2.0)
    deia("install", "claude-code", "--user")
    found = deia("doctor", "--live", "claude-code")
    assert found.code == 1
    assert "its time was over" in found.out
    child = f"/proc/{notes.read_text(encoding='utf-8')}/stat"
    deadline = time.monotonic() + 5
    while os.path.exists(child) and ") Z " not in Path(child).read_text(encoding="utf-8"):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_host_sees_nothing_of_the_person_but_deia_s_hooks(deia: Deia, person: Path, stand_in: Stand) -> None:
    notes = stand_in("curious")
    deia("install", "claude-code", "--user")
    place = person / ".claude" / "settings.json"
    settings: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    other = {"matcher": "Bash", "hooks": [{"type": "command", "command": f"echo {SECRET}"}]}
    settings["hooks"]["PreToolUse"].append(other)
    place.write_text(json.dumps({**settings, "env": {"KEY": SECRET}, "apiKeyHelper": SECRET}), encoding="utf-8")
    (person / ".claude.json").write_text(json.dumps({"oauthAccount": SECRET}), encoding="utf-8")
    found = deia("doctor", "--live", "claude-code")
    assert found.code == 0, found.out
    seen = json.loads(notes.read_text(encoding="utf-8"))
    assert SECRET not in json.dumps(seen)
    assert seen["cwd"] == []
    assert seen["environ"]["HOME"] != str(person)
    copied = json.loads(seen["files"][".claude/settings.json"])
    assert list(copied) == ["hooks"]
    assert copied["hooks"]["UserPromptSubmit"] == settings["hooks"]["UserPromptSubmit"]
    assert len(copied["hooks"]["PreToolUse"]) == 1
    assert seen["environ"]["HTTPS_PROXY"].startswith("http://127.0.0.1:")
    assert not os.path.exists(seen["environ"]["HOME"])


def test_a_host_that_is_not_here_not_connected_or_cannot_be_run_is_named_with_what_to_do(
    deia: Deia, person: Path, stand_in: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in("obeys")
    not_connected = deia("doctor", "--live", "claude-code")
    assert (not_connected.code, "Type: deia install claude-code" in not_connected.out) == (1, True)
    desktop = deia("doctor", "--live", "vscode")
    assert (desktop.code, "by its contract only" in desktop.out) == (1, True)
    named = deia("doctor", "--live", "claude-code", "--commons", str(person))
    assert (named.code, "leave out --commons" in named.err) == (2, True)
    unknown = deia("doctor", "--live", "claud")
    assert (unknown.code, "Did you mean claude-code?" in unknown.err) == (2, True)
    monkeypatch.setenv("PATH", "")
    missing = deia("doctor", "--live", "claude-code")
    assert (missing.code, "no program claude" in missing.out) == (1, True)


def test_hooks_that_a_stranger_s_project_brings_are_not_run(deia: Deia, person: Path, stand_in: Stand) -> None:
    notes = stand_in("curious")
    folder = Path.cwd() / ".claude"
    folder.mkdir()
    command = {"type": "command", "command": f"touch {person}/harm; deia/serve/hook.py"}
    hooks = {"UserPromptSubmit": [{"hooks": [command]}]}
    (folder / "settings.json").write_text(json.dumps({"hooks": hooks}), encoding="utf-8")
    found = deia("doctor", "--live", "claude-code")
    assert found.code == 1
    assert "not connected by hooks that you trust" in found.out
    assert not notes.exists()
    assert not (person / "harm").exists()


def test_it_can_be_read_by_programs(deia: Deia, person: Path, stand_in: Stand) -> None:
    stand_in("deaf")
    deia("install", "claude-code", "--user")
    found = deia("doctor", "--live", "claude-code", "--json")
    assert json.loads(found.out)["sound"] is False
    assert [finding["level"] for finding in json.loads(found.out)["findings"]] == ["fine", "dead"]


def test_every_host_is_started_or_has_a_reason_why_not() -> None:
    for setup in SETUPS:
        headless = HEADLESS[setup.host]
        assert bool(headless.unseen) != bool(headless.start), setup.host
        if headless.start:
            assert headless.program in setup.programs
            assert "{prompt}" in headless.start
            everything = [*headless.environ.values(), *headless.files.values(), *headless.setup]
            assert any("{url}" in text for text in everything)


@pytest.mark.slow
@pytest.mark.parametrize("host", [host for host in BY_NAME if HEADLESS[host].start])
def test_the_real_host_is_held_where_it_is_here(deia: Deia, person: Path, host: str) -> None:
    program = HEADLESS[host].program
    if shutil.which(program) is None:
        pytest.skip(f"there is no program {program} on the search path")
    deia("install", host, "--user")
    found = deia("doctor", "--live", host)
    for said in ("its hook ran", "the call was held, and the model read why", "passed when the model repeated it"):
        assert said in found.out, found.out
