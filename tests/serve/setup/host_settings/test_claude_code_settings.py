"""The status line in Claude Code's settings: entered beside the hooks, renewed, kept where it is somebody else's."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest

from deia.serve import statusline
from deia.serve.setup.host_settings.claude_code_settings import (
    is_own_status_line,
    status_command,
    status_line_in,
    with_status_line,
    without_status_line,
)
from deia.serve.setup.host_settings.command import words_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.conftest import Deia

HOOK = ["/usr/bin/python 3", "-I", "-S", "/x/deia/serve/hook.py", "claude-code", "--commons", "/it's here"]
OTHER = '{\n  "statusLine": {"type": "command", "command": "~/mine.sh"}\n}\n'


def test_the_command_is_the_hooks_with_another_file_and_no_host() -> None:
    command = status_command(HOOK, windows=False)
    assert shlex.split(command) == [*HOOK[:3], statusline.__file__, *HOOK[5:]]
    assert is_own_status_line(command)


def test_on_windows_both_shells_read_plain_words_with_forward_slashes() -> None:
    command = status_command([r"C:\Python\python.exe", "-I", "-S", "hook.py", "claude-code"], windows=True)
    assert command.startswith("C:/Python/python.exe -I -S ")
    assert "\\" not in command
    odd = status_command([r"C:\Program Files\python.exe", "-I", "-S", "hook.py", "claude-code"], windows=True)
    assert is_own_status_line(odd)
    assert words_of(odd)[0] == "C:/Program Files/python.exe"


@pytest.mark.parametrize("text", ["", "{}\n", '{"model": "x"}', '{\n  "hooks": {}\n}\n'])
def test_it_is_entered_renewed_and_taken_out(text: str) -> None:
    entered = with_status_line(text, status_command(HOOK), path="s.json")
    assert json.loads(entered)["statusLine"] == {"type": "command", "command": status_command(HOOK)}
    moved = with_status_line(entered, status_command(["/new", *HOOK[1:]]), path="s.json")
    assert status_line_in(moved, path="s.json").startswith("/new")
    assert json.loads(without_status_line(moved, path="s.json")) == json.loads(text or "{}")


def test_somebody_elses_is_kept() -> None:
    assert with_status_line(OTHER, status_command(HOOK), path="s.json") == OTHER
    assert without_status_line(OTHER, path="s.json") == OTHER


@pytest.mark.parametrize("value", ["null", "3", "[]", '{"command": 5}', '"x"'])
def test_odd_forms_are_read(value: str) -> None:
    text = f'{{"statusLine": {value}}}'
    assert isinstance(status_line_in(text, path="s.json"), str)
    assert without_status_line(text, path="s.json") == text


def test_it_is_installed_and_gone_with_the_hooks(deia: Deia, commons: Path) -> None:
    path = commons / ".claude" / "settings.json"
    assert deia("install", "claude-code", "--statusline").code == 0
    first = path.read_text(encoding="utf-8")
    assert is_own_status_line(json.loads(first)["statusLine"]["command"])
    assert deia("install", "claude-code").code == 0
    assert path.read_text(encoding="utf-8") == first, "it stays without being asked for again"
    assert deia("uninstall", "claude-code").code == 0
    assert not path.exists()


def test_beside_somebody_elses_the_command_to_add_is_told(deia: Deia, commons: Path) -> None:
    path = commons / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(OTHER, encoding="utf-8")
    told = deia("install", "claude-code", "--statusline").out
    assert "was not changed" in told
    assert "deia-hook status-line" in told or statusline.__file__.replace("\\", "/") in told
    assert json.loads(path.read_text(encoding="utf-8"))["statusLine"]["command"] == "~/mine.sh"
    deia("uninstall", "claude-code")
    assert path.read_text(encoding="utf-8") == OTHER


def test_a_host_without_one_is_refused(deia: Deia) -> None:
    outcome = deia("install", "codex", "--statusline")
    assert (outcome.code, "deia install claude-code --statusline" in outcome.err) == (2, True)
