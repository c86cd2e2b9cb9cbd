from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.hosts.machine import Machine, make_machine

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/environ").exists() or shutil.which("git") is None, reason="needs Linux and git"
)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return make_machine(tmp_path / "run", node=Path("/usr/bin"), compiled=None)


def living(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"


def test_a_program_that_leaves_its_group_is_ended_as_well(machine: Machine, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    start = "import subprocess; p = subprocess.Popen(['sleep', '60'], start_new_session=True);"
    done = machine.run([sys.executable, "-c", f"{start} open({str(pid)!r}, 'w').write(str(p.pid))"])
    assert done.code == 0
    assert not living(int(pid.read_text(encoding="utf-8")))


def test_a_program_that_does_not_end_is_stopped(machine: Machine) -> None:
    done = machine.run(["sleep", "60"], patience=0.5)
    assert done.code is None
    assert done.seconds < 30


def test_no_variable_of_the_caller_reaches_a_host(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a key")
    assert "a key" not in machine.run(["env"]).printed
    assert str(machine.home) in machine.run(["env"]).printed


def test_a_dangerous_command_only_leaves_a_line(machine: Machine) -> None:
    machine.run(["terraform", "destroy", "-auto-approve"])
    assert [command for _, command in machine.executed] == ["terraform destroy -auto-approve"]


def test_what_deia_keeps_for_itself_is_not_among_the_files(machine: Machine) -> None:
    machine.write(".cache/deia/x", "x")
    machine.write(".claude/settings.json", "{}")
    names = [os.path.relpath(path, machine.home) for path in machine.files()]
    assert ".claude/settings.json" in names
    assert ".cache/deia/x" not in names
