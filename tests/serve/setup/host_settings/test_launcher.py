"""The launcher's command in every form, and the launcher of Windows, which is run here as Python runs it there."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deia.serve.setup.host_settings import launcher
from deia.serve.setup.host_settings.launcher import (
    in_shell,
    is_launched,
    launched_command,
    launcher_text,
    target_of,
    words_in_shell,
    write_launcher,
)

if TYPE_CHECKING:
    from pathlib import Path

POSIX_ONLY = pytest.mark.skipif(os.name == "nt", reason="a POSIX shell's")
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)


@POSIX_ONLY
@given(WORDS, WORDS)
def test_a_line_gives_its_command_back(state: str, commons: str) -> None:
    environ = {"HOME": "/home/you", "DEIA_STATE": f"/{state}"}
    words = launched_command("", "codex", environ=environ, commons=commons)
    assert is_launched(words)
    assert words_in_shell(in_shell(words)) == words
    assert shlex.split(shlex.join(words)) == words


@given(st.text())
def test_no_other_line_is_taken_for_one(line: str) -> None:
    assert words_in_shell(line) == []
    assert words_in_shell(f"set -- {line}; {launcher.RUN}") == [] or launcher.NAME in line


@POSIX_ONLY
def test_the_usual_folder_is_named_by_the_home_folder_and_another_by_its_path() -> None:
    usual = launched_command("", "codex", environ={"HOME": "/home/you"})
    assert "/home/you" not in " ".join(usual)
    assert "'/my state/deia-hook'" in launched_command("", "codex", environ={"DEIA_STATE": "/my state"})[2]


def test_a_launcher_says_what_it_starts_and_forgets_what_it_said(tmp_path: Path) -> None:
    environ = {"DEIA_STATE": str(tmp_path)}
    (tmp_path / "broken-codex").touch()
    pythons = ["/a b/python3", "/it's/python3"]
    path = write_launcher(pythons, '/x "y"/hook.py', "/x/statusline.py", environ=environ)
    target = target_of(path)
    assert target is not None
    assert (target.hook, list(target.pythons)) == ('/x "y"/hook.py', pythons)
    assert not (tmp_path / "broken-codex").exists()
    assert target_of(str(tmp_path / "none")) is None


@pytest.fixture
def on_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the launcher as it is written on Windows, for a hook that a test writes."""
    monkeypatch.setattr(launcher, "on_windows", lambda: True)
    text = launcher_text([sys.executable], str(tmp_path / "hook.py"), "", state=str(tmp_path))
    place = tmp_path / "deia-hook.py"
    place.write_text(text, encoding="utf-8")
    return place


@pytest.mark.parametrize("hook", [None, "import deia_of_another_version", "def main(:", "import sys; sys.exit(70)"])
@pytest.mark.parametrize("host", ["claude-code", "copilot"])
def test_on_windows_a_broken_hook_ends_with_0_and_says_so_once(on_windows: Path, hook: str | None, host: str) -> None:
    if hook is not None:
        on_windows.with_name("hook.py").write_text(hook, encoding="utf-8")
    command = [sys.executable, "-I", "-S", str(on_windows), host]
    first, second = (subprocess.run(command, capture_output=True, check=False, timeout=60) for _ in range(2))
    assert (first.returncode, second.returncode, second.stdout, second.stderr) == (0, 0, b"", b"")
    said = json.loads(first.stdout)["systemMessage"] if host == "claude-code" else first.stderr.decode()
    assert "To mend it, install deia again" in said


def test_on_windows_a_hook_gets_its_arguments_and_may_hold_by_its_exit_code(on_windows: Path) -> None:
    hook = 'import os, sys; os.write(1, f"{__name__} {__file__} {sys.argv[1:]}".encode()); os._exit(2)'
    on_windows.with_name("hook.py").write_text(hook, encoding="utf-8")
    command = [sys.executable, "-I", "-S", str(on_windows), "kiro", "--commons", "c"]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert done.returncode == 2
    assert done.stdout.decode() == f"__main__ {on_windows.with_name('hook.py')} ['kiro', '--commons', 'c']"
