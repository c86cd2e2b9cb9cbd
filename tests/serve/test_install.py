from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deia.serve import hook
from deia.serve.interpreter import find_interpreter, starts

if TYPE_CHECKING:
    from tests.serve.conftest import Deia

OTHERS = '{\n  "permissions": {"allow": ["Bash(ls:*)"]},\n  "hooks": {}\n}\n'


def settings_of(folder: Path, name: str = "settings.json") -> Path:
    place = folder / ".claude" / name
    place.parent.mkdir(exist_ok=True)
    return place


def test_the_hook_works_at_once_with_the_installed_command(deia: Deia, commons: Path, environ: dict[str, str]) -> None:
    assert deia("install", "claude-code").code == 0
    text = settings_of(commons).read_text(encoding="utf-8")
    entry = json.loads(text)["hooks"]["UserPromptSubmit"][0]["hooks"][0]
    assert os.path.isabs(entry["command"])
    assert entry["args"] == ["-I", "-S", os.path.abspath(hook.__file__), "claude-code"]
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(commons), "prompt": "delete the site"}
    done = subprocess.run(
        [entry["command"], *entry["args"]],
        input=json.dumps(event).encode(),
        capture_output=True,
        check=True,
        env=environ,
        timeout=30,
    )
    assert b"Deleting a site drops" in done.stdout


def test_installing_again_changes_nothing(deia: Deia, commons: Path) -> None:
    deia("install", "claude-code")
    before = settings_of(commons).read_bytes()
    again = deia("install", "claude-code")
    assert "as it should be" in again.out
    assert settings_of(commons).read_bytes() == before
    assert os.listdir(commons / ".claude") == ["settings.json"]


def test_removing_gives_the_very_bytes_back(deia: Deia, commons: Path) -> None:
    place = settings_of(commons)
    place.write_text(OTHERS, encoding="utf-8", newline="")
    deia("install", "claude-code")
    assert (commons / ".claude" / "settings.json.before-deia").read_text(encoding="utf-8") == OTHERS
    assert deia("install", "claude-code", "--uninstall").code == 0
    assert place.read_text(encoding="utf-8") == OTHERS
    assert os.listdir(commons / ".claude") == ["settings.json"]


def test_removing_keeps_what_others_changed_since(deia: Deia, commons: Path) -> None:
    place = settings_of(commons)
    place.write_text(OTHERS, encoding="utf-8", newline="")
    deia("install", "claude-code")
    changed = place.read_text(encoding="utf-8").replace("Bash(ls:*)", "Bash(cat:*)")
    place.write_text(changed, encoding="utf-8", newline="")
    deia("install", "claude-code", "--uninstall")
    assert json.loads(place.read_text(encoding="utf-8")) == {"permissions": {"allow": ["Bash(cat:*)"]}}
    assert (commons / ".claude" / "settings.json.before-deia").exists()


def test_a_file_that_was_not_there_is_not_there_afterwards(deia: Deia, commons: Path) -> None:
    deia("install", "claude-code")
    deia("install", "claude-code", "--uninstall")
    assert os.listdir(commons / ".claude") == []


def test_removing_what_is_not_installed_changes_nothing(deia: Deia, commons: Path) -> None:
    place = settings_of(commons)
    place.write_text(OTHERS, encoding="utf-8", newline="")
    assert deia("install", "claude-code", "--uninstall").code == 0
    assert place.read_text(encoding="utf-8") == OTHERS


def test_removing_works_when_the_commons_is_gone(deia: Deia, commons: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deia("install", "claude-code")
    monkeypatch.setenv("DEIA_COMMONS", str(commons / "gone"))
    assert deia("install", "claude-code").code == 2
    assert deia("install", "claude-code", "--uninstall").code == 0
    assert os.listdir(commons / ".claude") == []


def test_a_dry_run_shows_the_change_and_writes_nothing(deia: Deia, commons: Path) -> None:
    shown = deia("install", "claude-code", "--dry-run")
    assert '+    "UserPromptSubmit": [' in shown.out
    assert not (commons / ".claude").exists()
    assert not (commons / ".deia").exists()


@pytest.mark.parametrize("text", ["{", "// mine\n{}", "[]", '{"hooks": 3}'])
def test_a_file_that_is_not_understood_is_not_touched(deia: Deia, commons: Path, text: str) -> None:
    place = settings_of(commons)
    place.write_text(text, encoding="utf-8")
    refused = deia("install", "claude-code")
    assert refused.code == 2
    assert f"{place}:1" in refused.err
    assert place.read_text(encoding="utf-8") == text
    assert os.listdir(commons / ".claude") == ["settings.json"]


def test_a_file_that_is_not_utf_8_is_not_touched(deia: Deia, commons: Path) -> None:
    settings_of(commons).write_bytes(b'{"a": "\xff"}')
    assert "not UTF-8" in deia("install", "claude-code").err
    assert settings_of(commons).read_bytes() == b'{"a": "\xff"}'


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_is_followed_and_stays_a_link(deia: Deia, commons: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles é.json"
    real.write_text("{}\n", encoding="utf-8")
    real.chmod(0o600)
    settings_of(commons).symlink_to(real)
    deia("install", "claude-code")
    assert settings_of(commons).is_symlink()
    assert "UserPromptSubmit" in real.read_text(encoding="utf-8")
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


def test_each_scope_has_its_file(deia: Deia, commons: Path, environ: dict[str, str]) -> None:
    deia("install", "claude-code", "--local")
    deia("install", "claude-code", "--user")
    assert os.listdir(commons / ".claude") == ["settings.local.json"]
    assert "hooks" in json.loads(settings_of(Path(environ["HOME"])).read_text(encoding="utf-8"))


def test_below_the_project_its_root_is_meant(deia: Deia, commons: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(commons / "bok")
    deia("install", "claude-code")
    assert settings_of(commons).exists()


def test_a_named_commons_is_written_into_the_command(deia: Deia, commons: Path, tmp_path: Path) -> None:
    project = tmp_path / 'näme "quoted" $HOME'
    (project / ".git").mkdir(parents=True)
    os.chdir(project)
    assert deia("install", "claude-code", "--commons", "../work place").code == 0
    entry = json.loads(settings_of(project).read_text(encoding="utf-8"))["hooks"]["Stop"][0]["hooks"][0]
    assert entry["args"][-2:] == ["--commons", str(commons)]
    assert deia("doctor").code == 0


def test_an_unknown_host_is_refused(deia: Deia) -> None:
    refused = deia("install", "emacs")
    assert refused.code == 2
    assert "claude-code" in refused.err


def test_the_interpreter_is_real_and_starts() -> None:
    found = find_interpreter()
    assert os.path.isabs(found)
    assert starts(found)
    assert os.path.realpath(found) == os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def test_what_is_no_interpreter_does_not_start(tmp_path: Path) -> None:
    script = tmp_path / "python3"
    script.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    script.chmod(0o755)
    assert not starts(str(script))
    assert not starts(str(tmp_path / "nowhere"))
