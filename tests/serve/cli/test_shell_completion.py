"""Completion: the scripts, and what is offered."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from deia.serve.cli.commands_table import SHOWN
from deia.serve.cli.shell_completion import SHELLS
from tests.derived import derived

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia, Process


def offered(process: Process, line: str, typed: str = "") -> list[str]:
    """Give what a shell is offered after a line."""
    words = f"deia {line} {typed}".rstrip() if typed else f"deia {line} "
    done = process(_DEIA_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(len(line.split()) + 1))
    assert b"Traceback" not in done.stderr
    return [each.partition(",")[2] for each in done.stdout.decode().split("\n") if each]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_has_a_script_that_names_the_program(deia: Deia, shell: str) -> None:
    printed = deia("completion", shell)
    assert printed.code == 0
    assert "_DEIA_COMPLETE" in printed.out
    assert f"{shell}_complete" in printed.out
    assert "%(" not in printed.out


def test_an_unknown_shell_is_refused(deia: Deia) -> None:
    assert deia("completion", "tcsh").code == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_scripts_are_sound(deia: Deia, tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    path = tmp_path / "script"
    path.write_text(deia("completion", shell).out)
    subprocess.run([shell, "-n", str(path)], check=True)


@pytest.mark.slow
def test_ids_triggers_filters_and_commands_are_offered(process: Process) -> None:
    assert process("compile").returncode == 0
    assert offered(process, "", "sh") == ["show"]
    assert offered(process, "show", "si") == ["site-checklist"]
    assert offered(process, "open", "Site-C") == ["site-checklist"]
    assert offered(process, "search --platform") == ["shopctl"]
    assert offered(process, "search --tag", "x") == []
    assert offered(process, "search --format", "ma") == ["markdown"]
    assert offered(process, "mute", "site-d") == ["site-delete"]
    assert offered(process, "triggers test", "site-r") == ["site-rename"]
    assert set(offered(process, "")) >= set(SHOWN)


def test_where_nothing_is_compiled_nothing_is_offered_and_nothing_compiled(
    process: Process, commons: Path, environ: dict[str, str]
) -> None:
    assert offered(process, "show", "si") == []
    assert offered(process, "mute", "si") == []
    assert not derived(commons, environ).exists()


def test_a_powershell_is_answered_line_by_line(process: Process) -> None:
    assert process("compile").returncode == 0
    for words, typed, wanted in (
        ("deia show si", "si", b"site-checklist"), ("deia show ", "", b"site-checklist"), ("deia sho", "sho", b"show"),
    ):  # fmt: skip
        done = process(_DEIA_COMPLETE="powershell_complete", COMP_WORDS=words, COMP_INCOMPLETE=typed)
        assert [line.split(b"\t")[0] for line in done.stdout.splitlines() if not line.startswith(b"-")] == [wanted]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh here")
def test_a_zsh_without_completion_of_its_own_gets_it_with_the_script(deia: Deia, tmp_path: Path) -> None:
    (tmp_path / "script").write_text(deia("completion", "zsh").out)
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    command = ["zsh", "-f", "-c", f"source {tmp_path}/script; print $_comps[deia]"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("_deia_completion\n", "")


def test_the_names_of_settings_are_offered(process: Process) -> None:
    assert offered(process, "config set", "telem") == ["telemetry", "telemetry_days", "telemetry_mb"]


def test_a_former_name_completes_as_the_new_one_does_and_says_nothing(process: Process) -> None:
    assert offered(process, "triggers", "te") == ["test"]
    done = process(_DEIA_COMPLETE="bash_complete", COMP_WORDS="deia triggers te", COMP_CWORD="2")
    assert done.stderr == b""
